/** What a search comes to: a proposal, no overlap, another round, or a repair. Pure. */
import { ProposalId, type EndpointId, type EvidenceId, type NewId } from './ids.ts'
import {
  moved,
  notice,
  openRepair,
  tellClient,
  type Change,
  type Fault,
  type Meeting,
  type Proposal,
  type Repair,
} from './meeting.ts'
import { noOverlapOf } from './no-overlap.ts'
import type { FindTimesResult } from './overlap.ts'
import { proposalGroundsOf } from './slot.ts'

/** The code of evidence that was good once. Unlike the others it says nothing about the calendar. */
export const EVIDENCE_EXPIRED = 'expired'

/** What a search came to, and from what. */
export interface Searched {
  readonly result: FindTimesResult
  readonly evidenceIds: readonly EvidenceId[]
  /** Required people whose time is not known, and why. */
  readonly unknownRequired: readonly { readonly participantId: string; readonly code: string }[]
}

export type TimeChosen =
  | (Change & { readonly type: 'proposed'; readonly proposal: Proposal })
  | (Change & { readonly type: 'no_overlap' })
  /** Nothing is wrong but that it took too long: everybody's time is to be read anew. */
  | { readonly type: 'outdated' }
  | (Change & { readonly type: 'repair'; readonly repair: Repair })

/** The search has ended. Automatic approval is its caller's next step, by the same rule as a person's. */
export const timesFound = (
  meeting: Meeting,
  { result, evidenceIds, unknownRequired }: Searched,
  endpointIds: readonly EndpointId[],
  newId: NewId,
): TimeChosen => {
  switch (result.type) {
    case 'found': {
      const [best, ...alternatives] = result.slots
      if (!best) throw new Error('a search that found a time named none')
      return proposed(
        meeting,
        {
          id: ProposalId.parse(newId()),
          meetingRevision: meeting.revision,
          round: meeting.round,
          start: best.start,
          end: best.end,
          evidenceIds,
          grounds: proposalGroundsOf(best, alternatives),
        },
        endpointIds,
      )
    }
    case 'no_overlap': {
      const next = moved(meeting, { type: 'no_overlap', because: noOverlapOf(result) })
      // An occasion of its own: a meeting that is looked for again may fail to be found again.
      const actions = tellClient(next, endpointIds, 'meeting.no_overlap', newId())
      return { type: 'no_overlap', meeting: next, actions }
    }
    case 'unknown_required': {
      // Beside a calendar that does not tell, evidence that merely grew old is nobody's to repair.
      const reasons = unknownRequired.filter(({ code }) => code !== EVIDENCE_EXPIRED)
      if (reasons.length === 0) return { type: 'outdated' }
      return { type: 'repair', ...openRepair(meeting, endpointIds, unknownFault(reasons), newId) }
    }
  }
}

const unknownFault = (reasons: Searched['unknownRequired']): Fault => ({
  code: 'availability_unknown',
  // Who owns a calendar can grant it anew, but cannot bring back a key.
  owner: reasons.every(({ code }) => code === 'credential_unreadable') ? 'operations' : 'calendar_owner',
  facts: { participantIds: reasons.map(({ participantId }) => participantId), reasons },
})

const proposed = (
  meeting: Meeting,
  proposal: Proposal,
  endpointIds: readonly EndpointId[],
): Extract<TimeChosen, { type: 'proposed' }> => {
  const next = moved(meeting, { type: 'awaiting_approval', proposalId: proposal.id })
  const ask =
    meeting.intent.approval.type === 'automatic'
      ? []
      : [
          ...tellClient(next, endpointIds, 'proposal.awaiting_approval', proposal.id),
          notice(next, { kind: 'approval_request', occasionId: proposal.id }),
        ]
  return { type: 'proposed', meeting: next, actions: ask, proposal }
}
