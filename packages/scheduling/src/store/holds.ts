import type { Tx } from '@aftercommit/platform/db'
import type { MeetingId, ParticipantId, ProposalId } from '../ids.ts'
import type { MeetingStateType } from '../meeting.ts'

/** One person is one hold, whatever the letters of the address. */
const personOf = (address: string): string => address.toLowerCase()

/**
 * Takes people's time for one proposal. False, and nothing taken, when another meeting holds one of them at that time. Of
 * two transactions at once the second waits for the first to end; people are taken in one order, so that the two cannot
 * wait for each other.
 */
export const placeHolds = async (
  tx: Tx,
  meetingId: MeetingId,
  proposal: { readonly id: ProposalId; readonly start: Date; readonly end: Date },
  addresses: readonly string[],
): Promise<boolean> => {
  const people = [...new Set(addresses.map(personOf))].sort()
  for (const person of people) {
    // "Do nothing" also answers the exclusion constraint, without ending the transaction.
    const { count } = await tx.prisma.hold.createMany({
      skipDuplicates: true,
      data: {
        tenantId: tx.tenantId,
        meetingId,
        proposalId: proposal.id,
        person,
        startAt: proposal.start,
        endAt: proposal.end,
      },
    })
    if (count === 0) {
      await tx.prisma.hold.deleteMany({ where: { proposalId: proposal.id } })
      return false
    }
  }
  return true
}

/** Gives back what the meeting holds no more, and in the same statement keeps that it was held, until when and why. */
export const releaseHoldsBut = async (
  tx: Tx,
  meetingId: MeetingId,
  kept: readonly ProposalId[],
  state: MeetingStateType,
): Promise<void> => {
  await tx.sql.query(
    `with gone as (
       delete from hold where meeting_id = $1 and proposal_id <> all ($2::uuid[])
         returning tenant_id, meeting_id, proposal_id, placed_at)
     insert into released_hold (proposal_id, tenant_id, meeting_id, people, placed_at, state)
       select proposal_id, tenant_id, meeting_id, count(*), min(placed_at), $3
         from gone group by proposal_id, tenant_id, meeting_id`,
    [meetingId, kept, state],
  )
}

/** When these people are promised to other meetings, within the given time. */
export const readHoldsOfOthers = async (
  tx: Tx,
  meetingId: MeetingId,
  participants: readonly { readonly id: ParticipantId; readonly address: string }[],
  within: { readonly start: Date; readonly end: Date },
): Promise<ReadonlyMap<ParticipantId, readonly { readonly start: Date; readonly end: Date }[]>> => {
  const rows = await tx.prisma.hold.findMany({
    where: {
      person: { in: participants.map(({ address }) => personOf(address)) },
      meetingId: { not: meetingId },
      startAt: { lt: within.end },
      endAt: { gt: within.start },
    },
  })
  return new Map(
    participants.map(({ id, address }) => [
      id,
      rows
        .filter(({ person }) => person === personOf(address))
        .map(({ startAt, endAt }) => ({ start: startAt, end: endAt })),
    ]),
  )
}
