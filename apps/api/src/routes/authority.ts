/** How a person is refused who may not: who may is told by their part in the meeting, and never by address. */
import type { NotAuthorised } from '@aftercommit/scheduling'
import { refused } from '../route.ts'

const partNames = {
  organizer: 'The organizer of the meeting',
  named_approver: 'The approver whom the meeting names',
} as const satisfies Record<NotAuthorised['may'][number], string>

const partsOf = ({ may: [part, other] }: NotAuthorised): string => {
  if (part === undefined) return 'Nobody'
  return other === undefined ? partNames[part] : `${partNames[part]}, or the approver whom it names,`
}

/** Of anything but an approval. */
export const notAuthorised = (result: NotAuthorised) =>
  refused('not-authorised', { detail: `${partsOf(result)} may do that.` })

export const mayNotApprove = (result: NotAuthorised): string =>
  result.may.length === 0
    ? 'Nobody approves it: the first time that is found is booked.'
    : `${partsOf(result)} approves it.`
