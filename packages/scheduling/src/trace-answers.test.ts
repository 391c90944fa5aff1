import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import type { MeetingTrace } from './trace.ts'
import type { EntryOf, TraceEntry } from './trace-entries.ts'
import { ownerWaitsIn } from './trace-owner-waits.ts'
import { stagesIn } from './trace-stages.ts'
import { traceText } from './trace-text.ts'
import { deadActs } from './trace-waits.ts'
import { momentText, timesTexts } from './trace-words.ts'
import { countEvents } from './trace-written.ts'
import { at, entryByType, person, proposalId, traceOf } from './trace.testing.ts'

const exception = (seconds: number, until: number | undefined, code: string): readonly TraceEntry[] => {
  const exceptionId = randomUUID()
  const { exception_opened: opened, exception_ended: ended } = entryByType
  return [
    { ...opened, at: at(seconds), exceptionId, code },
    ...(until === undefined ? [] : [{ ...ended, at: at(until), exceptionId, code }]),
  ]
}
const byTime = (entries: readonly TraceEntry[]) => entries.toSorted((a, b) => a.at.localeCompare(b.at))

describe('whoever is waited for by their office', () => {
  test('what the requester was asked at a time is one wait, until the last answer', () => {
    const asked = byTime([...exception(0, 5, 'identity_missing'), ...exception(0, 470, 'zone_missing')])
    expect(ownerWaitsIn(asked, 'organizer')).toEqual([
      {
        what: 'missing',
        owner: 'requester',
        codes: ['identity_missing', 'zone_missing'],
        round: 1,
        from: at(0),
        until: at(470),
        durationMs: 470_000,
        because: [],
      },
    ])
    const text = traceText(traceOf(asked, { waits: [...ownerWaitsIn(asked, undefined)] }))
    expect(text).toMatch(/^WAITED FOR +the requester 7 min 50 s: who somebody is; a time zone$/m)
  })

  test('an approval that never came is over by what came instead, and an automatic one is no wait', () => {
    const { proposal, approval, decision } = entryByType
    expect(ownerWaitsIn([proposal], 'automatic')).toEqual([])
    expect(ownerWaitsIn([proposal, { ...approval, authority: 'automatic' }], 'organizer')).toEqual([])
    expect(ownerWaitsIn([proposal, approval], 'organizer')).toMatchObject([
      { what: 'approval', owner: 'named_approver', durationMs: 1_000 },
    ])
    expect(ownerWaitsIn([proposal, decision], 'organizer')).toMatchObject([
      { owner: 'organizer', durationMs: 2_000, over: 'slot_taken' },
    ])
    expect(ownerWaitsIn([proposal], 'organizer')[0]).not.toHaveProperty('until')
  })

  test('a repair is a wait for its owner, named by its code', () => {
    const opened = { ...entryByType.repair_opened, code: 'invalid_attendee', owner: 'operations' }
    const resolved = { ...entryByType.repair_resolved, at: at(26.1) }
    const waits = [...ownerWaitsIn([opened, resolved], undefined)]
    expect(traceText(traceOf([], { waits }))).toMatch(
      /^WAITED FOR +operations 17\.1 s: repair invalid_attendee$/m,
    )
  })

  test('what is missing is a stage of its own, and ends with the meeting if nobody tells', () => {
    const { meeting_opened, action_enqueued, evidence, proposal, decision } = entryByType
    const told = [meeting_opened, ...exception(0, 1, 'zone_missing'), action_enqueued, evidence, proposal]
    expect(stagesIn(told).map(({ stage, durationMs }) => [stage, durationMs])).toEqual([
      ['incomplete', 1_000],
      ['availability', 4_000],
      ['choice', 1_000],
    ])
    const cancelled = { ...decision, decision: 'cancelled', round: 1 } as const
    expect(stagesIn([meeting_opened, ...exception(0, undefined, 'zone_missing'), cancelled])).toMatchObject([
      { stage: 'incomplete', durationMs: 8_000, cut: true },
    ])
  })
})

const write: EntryOf<'action_ended'> = {
  ...entryByType.action_ended,
  action: 'scheduling.write_event',
  about: { proposalId },
  at: at(9),
}
const uncertain = (code: string): readonly TraceEntry[] => [
  {
    ...entryByType.attempt,
    action: 'scheduling.write_event',
    about: { proposalId },
    outcome: 'unknown',
    code: 'UND_ERR_SOCKET',
    calls: [{ ...call, operation: 'events.insert', outcome: 'uncertain:UND_ERR_SOCKET', status: null }],
  },
  { ...write, code },
  { ...entryByType.repair_opened, code, class: 'uncertain' },
]
const [call] = entryByType.attempt.calls as [EntryOf<'attempt'>['calls'][number]]
const cancelAttempt = (cancelled: number, more: Partial<EntryOf<'attempt'>> = {}): EntryOf<'attempt'> => ({
  ...entryByType.attempt,
  at: at(12),
  action: 'scheduling.cancel_event',
  about: { proposalId },
  outcome: 'succeeded',
  code: null,
  calls: [
    { ...call, operation: 'events.list' },
    ...Array.from({ length: cancelled }, () => ({
      ...call,
      operation: 'events.delete',
      status: 204,
      outcome: 'cancelled',
    })),
  ],
  ...more,
})
const inRepair = (entries: readonly TraceEntry[], code = 'several_events'): string => {
  const state = { type: 'in_repair', repairId: randomUUID(), code } as unknown as MeetingTrace['state']
  return traceText(traceOf([entryByType.proposal, ...entries], { state }))
}

