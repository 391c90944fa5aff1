import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import {
  ada,
  ben,
  early,
  endpoints,
  eventsOf,
  ids,
  intentInput,
  intentOf,
  meetingIn,
  namesOf,
  personOf,
  proposalOf,
  stateOf,
  unwritten,
} from './cast.testing.ts'
import { ExceptionId, type ParticipantId } from './ids.ts'
import { IntentDraft } from './intent.ts'
import {
  approve,
  completionVerified,
  eventWritten,
  expectsWriteOf,
  slotTaken,
  writePending,
  writeUncertain,
} from './booking.ts'
import {
  askForAbsent,
  deadlineOf,
  lapse,
  openRepair,
  type Meeting,
  type MeetingStateType,
} from './meeting.ts'
import { evidenceArrived, gather } from './round.ts'

const proposal = proposalOf()
const states = Object.values(stateOf(proposal.id))
const deadline = new Date('2027-03-24T12:00:00Z')
const byAda = { type: 'person', address: ada.address } as const
const automatic = { type: 'automatic' } as const
const awaiting = (more: Partial<Meeting> = {}) =>
  meetingIn({ type: 'awaiting_approval', proposalId: proposal.id }, more)

describe('every decision, from every state', () => {
  test.each(states)('an approval is taken only while one is awaited: $type', (state) => {
    const approval = approve(meetingIn(state), proposal, byAda, early)
    if (state.type === 'awaiting_approval') {
      expect(approval.type).toBe('approved')
    } else {
      expect(approval).toEqual({ type: 'not_awaiting', state: state.type })
    }
  })

  const unapproved: readonly MeetingStateType[] = [
    'incomplete',
    'gathering',
    'choosing',
    'awaiting_approval',
    'no_overlap',
    'in_repair',
  ]
  test.each(states)('the deadline ends only what nobody has approved: $type', (state) => {
    const meeting = meetingIn(state)
    const lapsed = lapse(meeting, endpoints, randomUUID)
    if (unapproved.includes(state.type)) {
      expect(lapsed?.meeting).toEqual({ ...meeting, state: { type: 'lapsed' } })
      expect(eventsOf(lapsed?.actions ?? [])).toEqual(['meeting.lapsed', 'meeting.lapsed'])
    } else {
      expect(lapsed).toBeUndefined()
    }
  })

  test.each(states)(
    'the last piece of evidence starts the search only while it is gathered: $type',
    (state) => {
      const people = [personOf(), personOf()]
      const meeting = meetingIn(state)
      const change = evidenceArrived(meeting, people, new Set(people.map(({ id }) => id)))
      if (state.type === 'gathering') {
        expect(change.meeting.state).toEqual({ type: 'choosing' })
        expect(namesOf(change.actions)).toEqual(['scheduling.find_time'])
      } else {
        expect(change).toEqual({ meeting, actions: [] })
      }
    },
  )

  test.each(states)(
    'a write is expected only of the approved proposal, until it is accounted for: $type',
    (state) => {
      const expected = state.type === 'booking' || state.type === 'write_uncertain'
      expect(expectsWriteOf(meetingIn(state), proposal.id)).toBe(expected)
      expect(expectsWriteOf(meetingIn(state), ids.proposal())).toBe(false)
    },
  )
})

