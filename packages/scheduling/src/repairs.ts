/** What a person may do about what went wrong: see it, and choose a way on. */
import { randomUUID } from 'node:crypto'
import { enqueue, supersede } from '@aftercommit/outbox/enqueue'
import type { Db, Tx } from '@aftercommit/platform/db'
import { schedulingActions } from './actions.ts'
import { authorityOver, eventWritten, organizerFacets } from './booking.ts'
import { bookedEventOf, cancelWithin } from './cancellation.ts'
import { participantOf, unknownReferences } from './commands.ts'
import type { UnknownReference } from './references.ts'
import { draftOf } from './draft.ts'
import { actionsAfterBooking, actionsBeforeBooking, actionsThatWrite, cancelEventOf } from './ending.ts'
import { gatherNow } from './gathering.ts'
import { ProposalId, type ParticipantId, type RepairId } from './ids.ts'
import { IntentDraft } from './intent.ts'
import { deadlineOf, moved, type Change, type Meeting, type Participant } from './meeting.ts'
import { nextRound } from './round.ts'
import {
  choicesOf,
  newTimeOf,
  peopleOf,
  replacePerson,
  retime,
  type RepairChoice,
  type RepairChoiceType,
} from './repair.ts'
import { withChoices, type ShownRepair } from './repairing.ts'
import {
  endRepairs,
  insertApproval,
  insertEvent,
  insertProposal,
  listOpenRepairs,
  lockMeeting,
  markAsked,
  placeHolds,
  readApproval,
  readParticipants,
  readProposal,
  readRepair,
  readWrittenProposals,
  renewParticipants,
  replaceParticipant,
  saveMeeting,
  type StoredRepair,
} from './store.ts'

export const listRepairs = (
  db: Db,
  tenantId: string,
  page: Parameters<typeof listOpenRepairs>[1],
): Promise<readonly ShownRepair[]> =>
  db.transact(tenantId, async (tx) => withChoices(tx, await listOpenRepairs(tx, page)))

export const viewRepair = (db: Db, tenantId: string, id: RepairId): Promise<ShownRepair | undefined> =>
  db.transact(tenantId, async (tx) => {
    const repair = await readRepair(tx, id)
    return repair && (await withChoices(tx, [repair]))[0]
  })

export type ResolveRepairResult =
  | { readonly type: 'resolved'; readonly meeting: Pick<Meeting, 'id' | 'revision' | 'state'> }
  | { readonly type: 'not_found' }
  | { readonly type: 'not_open' }
  | { readonly type: 'not_authorised' }
  | { readonly type: 'not_a_choice'; readonly choices: readonly RepairChoiceType[] }
  | { readonly type: 'malformed'; readonly problems: readonly UnknownReference[] }

type Applied = Change | Extract<ResolveRepairResult, { type: 'malformed' }>

/** Resolves one repair by a person's choice; `by` is the address of who chose. The choice is kept with the repair. */
export const resolveRepair = (
  db: Db,
  tenantId: string,
  id: RepairId,
  by: string,
  choice: RepairChoice,
): Promise<ResolveRepairResult> =>
  db.transact(tenantId, async (tx): Promise<ResolveRepairResult> => {
    const found = await readRepair(tx, id)
    const meeting = found && (await lockMeeting(tx, found.meetingId))
    if (!found || !meeting) return { type: 'not_found' }
    const { state } = meeting
    if (state.type !== 'in_repair' || state.repairId !== id) return { type: 'not_open' }
    const authority = authorityOver(meeting.intent, by)
    if (!authority) return { type: 'not_authorised' }
    const choices = choicesOf(found, meeting, await readWrittenProposals(tx, [meeting.id]))
    if (!choices.includes(choice.type)) return { type: 'not_a_choice', choices }
    if (choice.type === 'cancel_meeting') {
      await endRepairs(tx, meeting.id, { choice: choice.type, authority })
      const cancelled = await cancelWithin(tx, meeting, authority)
      return cancelled.type === 'ended'
        ? { type: 'not_open' }
        : { type: 'resolved', meeting: cancelled.meeting }
    }
    const applied = await apply(
      tx,
      { meeting, proposalId: state.proposalId, repair: found, authority, by },
      choice,
    )
    if ('type' in applied) return applied
    await endRepairs(tx, meeting.id, { choice: choice.type, authority })
    await saveMeeting(tx, applied.meeting)
    await enqueue(tx, applied.actions)
    return { type: 'resolved', meeting: applied.meeting }
  })

interface Occasion {
  readonly meeting: Meeting
  /** The approved proposal that the repair is about. */
  readonly proposalId: ProposalId | undefined
  readonly repair: StoredRepair
  readonly authority: 'organizer' | 'named_approver'
  readonly by: string
}

