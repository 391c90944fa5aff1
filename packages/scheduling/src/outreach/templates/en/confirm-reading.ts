import type { Template } from '../../message.ts'
import { asker, localSpan, moment, optOutNote } from './words.ts'

/** The person answered in words. Nothing counts until they say that it was understood rightly. */
export const confirmReading: Template<'confirm_reading'> = (disclosed, view) => ({
  subject: `Please confirm when you can meet: ${asker(disclosed)}`,
  blocks: [
    { type: 'paragraph', text: 'Thank you for your answer. This is how we understood it: you can' },
    { type: 'list', items: view.understood.map(localSpan) },
    { type: 'paragraph', text: `in the time zone ${view.zone}.` },
    { type: 'action', label: 'Confirm or correct these times', link: view.link },
    {
      type: 'paragraph',
      text: `They count only once you have confirmed them, before ${moment(view.answerBy, view.zone)} in that time zone.`,
    },
    ...optOutNote(view),
  ],
})
