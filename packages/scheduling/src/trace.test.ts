import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { lineOf, TraceEntry } from './trace-entries.ts'
import type { Naming } from './trace-fields.ts'
import { inCausalOrder } from './trace-order.ts'
import { traceText } from './trace-text.ts'
import { stagesIn } from './trace-stages.ts'
import { deadActs, roundsIn, stepsOf, waitsIn } from './trace-waits.ts'
import { durationText } from './trace-words.ts'
import { at, entryByType, person, proposalId, replicaId, traceOf } from './trace.testing.ts'

const naming: Naming = {
  person: () => 'p1',
  replica: () => 'd1',
  proposal: () => 'proposal 1',
  endpoint: () => 'the webhook endpoint',
}
const endpointsOf = (...ids: readonly string[]) => ids.map((id) => ({ id, disabled: false }))
const all: readonly TraceEntry[] = Object.values(entryByType)

describe('every kind of entry', () => {
  test.each(all.map((entry) => [entry.type, entry] as const))(
    '%s is what its schema says, and reads as one line without ids of people',
    (_type, entry) => {
      expect(TraceEntry.parse(entry)).toEqual(entry)
      const line = lineOf(entry, naming)
      expect(line).toMatch(/^[^\n]{5,200}$/)
      expect(line).not.toContain(person)
      expect(line).not.toMatch(/undefined|null|\[object/)
    },
  )

  test('a success is told by its attempt, and its end has no line of its own', () => {
    const ended = { ...entryByType.action_ended, outcome: 'succeeded', code: null }
    expect(lineOf(ended, naming)).toBeUndefined()
  })

  test('an attempt whose holder went silent says whose it was and that its answer counts for nothing', () => {
    const lost = { ...entryByType.attempt, outcome: 'lease_lost', code: 'lease_lost', calls: [] }
    expect(lineOf(lost, naming)).toBe(
      'd1 went silent over read availability [p1] (held since 09:00:02.000); its lease ran out, whatever it was answered is thrown away',
    )
    const { startedAt: _, durationMs: __, ...early } = lost
    expect(lineOf(early, naming)).toContain('it had called nobody')
  })
})

describe('the order', () => {
  const asked = (actionId: string, name: string, seconds: number): TraceEntry => ({
    ...entryByType.action_enqueued,
    actionId,
    action: `scheduling.${name}`,
    at: at(seconds),
  })
  const tried = (actionId: string, seconds: number): TraceEntry => ({
    ...entryByType.attempt,
    actionId,
    at: at(seconds),
  })
  const ended = (actionId: string, seconds: number): TraceEntry => ({
    ...entryByType.action_ended,
    actionId,
    at: at(seconds),
  })

  test('within one transaction is: the attempt, its end, what was learned, what follows', () => {
    const evidence = { ...entryByType.evidence, at: at(5) }
    const given = [
      asked('1', 'read_availability', 1),
      tried('1', 5),
      ended('1', 5),
      asked('2', 'find_time', 5),
      evidence,
    ]
    const types = inCausalOrder(given).map(({ type }) => type)
    expect(types).toEqual(['action_enqueued', 'attempt', 'action_ended', 'evidence', 'action_enqueued'])
  })

  test('puts a search behind the evidence that it waited for, whichever transaction began first', () => {
    const evidence = { ...entryByType.evidence, at: at(5.002) }
    const search = asked('2', 'find_time', 5.001)
    const found = tried('2', 5.0015)
    expect(inCausalOrder([search, found, evidence])).toEqual([evidence, search, found])
  })

  test('never shows an action’s later step before its earlier one, and loses and changes nothing', () => {
    const moment = fc.integer({ min: 0, max: 4 })
    const actions = fc.array(fc.tuple(moment, moment, moment), { maxLength: 6 })
    fc.assert(
      fc.property(actions, fc.array(moment, { maxLength: 4 }), (times, pieces) => {
        const given = [
          ...times.flatMap(([a, b, c], index) => [
            asked(String(index), 'find_time', a),
            tried(String(index), b),
            ended(String(index), c),
          ]),
          ...pieces.map((seconds) => ({ ...entryByType.evidence, at: at(seconds) })),
        ]
        const ordered = inCausalOrder(given)
        expect(new Set(ordered)).toEqual(new Set(given))
        expect(ordered).toHaveLength(given.length)
        for (const [index] of times.entries()) {
          const own = ordered.filter((entry) => 'actionId' in entry && entry.actionId === String(index))
          expect(own.map(({ type }) => type)).toEqual(['action_enqueued', 'attempt', 'action_ended'])
        }
      }),
    )
  })
})

describe('what the entries amount to', () => {
  test('a wait is from the question to the answer, with what made it longer', () => {
    const waits = waitsIn([entryByType.action_enqueued, entryByType.attempt, entryByType.evidence])
    expect(waits).toEqual([
      {
        what: 'calendar_read',
        participantId: person,
        round: 1,
        from: at(1),
        until: at(5),
        durationMs: 4_000,
        because: ['calendar_internal'],
      },
    ])
    expect(waitsIn([entryByType.action_enqueued])).toMatchObject([{ because: [] }])
  })

  test('a round that is over ends its waits, says why, and what began the next one after how long', () => {
    const { action_enqueued: asked, evidence, decision } = entryByType
    const other = randomUUID()
    const also = { ...asked, about: { participantId: other, round: 1 } }
    const next = { ...asked, actionId: '2', at: at(60), about: { participantId: person, round: 2 } }
    const entries = [asked, also, evidence, { ...decision, at: at(60) }, next]
    const waits = waitsIn(entries)
    expect(waits).toMatchObject([
      { participantId: person, round: 1, durationMs: 4_000 },
      { participantId: other, round: 1, durationMs: 59_000, over: 'slot_taken' },
      { participantId: person, round: 2 },
    ])
    expect(waits[0]).not.toHaveProperty('over')
    expect(waits[2]).not.toHaveProperty('until')
    expect(roundsIn([asked, evidence, { ...decision, at: at(60) }, next], waits.slice(0, 1))).toEqual([
      { round: 1, beganAt: at(1), because: 'opened' },
      { round: 2, beganAt: at(60), because: 'slot_taken', idleMs: 55_000 },
    ])
  })

  test('whoever is asked by mail because their calendar does not tell is waited for until they answer', () => {
    const { action_enqueued: read, evidence } = entryByType
    const unknown = { ...evidence, learned: 'unknown' as const, code: 'notFound' }
    const asked = { ...read, actionId: '2', action: 'scheduling.ask_participant', at: at(5) }
    const told = { ...evidence, source: 'reply_page', learned: 'stated' as const, at: at(90) }
    expect(waitsIn([read, unknown, asked])).toMatchObject([
      { what: 'mail_answer', from: at(1), because: ['asked_in_words'] },
    ])
    expect(waitsIn([read, unknown, asked, told])).toMatchObject([{ durationMs: 89_000 }])
  })

  test('what stands while nothing is sought is told apart from the next round’s reading', () => {
    const { meeting_opened, evidence, proposal, approval, event_written, completion_verified } = entryByType
    const next = { ...entryByType.action_enqueued, at: at(3_600), about: { participantId: person, round: 2 } }
    const booked = [meeting_opened, evidence, proposal, approval, event_written, completion_verified, next]
    expect(stagesIn(booked).at(-1)).toMatchObject({ stage: 'standing', round: 1, durationMs: 3_591_000 })
    expect(stagesIn([meeting_opened, evidence, proposal, next]).at(-1)).toMatchObject({
      stage: 'approval',
      cut: true,
    })
  })

  test('a stage lasts from the end of the one before it', () => {
    const { meeting_opened, evidence, proposal, approval, event_written, completion_verified } = entryByType
    const stages = stagesIn([
      meeting_opened,
      evidence,
      proposal,
      approval,
      event_written,
      completion_verified,
    ])
    expect(stages.map(({ stage, durationMs }) => [stage, durationMs])).toEqual([
      ['availability', 5_000],
      ['choice', 1_000],
      ['approval', 1_000],
      ['write', 1_000],
      ['proof', 1_000],
    ])
    expect(stagesIn([])).toEqual([])
  })

  test('whoever must act comes first, then what is due soonest', () => {
    const action = { actionId: '1', action: 'a.b', kind: 'effect', about: {}, state: 'scheduled' } as const
    const act = { type: 'person', owner: 'organizer', code: 'approval' } as const
    const steps = stepsOf(
      [act],
      [
        { ...action, dueAt: at(9) },
        { ...action, dueAt: at(2) },
      ],
    )
    expect(steps).toEqual([
      act,
      { type: 'action', ...action, dueAt: at(2) },
      { type: 'action', ...action, dueAt: at(9) },
    ])
  })

  test('a dead action is somebody’s to look at, unless a repair says so already', () => {
    const entries = [entryByType.action_ended]
    expect(deadActs(entries, [])).toMatchObject([{ owner: 'calendar_owner' }])
    expect(deadActs(entries, [{ code: 'grant_revoked', facts: {} }])).toEqual([])
    expect(deadActs(entries, [{ code: 'event_unreadable', facts: { because: 'grant_revoked' } }])).toEqual([])
    const reasonOf = (participantId: string) => ({
      code: 'availability_unknown',
      facts: { participantIds: [participantId], reasons: [{ participantId, code: 'grant_revoked' }] },
    })
    expect(deadActs(entries, [reasonOf(person)])).toEqual([])
    expect(deadActs(entries, [reasonOf(randomUUID())])).toHaveLength(1)
    const untold = { ...entryByType.action_ended, action: 'scheduling.notify_client' }
    expect(deadActs([untold], [{ code: 'grant_revoked', facts: {} }])).toHaveLength(1)
  })

  test('a repair says once what it was made from, in words', () => {
    const repair = { type: 'repair', id: randomUUID() } as const
    const act = {
      type: 'person',
      owner: 'calendar_owner',
      code: 'availability_unknown',
      because: ['grant_revoked'],
      subject: repair,
      choices: ['search_again', 'cancel_meeting'],
    } as const
    const next = [{ ...act, because: [...act.because], choices: [...act.choices] }]
    expect(traceText(traceOf([entryByType.action_ended], { next }))).toContain(
      `the owner of the calendar must act: the time of somebody required is not known (the calendar may not be read or written any more); the choices are to search again and cancel the meeting (repair ${repair.id})`,
    )
  })

  test('a proposal says what it was ranked by, what counts most first', () => {
    const ranking = [
      { criterion: 'optional_attendance' as const, value: 1 },
      { criterion: 'preferred_time' as const, value: false },
      { criterion: 'latest' as const, value: at(3_600) },
    ]
    const { proposal } = entryByType
    expect(lineOf({ ...proposal, grounds: { ...proposal.grounds, ranking } }, naming)).toContain(
      'what counted: 1 optional person can come, then outside of the preferred times, then the latest start',
    )
  })

  test.each([
    [4, '4 ms'],
    [1_234, '1.23 s'],
    [59_900, '59.9 s'],
    [200_000, '3 min 20 s'],
    [3_600_000, '1 h'],
    [187_200_000, '2 d 4 h'],
  ])('%d ms reads as %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })
})

describe('the text', () => {
  test('names every day once, and what one transaction asked for in one line', () => {
    const second = {
      ...entryByType.action_enqueued,
      actionId: '2',
      action: 'scheduling.reach_deadline',
      about: {},
    }
    const later = { ...entryByType.meeting_opened, at: at(86_400) }
    const text = traceText(traceOf([entryByType.action_enqueued, second, later]))
    expect(text).toContain('asked for: read availability [p1]; reach the booking deadline')
    expect(text.match(/^ {2}2027-03-0\d$/gm)).toEqual(['  2027-03-01', '  2027-03-02'])
  })

  test('answers for a meeting of which nothing is known yet', () => {
    const text = traceText(traceOf([entryByType.meeting_opened], { people: [] }))
    for (const question of ['STANDS', 'NEXT', 'WAITED FOR', 'KNOWN', 'WRITTEN', 'WENT WRONG', 'PROOF']) {
      expect(text).toMatch(new RegExp(`^${question} +\\S`, 'm'))
    }
    expect(text).not.toMatch(/undefined|null/)
  })

  test('counts what was written, and says when it cannot know', () => {
    const write = {
      ...entryByType.attempt,
      action: 'scheduling.write_event',
      about: { proposalId },
      calls: entryByType.attempt.calls.map((call) => ({ ...call, operation: 'events.insert' })),
    }
    const silent = { ...write, outcome: 'lease_lost', code: 'lease_lost', calls: [] }
    const text = traceText(traceOf([write, silent, entryByType.event_written]))
    expect(text).toContain(
      '1 writing call, asked 0 times what became of one; 1 event made as far as is known, 0 taken away again',
    )
    expect(text).toContain('d1 went silent during one')
    expect(text).toContain(`d1 ${replicaId}`)
  })

  test('says why there is no time for everybody, and what comes nearest', () => {
    const because = {
      startsTried: 40,
      blockers: [],
      blockersTruncated: false,
      soleBlockers: [{ participantId: person, starts: 12 }],
      nearest: [
        {
          start: at(0),
          end: at(3_600),
          missingRequired: [{ participantId: person, because: 'busy' as const }],
        },
      ],
    }
    const text = traceText(traceOf([], { state: { type: 'no_overlap', because } }))
    expect(text).toContain('p1 alone stands in the way of 12 of 40 starts')
    expect(text).toContain('nearest: Mon 2027-03-01 09:00Z to 10:00Z, which p1 (busy) cannot')
  })

  test('tells who must act before what happens by itself, and on what', () => {
    const subject = { type: 'proposal', id: proposalId } as const
    const act = { type: 'person', owner: 'named_approver', code: 'approval', until: at(60), subject } as const
    const text = traceText(traceOf([entryByType.proposal], { next: [act] }))
    expect(text).toContain(
      'NEXT         the approver whom the meeting names must act: approve proposal 1, or not, until Mon 2027-03-01 09:01Z',
    )
  })

  test('tells in words whose a dead letter is, what it was for, and where', () => {
    const [one, two] = [randomUUID(), randomUUID()]
    const dead = {
      ...entryByType.action_ended,
      action: 'scheduling.notify_client',
      about: { event: 'meeting.confirmed', endpointId: two },
      code: 'client_error_404',
      owner: 'client_integration',
      actionId: '77',
    }
    const text = traceText(
      traceOf([dead], { endpoints: endpointsOf(one, two), next: [...deadActs([dead], [])] }),
    )
    expect(text).toContain(
      'NEXT         whoever runs the receiver of the client’s webhooks must act: “tell the client [confirmed, webhook endpoint 2]” was given up, for the other side answered 404; mend that at webhook endpoint 2, then let dead letter 77 be replayed; this is about the telling only: the meeting itself is no overlap all the same',
    )
  })

  test('one person is one person', () => {
    expect(lineOf({ ...entryByType.hold_placed, people: 1 }, naming)).toBe(
      'the time of 1 person is held for proposal 1',
    )
  })

  test('a message that waits for the morning says so, on whose clock it is early, and names no zone', () => {
    const waiting = {
      type: 'action',
      actionId: '1',
      action: 'scheduling.ask_participant',
      kind: 'effect',
      about: { participantId: person, round: 1, number: 1 },
      state: 'scheduled',
      dueAt: at(7_200),
      until: { because: 'quiet_hours', localTime: '08:00' },
    } as const
    expect(traceText(traceOf([], { next: [waiting] }))).toContain(
      'ask by mail [p1]: due Mon 2027-03-01 11:00Z; quiet hours on their clock until 08:00',
    )
  })
})