const apply = async (
  tx: Tx,
  occasion: Occasion,
  choice: Exclude<RepairChoice, { type: 'cancel_meeting' }>,
): Promise<Applied> => {
  switch (choice.type) {
    case 'search_again':
    case 'correct_address':
    case 'substitute_person': {
      const { meeting } = occasion
      const retimed = retime(meeting, choice, tx.now)
      const next = retimed.type === 'retimed' ? retimed.meeting : meeting
      const replacement = choice.type === 'search_again' ? undefined : await replacementOf(tx, next, choice)
      const problems = [
        ...(retimed.type === 'malformed' ? inChoice(retimed.problems) : []),
        ...(replacement?.type === 'malformed' ? replacement.problems : []),
      ]
      if (problems.length > 0) return { type: 'malformed', problems }
      if (choice.window) await renewParticipants(tx, next)
      if (replacement?.type !== 'replaced') return searchAgain(tx, occasion, next)
      // Under another address it is another participant: whoever reads the old address's mail must not speak for them.
      await replaceParticipant(tx, replacement.meeting, replacement.before, replacement.participant)
      return searchAgain(tx, occasion, replacement.meeting)
    }
    case 'ask_in_words':
      return askInWords(tx, occasion)
    case 'keep_one':
      return clearing(tx, occasion, { keepOne: true })
    case 'look_again':
      return eventWritten(occasion.meeting, proposalOf(occasion), randomUUID())
    case 'restore_event':
      return restore(tx, occasion)
    case 'accept_change':
      return acceptChange(tx, occasion)
    case 'keep_as_is':
      return keepAsIs(occasion)
  }
}

const inChoice = (problems: readonly UnknownReference[]): readonly UnknownReference[] =>
  problems.map(({ path, reason }) => ({ path: ['choice', ...path], reason }))

/** A choice that is about a proposal is not listed where there is none. */
const proposalOf = ({ proposalId }: Occasion): ProposalId => {
  if (proposalId === undefined) throw new Error('a choice about a proposal was listed where there is none')
  return proposalId
}

const keepAsIs = (occasion: Occasion): Change => ({
  meeting: moved(occasion.meeting, { type: 'confirmed', proposalId: proposalOf(occasion) }),
  actions: [],
})

/** Whether an event of ours may stand where the meeting does not want it. */
const mayStand = async (tx: Tx, { meeting, proposalId, repair }: Occasion): Promise<boolean> => {
  const { standingProposalId } = meeting
  if (proposalId === undefined) return false
  if (repair.code === 'participant_declined') return false
  // Deaths without an effect have a class that says so; what was found at the provider has none.
  const hadNoEffect = repair.facts.class !== undefined && repair.facts.class !== 'uncertain'
  const isStandingIntact = standingProposalId !== undefined && standingProposalId !== proposalId
  if (hadNoEffect && isStandingIntact && !eventLost.has(repair.code)) return false
  return !hadNoEffect || (await bookedEventOf(tx, meeting, proposalId)) !== undefined
}

/** A change died of these because the event that stood is not what it was. */
const eventLost: ReadonlySet<string> = new Set(['event_gone', 'event_changed'])

/**
 * A new round. An event that stands as confirmed stays until its change is approved; anything else that may stand is
 * taken away first.
 */
const searchAgain = async (tx: Tx, occasion: Occasion, meeting: Meeting): Promise<Change> => {
  await supersede(tx, { type: 'meeting', id: meeting.id }, actionsAfterBooking, 'searched_again')
  const before = [...actionsBeforeBooking, ...actionsThatWrite]
  await supersede(tx, { type: 'meeting', id: meeting.id }, before, 'searched_again')
  if (await mayStand(tx, occasion)) return clearing(tx, { ...occasion, meeting }, { keepOne: false })
  const gathering = await gatherNow(tx, nextRound(meeting))
  return withDeadline(gathering)
}

const withDeadline = ({ meeting, actions }: Change): Change => ({
  meeting,
  actions: [...actions, deadlineOf(meeting, meeting.intent.bookBy, meeting.round)],
})

const clearing = async (
  tx: Tx,
  occasion: Occasion,
  { keepOne }: { readonly keepOne: boolean },
): Promise<Change> => {
  const { meeting } = occasion
  const proposalId = proposalOf(occasion)
  const eventKnown = (await bookedEventOf(tx, meeting, proposalId)) !== undefined
  return {
    meeting: moved(meeting, { type: 'clearing', proposalId }),
    actions: [cancelEventOf(meeting, proposalId, randomUUID, { eventKnown, now: tx.now, keepOne })],
  }
}