describe('an approval', () => {
  test('asks for exactly one write, named by its proposal, on the account of the organizer', () => {
    const meeting = awaiting()
    const approval = approve(meeting, proposal, byAda, early)
    if (approval.type !== 'approved') throw new Error(approval.type)
    expect(approval.authority).toBe('named_approver')
    expect(approval.meeting).toEqual({ ...meeting, state: { type: 'booking', proposalId: proposal.id } })
    expect(approval.actions).toEqual([
      expect.objectContaining({
        action: 'scheduling.write_event',
        identity: `scheduling.write_event:${proposal.id}`,
        payload: { meetingId: meeting.id, proposalId: proposal.id },
        account: ada.calendarConnectionId,
        orderingKey: `meeting:${meeting.id}`,
      }),
    ])
  })

  test('is one of two at most: the second finds the meeting booking', () => {
    const first = approve(awaiting(), proposal, byAda, early)
    if (first.type !== 'approved') throw new Error(first.type)
    expect(approve(first.meeting, proposal, byAda, early)).toEqual({ type: 'not_awaiting', state: 'booking' })
  })

  test('and the deadline exclude each other, whichever comes first', () => {
    const approved = approve(awaiting(), proposal, byAda, early)
    if (approved.type !== 'approved') throw new Error(approved.type)
    expect(lapse(approved.meeting, endpoints, randomUUID)).toBeUndefined()
    const lapsed = lapse(awaiting(), endpoints, randomUUID)
    if (!lapsed) throw new Error('it waited for an approval')
    expect(approve(lapsed.meeting, proposal, byAda, early)).toEqual({ type: 'not_awaiting', state: 'lapsed' })
  })

  test('of a proposal that another has replaced names the one that stands', () => {
    const current = ids.proposal()
    const meeting = meetingIn({ type: 'awaiting_approval', proposalId: current }, { round: 2 })
    expect(approve(meeting, proposal, byAda, early)).toEqual({ type: 'outdated', currentProposalId: current })
  })

  test('of a proposal made for an earlier revision of the meeting is outdated', () => {
    expect(approve(awaiting({ revision: 2 }), proposal, byAda, early).type).toBe('outdated')
  })

  test('is refused to anybody but the person named, who may be spelt in any letter case', () => {
    const by = (address: string) => approve(awaiting(), proposal, { type: 'person', address }, early).type
    expect(by(ben.address)).toBe('not_authorised')
    expect(by(`${ada.address}.example`)).toBe('not_authorised')
    expect(by(ada.address.toUpperCase())).toBe('approved')
  })

  test('is not given by itself where a person is named, nor by a person where none is', () => {
    expect(approve(awaiting(), proposal, automatic, early).type).toBe('not_authorised')
    const unattended = awaiting({ intent: intentOf({ approval: { type: 'automatic' } }) })
    expect(approve(unattended, proposal, byAda, early).type).toBe('not_authorised')
    expect(approve(unattended, proposal, automatic, early)).toMatchObject({
      type: 'approved',
      authority: 'automatic',
    })
  })

  test('counts up to the deadline and not a millisecond longer', () => {
    expect(approve(awaiting(), proposal, byAda, deadline).type).toBe('approved')
    const late = new Date(deadline.getTime() + 1)
    expect(approve(awaiting(), proposal, byAda, late)).toEqual({ type: 'too_late' })
  })

  test('that is wrong in several ways is told the way that a person can mend first', () => {
    const late = new Date(deadline.getTime() + 1)
    const byBen = { type: 'person', address: ben.address } as const
    expect(approve(awaiting({ revision: 2 }), proposal, byBen, late).type).toBe('outdated')
    expect(approve(awaiting(), proposal, byBen, late).type).toBe('not_authorised')
  })
})

describe('a slot that was taken before the write', () => {
  const booking = meetingIn({ type: 'booking', proposalId: proposal.id })
  const taken = slotTaken(booking, proposal.id, { triedBefore: false, now: early })
  const gathering = {
    participants: [personOf()],
    knownOf: new Set<ParticipantId>(),
    sentTo: unwritten,
    now: early,
  }
  const change = { meeting: gather(taken.meeting, gathering).meeting, actions: taken.actions }

  test('starts a new round', () => {
    expect(change.meeting).toMatchObject({ round: 2, state: { type: 'gathering' } })
  })

  test('is looked at once more later, if an attempt before it got no answer', () => {
    const tried = slotTaken(booking, proposal.id, { triedBefore: true, now: early })
    expect(namesOf(tried.actions)).toContain('scheduling.sweep_event')
    expect(namesOf(change.actions)).not.toContain('scheduling.sweep_event')
  })

  test('makes the deadline count again, in a row of its own: the first one ended with the approval', () => {
    const again = change.actions.find(({ action }) => action === 'scheduling.reach_deadline')
    expect(again?.notBefore).toEqual(deadline)
    expect(again?.identity).not.toBe(deadlineOf(booking, booking.intent.bookBy).identity)
    expect(lapse(change.meeting, endpoints, randomUUID)?.meeting.state.type).toBe('lapsed')
  })

  test('leaves the old proposal approved by nobody', () => {
    expect(expectsWriteOf(change.meeting, proposal.id)).toBe(false)
    expect(approve(change.meeting, proposal, byAda, early).type).toBe('not_awaiting')
  })
})

