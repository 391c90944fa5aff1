import type { Template, WithdrawnReason } from '../../message.ts'
import { asker, disclosedFacts, optOutNote, zoneNote } from './words.ts'

/** To somebody who was asked, and whose answer is not wanted any more. */
export const withdrawn: Template<'withdrawn'> = (disclosed, view) => ({
  subject: `No answer needed any more: ${asker(disclosed)}`,
  blocks: [
    { type: 'paragraph', text: 'Hello,' },
    { type: 'paragraph', text: sentences[view.reason] },
    disclosedFacts(disclosed, view.zone),
    { type: 'paragraph', text: 'You need not do anything, and links that we sent you are void.' },
    zoneNote(view),
    ...optOutNote(view),
  ],
})

const sentences = {
  cancelled: 'the meeting for which you were asked when you can was cancelled.',
  not_needed: 'the meeting for which you were asked when you can goes on without you.',
} as const satisfies Record<WithdrawnReason, string>