describe('what stands at the provider', () => {
  test.each([
    ['invalid_attendee', 'an event of proposal 1 stands at google, to be taken away', 1],
    ['event_altered', 'an event of proposal 1 stands at google, to be taken away', 1],
    [
      'several_events',
      'several events of proposal 1 stand at google, all but one at most to be taken away',
      2,
    ],
    ['reconcile_exhausted', 'an event of proposal 1 may stand at google, to be looked for and taken away', 0],
  ])('after a write that was given up for %s is said: %s', (code, words, made) => {
    const entries = uncertain(code)
    const text = inRepair(entries, code)
    for (const question of ['STANDS', 'PROOF']) {
      expect(text).toMatch(new RegExp(`^${question} .*; ${words}$`, 'm'))
    }
    expect(countEvents(entries)).toEqual({ made, takenAway: 0 })
  })

  test('is said to be gone once it is, and counts as made even if it was never recorded', () => {
    const cleared = [...uncertain('reconcile_exhausted'), cancelAttempt(1)]
    expect(countEvents(cleared)).toEqual({ made: 1, takenAway: 1 })
    expect(inRepair(cleared)).toMatch(
      /an event of proposal 1 stood at google all the same; taken away at 09:00:12\.000$/m,
    )
    const none = inRepair([...uncertain('reconcile_exhausted'), cancelAttempt(0)])
    expect(none).toMatch(/might have stood at google .*; looked for at 09:00:12\.000: none to take away$/m)
  })

  test('of which one was kept is said so, and one that was gone by itself was not taken away', () => {
    const kept = { ...entryByType.event_written, at: at(12) }
    const one = [...uncertain('several_events'), cancelAttempt(1), kept]
    expect(inRepair(one)).toMatch(
      /several events .* stood at google .*; all but one taken away at 09:00:12\.000$/m,
    )
    expect(countEvents(one)).toEqual({ made: 2, takenAway: 1 })
    const gone = [...uncertain('event_altered'), cancelAttempt(0)]
    expect(inRepair(gone)).toMatch(/an event .* stood at google .*; found to be gone at 09:00:12\.000$/m)
    expect(countEvents(gone)).toEqual({ made: 1, takenAway: 0 })
  })

  test('two events of two proposals are two, and one that was moved is one', () => {
    const { event_written: first } = entryByType
    const second = { ...first, proposalId: randomUUID() }
    expect(countEvents([first, second])).toEqual({ made: 1, takenAway: 0 })
    expect(
      countEvents([...uncertain('invalid_attendee'), cancelAttempt(1), { ...second, eventId: 'e2' }]),
    ).toEqual({
      made: 2,
      takenAway: 1,
    })
  })

  test('a write that was refused for sure leaves nothing', () => {
    const refused = { ...entryByType.repair_opened, class: 'validation' }
    expect(inRepair([{ ...write, code: 'invalid_attendee' }, refused])).not.toMatch(/stands? at/)
  })

  test('of a cancelled meeting is proved by an answer, or by a later look that showed nothing', () => {
    const cancelled = { state: { type: 'cancelled' } } as const
    const sweep = cancelAttempt(0, { action: 'scheduling.sweep_event', at: at(900) })
    expect(traceText(traceOf([cancelAttempt(1)], cancelled))).toMatch(
      /^PROOF .*events\.delete → 204; this was answered and not read back$/m,
    )
    expect(traceText(traceOf([cancelAttempt(0), sweep], cancelled))).toMatch(
      /^PROOF +asked at .*, the provider showed no event to take away; looked at again at .*: nothing stands$/m,
    )
  })
})

describe('what went wrong', () => {
  test('is told to its end: given up, the repair that came of it, and what was chosen', () => {
    const resolved = { ...entryByType.repair_resolved, choice: 'search_again' }
    const open = inRepair(uncertain('event_altered'))
    expect(open).toMatch(
      /^WENT WRONG .*before the provider has been asked; DEAD at 09:00:09\.000 after 3 attempts \(.*\); repair event_altered \(class uncertain: what was written stands or may stand there\), still open: the organizer must act$/m,
    )
    expect(inRepair([...uncertain('event_altered'), resolved])).toMatch(
      /^WENT WRONG .*for which the organizer chose at 09:00:10\.000 to search again$/m,
    )
  })

  test('includes what no attempt failed at: a repair alone', () => {
    expect(traceText(traceOf([entryByType.repair_opened]))).toMatch(
      /^WENT WRONG +09:00:09\.000 the event is not what was approved \(p1\); repair event_differs, still open: the organizer must act$/m,
    )
  })

  test('says what the question about a lost answer showed', () => {
    const [lost] = uncertain('x')
    if (!lost) throw new Error('no attempt')
    expect(traceText(traceOf([lost, entryByType.unknown_resolved]))).toMatch(
      /^WENT WRONG .*; asked at 09:00:04\.000: it had its effect$/m,
    )
  })
})