type Replacement =
  | {
      readonly type: 'replaced'
      readonly meeting: Meeting
      readonly before: ParticipantId
      readonly participant: Participant
    }
  | Extract<ResolveRepairResult, { type: 'malformed' }>

/** Who takes a place under which address, and the meeting with them in it. */
const replacementOf = async (
  tx: Tx,
  meeting: Meeting,
  choice: Extract<RepairChoice, { type: 'correct_address' | 'substitute_person' }>,
): Promise<Replacement> => {
  const participants = await readParticipants(tx, meeting.id)
  const replaced = replacePerson(meeting, participants, choice)
  if (replaced.type === 'malformed') {
    return { type: 'malformed', problems: [{ path: ['choice', ...replaced.path], reason: replaced.reason }] }
  }
  const index = participants.findIndex(({ id }) => id === choice.participantId)
  const unknown = await unknownReferences(tx, IntentDraft.parse(replaced.meeting.intent))
  if (unknown.length > 0) {
    const place = choice.type === 'substitute_person' ? ['choice', 'substitute'] : ['choice']
    return {
      type: 'malformed',
      problems: unknown.map(({ path: [list, at, field], reason }) => ({
        path: list === 'participants' && at === index && field !== undefined ? [...place, field] : ['choice'],
        reason,
      })),
    }
  }
  const before = participants[index]
  if (!before) throw new Error('a participant was replaced who does not take part')
  const participant = participantOf(replaced.person, replaced.meeting.revision)
  return { type: 'replaced', meeting: replaced.meeting, before: before.id, participant }
}

/** The people whose time is not known are asked by mail, or asked anew: this is a person's word to do so. */
const askInWords = async (tx: Tx, { meeting, repair }: Occasion): Promise<Change> => {
  const named = new Set<ParticipantId>(peopleOf(repair))
  const people = (await readParticipants(tx, meeting.id)).filter(({ id }) => named.has(id))
  const next = nextRound(meeting)
  await markAsked(
    tx,
    people.map(({ id }) => id),
    next.round,
  )
  return withDeadline(await gatherNow(tx, next))
}

const restore = async (tx: Tx, occasion: Occasion): Promise<Change> => {
  const { meeting } = occasion
  const proposalId = proposalOf(occasion)
  await supersede(tx, { type: 'meeting', id: meeting.id }, actionsAfterBooking, 'restored')
  return {
    meeting: moved(meeting, { type: 'booking', proposalId }),
    actions: [
      schedulingActions.changeEvent.request(
        { meetingId: meeting.id, proposalId, occasionId: randomUUID() },
        organizerFacets(meeting),
      ),
    ],
  }
}

/** The event's new time becomes a proposal of its own, approved by who accepted it, and is read back like any other. */
const acceptChange = async (tx: Tx, occasion: Occasion): Promise<Applied> => {
  const { meeting, repair, authority, by } = occasion
  const proposalId = proposalOf(occasion)
  const before = await readProposal(tx, meeting.id, proposalId)
  const approval = await readApproval(tx, proposalId)
  const event = await bookedEventOf(tx, meeting, proposalId)
  const newTime = newTimeOf(repair)
  if (!before || !approval || !event || !newTime) throw new Error('a change was listed that is not known')
  const next = { ...nextRound(meeting), revision: meeting.revision + 1 }
  const proposal = {
    ...before,
    id: ProposalId.parse(randomUUID()),
    meetingRevision: next.revision,
    round: next.round,
    ...newTime,
  }
  const participants = await readParticipants(tx, meeting.id)
  await insertProposal(tx, meeting.id, proposal)
  const required = participants.filter(({ role }) => role === 'required').map(({ address }) => address)
  if (!(await placeHolds(tx, meeting.id, proposal, required))) {
    // Another meeting's doing, at any moment: it cannot be told beforehand.
    const reason = 'somebody required has been promised to another meeting at the new time'
    return { type: 'malformed', problems: [{ path: ['choice', 'type'], reason }] }
  }
  await supersede(tx, { type: 'meeting', id: meeting.id }, actionsAfterBooking, 'change_accepted')
  await insertApproval(tx, meeting.id, {
    proposalId: proposal.id,
    meetingRevision: next.revision,
    approver: by,
    authority,
    draft: draftOf(tx.tenantId, next, participants, proposal, approval.draft),
    approvedAt: tx.now,
  })
  await insertEvent(tx, meeting.id, { ...event, proposalId: proposal.id, writtenAt: tx.now })
  return eventWritten(next, proposal.id)
}
