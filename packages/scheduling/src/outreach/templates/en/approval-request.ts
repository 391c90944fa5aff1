import type { Template } from '../../message.ts'
import { duration, moment, span, zoneNote } from './words.ts'

/** To whoever the meeting names as its approver. What may be disclosed to them is decided before, like for anybody. */
export const approvalRequest: Template<'approval_request'> = (disclosed, view) => ({
  subject: `A time was found and waits for you to approve it: ${moment(view.slot.start, view.zone)}`,
  blocks: [
    { type: 'paragraph', text: 'A time was found at which all required people can meet.' },
    {
      type: 'facts',
      facts: [
        ...(disclosed.type === 'time_only' ? [] : [['About', disclosed.purpose] as const]),
        ['When', span(view.slot, view.zone)],
        ['Length', duration(disclosed)],
        ...(disclosed.type === 'purpose_and_people' && disclosed.people.length > 0
          ? [['With', disclosed.people.join(', ')] as const]
          : []),
      ],
    },
    ...(view.link === undefined
      ? []
      : [{ type: 'action' as const, label: 'Look at it and decide', link: view.link }]),
    {
      type: 'paragraph',
      text: `It is booked only after you approve it, and only until ${moment(view.answerBy, view.zone)}.`,
    },
    zoneNote(view),
  ],
})
