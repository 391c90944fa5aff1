import type { Template } from '../../message.ts'
import { asker, disclosedFacts, duration, moment, optOutNote, zoneNote } from './words.ts'

/** A later message to somebody who has not answered. */
export const reminder: Template<'reminder'> = (disclosed, view) => ({
  subject: `Reminder: ${asker(disclosed)} asks for ${duration(disclosed)} of your time`,
  blocks: [
    { type: 'paragraph', text: 'Hello,' },
    {
      type: 'paragraph',
      text: `${asker(disclosed)} would like to meet you and has not heard yet when you can.`,
    },
    disclosedFacts(disclosed, view.zone),
    { type: 'action', label: 'Say when you can, or that you cannot take part', link: view.link },
    {
      type: 'paragraph',
      text: `You can also answer this message in your own words. Please do one or the other before ${moment(view.answerBy, view.zone)}.`,
    },
    ...(view.isLast
      ? [{ type: 'paragraph' as const, text: 'This is the last time that we remind you.' }]
      : []),
    zoneNote(view),
    { type: 'note', text: 'The link is meant for you alone: whoever has it can answer in your name.' },
    ...optOutNote(view),
  ],
})