describe('the client', () => {
  const [one, two] = [randomUUID(), randomUUID()]
  const told = (actionId: string, endpointId: string, outcome: string, event = 'exception.opened') => {
    const action = { actionId, action: 'scheduling.notify_client', about: { event, endpointId } }
    return [
      { ...entryByType.action_enqueued, ...action },
      ...(outcome === 'succeeded'
        ? [
            {
              ...entryByType.attempt,
              ...action,
              outcome,
              code: null,
              calls: [{ ...call, status: 204, durationMs: 12 }],
            },
          ]
        : [{ ...entryByType.attempt, ...action, outcome, code: 'http_404', calls: [] }]),
      {
        ...entryByType.action_ended,
        ...action,
        outcome,
        code: outcome === 'dead' ? 'http_404' : null,
        owner: outcome === 'dead' ? 'client_integration' : undefined,
      },
    ] as readonly TraceEntry[]
  }
  const six = ['1', '2', '3', '4', '5', '6'].flatMap((id) => told(id, one, 'succeeded'))
  const dead = ['7', '8'].flatMap((id) => told(id, two, 'dead'))
  const endpoints = (disabled: boolean) => [
    { id: one, disabled: false },
    { id: two, disabled },
  ]

  test('is told of by endpoint, kinds counted, with a legend of ids', () => {
    const text = traceText(traceOf([...six, ...dead], { endpoints: endpoints(false) }))
    expect(text).toMatch(
      /^CLIENT +webhook endpoint 1 accepted 6 messages: exception\.opened ×6 \(something is missing\)$/m,
    )
    expect(text).toMatch(/^ +webhook endpoint 2 accepted 0 messages$/m)
    expect(text).toMatch(
      /^ +not told there: exception\.opened ×2 .*answered 404; whoever runs .* must look$/m,
    )
    expect(text).toContain(`ENDPOINTS    webhook endpoint 1 ${one}`)
    expect(text).toContain(`webhook endpoint 2 ${two}`)
    expect(text).toMatch(
      /tell the client \[something is missing, webhook endpoint 1\] \(told 09:00:03\.000, 204 in 12 ms, d1\)/,
    )
    expect(text.match(/^(WENT WRONG)? +09:\S+ tell the client/gm)).toHaveLength(1)
  })

  test('asks nothing of anybody for an endpoint that is disabled', () => {
    expect(deadActs(dead, [], new Set([two]))).toEqual([])
    const text = traceText(
      traceOf(dead, { endpoints: endpoints(true), next: [...deadActs(dead, [], new Set([two]))] }),
    )
    expect(text).toMatch(/^NEXT +nothing is left to do, and nobody must act$/m)
    expect(text).toMatch(/^ENDPOINTS .*\(disabled\)$/m)
    expect(text).toMatch(/not told there: .*; nobody must act$/m)
  })

  test('of a cancelled meeting may still have to be told something, and that is all there is to do', () => {
    const state = { type: 'cancelled' } as const
    const text = traceText(
      traceOf(dead, { state, endpoints: endpoints(false), next: [...deadActs(dead, [])] }),
    )
    expect(text).toMatch(
      /^NEXT .*replayed; this is about the telling only: the meeting itself is cancelled all the same$/m,
    )
  })
})

describe('people and words', () => {
  test('whoever takes a place says whose, and by which choice', () => {
    const base = { role: 'required', source: 'google', removed: false } as const
    const other = randomUUID()
    const people = (because: string) => [
      { ...base, id: person, label: 'p1', removed: true },
      { ...base, id: other, label: 'p2', replaces: { participantId: person, because } },
    ]
    const corrected = traceText(traceOf([], { people: people('correct_address') }))
    expect(corrected).toMatch(/^PEOPLE +p1 .*\(takes part no longer: p2 has this place\)$/m)
    expect(corrected).toMatch(/p2 .*\(takes the place of p1, the same person: address corrected\)$/m)
    expect(traceText(traceOf([], { people: people('substitute_person') }))).toMatch(
      /p2 .*\(takes the place of p1 as a substitute\)$/m,
    )
  })

  test('a moment is written once, with its seconds if it has any', () => {
    expect(momentText(at(0))).toBe('Mon 2027-03-01 09:00Z')
    expect(momentText(at(4.12))).toBe('Mon 2027-03-01 09:00:04.120Z')
    expect(timesTexts(['a', 'b', 'a'])).toEqual(['a ×2', 'b'])
  })
})