describe('a write', () => {
  const booking = meetingIn({ type: 'booking', proposalId: proposal.id })

  test('whose answer was lost is uncertain, and pending again once its absence is proved', () => {
    const uncertain = writeUncertain(booking, proposal.id)
    expect(uncertain).toEqual({
      meeting: { ...booking, state: { type: 'write_uncertain', proposalId: proposal.id } },
      actions: [],
    })
    expect(writePending(uncertain.meeting, proposal.id)).toEqual({ meeting: booking, actions: [] })
  })

  test('that was answered confirms nothing: the event is read back first', () => {
    const change = eventWritten(booking, proposal.id)
    expect(change.meeting.state.type).toBe('verifying')
    expect(namesOf(change.actions)).toEqual(['scheduling.read_back_event'])
  })
})

describe('what the client is told', () => {
  const verifying = meetingIn({ type: 'verifying', proposalId: proposal.id })

  test('goes to every endpoint once per occasion', () => {
    const verified = (endpointIds: typeof endpoints) =>
      completionVerified(verifying, proposal, {
        occasionId: undefined,
        endpointIds,
        now: early,
      }).actions.filter(({ action }) => action === 'scheduling.notify_client')
    expect(verified(endpoints).map(({ identity }) => identity)).toEqual(
      endpoints.map((id) => `scheduling.notify_client:${id}:meeting.confirmed:${proposal.id}`),
    )
    expect(verified([])).toEqual([])
  })

  test('of a repair names the repair and no fact about it', () => {
    const fault = { code: 'event_differs', owner: 'organizer', facts: { fields: ['title'] } }
    const { actions, repair, meeting } = openRepair(verifying, endpoints, fault, randomUUID)
    expect(meeting.state).toEqual({ type: 'in_repair', repairId: repair.id, code: 'event_differs' })
    expect(actions[0]?.payload).toEqual({
      meetingId: verifying.id,
      endpointId: endpoints[0],
      event: 'repair.opened',
      occasionId: repair.id,
    })
  })

  test('of what was not told is one message for each exception', () => {
    const { intent: _, ...head } = meetingIn({ type: 'incomplete' })
    const draft = IntentDraft.parse(intentInput({ timeZone: undefined }))
    const meeting = { ...head, draft }
    const exceptions = [ExceptionId.parse(randomUUID()), ExceptionId.parse(randomUUID())]
    const actions = askForAbsent(meeting, exceptions, endpoints)
    expect(eventsOf(actions)).toEqual(Array(4).fill('exception.opened'))
    expect(new Set(actions.map(({ identity }) => identity)).size).toBe(4)
  })
})

test('no decision puts a name, an address or a text into a row', () => {
  const people = [personOf({ displayName: 'Benjamin' })]
  const approved = approve(awaiting(), proposal, byAda, early)
  const actions = [
    ...gather(meetingIn({ type: 'gathering' }), {
      participants: people,
      knownOf: new Set(),
      sentTo: unwritten,
      now: early,
    }).actions,
    ...('actions' in approved ? approved.actions : []),
    ...slotTaken(meetingIn({ type: 'booking', proposalId: proposal.id }), proposal.id, {
      triedBefore: true,
      now: early,
    }).actions,
    ...eventWritten(awaiting(), proposal.id).actions,
    ...completionVerified(awaiting(), proposal, {
      occasionId: undefined,
      endpointIds: endpoints,
      now: early,
    }).actions,
  ]
  expect(actions.length).toBeGreaterThan(5)
  const rows = JSON.stringify(actions)
  for (const datum of ['Benjamin', ben.address, ada.address, 'Contract review', '@']) {
    expect(rows).not.toContain(datum)
  }
})
