import type { Unclear } from '../../understand.ts'
import type { Template } from '../../message.ts'
import { asker, localSpan, moment, optOutNote, span, zoneNote } from './words.ts'

/** The person answered in words, and something of it can be meant in more than one way. */
export const clarification: Template<'clarification'> = (disclosed, view) => ({
  subject: `One more question about when you can meet: ${asker(disclosed)}`,
  blocks: [
    { type: 'paragraph', text: 'Thank you for your answer. Something in it is not clear to us:' },
    { type: 'list', items: view.unclear.map((code) => questions[code]) },
    ...(view.understood.length === 0
      ? []
      : [
          { type: 'paragraph' as const, text: 'This much we understood:' },
          { type: 'list' as const, items: view.understood.map(localSpan) },
        ]),
    { type: 'action', label: 'Say when you can', link: view.link },
    {
      type: 'paragraph',
      text: `A time is looked for from ${span(disclosed.window, view.zone)}. Nothing that you wrote counts until you have confirmed it on that page, before ${moment(view.answerBy, view.zone)}.`,
    },
    zoneNote(view),
    ...optOutNote(view),
  ],
})

const questions = {
  zone: 'In which time zone are your times? A place says it best, such as Europe/Berlin; letters like EST or CET can mean different clocks.',
  date: 'Which day do you mean?',
  time: 'From what time to what time can you on the days that you named?',
  only_excluded: 'You wrote when you cannot. When can you?',
  outside_window: 'You named a day on which the meeting cannot be. Is there another one?',
  nothing_understood: 'We found no day and no time in it. When can you?',
} as const satisfies Record<Unclear, string>
