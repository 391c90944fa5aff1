import { ZoneName } from './values.ts'
import { describe, expect, test } from '@jest/globals'
import { ids, intentOf, meetingIn, personOf } from './cast.testing.ts'
import type { Evidence } from './evidence.ts'
import type { Participant } from './meeting.ts'
import { searchTimes } from './search.ts'

const now = new Date('2027-03-20T00:00:00Z')
const at = (offsetMs: number): Date => new Date(now.getTime() + offsetMs)

const piece = (person: Participant, expiresAt = at(1)) => ({
  id: ids.evidence(),
  participantId: person.id,
  round: 1,
  source: 'google' as const,
  retrievedAt: at(-60_000),
  expiresAt,
})
const known = (person: Participant, busy: readonly [string, string][] = [], expiresAt?: Date): Evidence => ({
  ...piece(person, expiresAt),
  type: 'known',
  busy: busy.map(([start, end]) => ({ start: new Date(start), end: new Date(end) })),
})
const unknown = (person: Participant, code: string): Evidence => ({
  ...piece(person),
  type: 'unknown',
  code,
})

const search = (
  participants: readonly Participant[],
  evidence: readonly Evidence[],
  intent: Record<string, unknown> = {},
) =>
  searchTimes({
    meeting: meetingIn({ type: 'choosing' }, { intent: intentOf(intent) }),
    participants,
    evidence,
    held: new Map(),
    now,
  })

const firstStart = (searched: ReturnType<typeof search>): string | undefined =>
  searched.result.type === 'found' ? searched.result.slots[0]?.start.toISOString() : searched.result.type

describe('what is not known of a required person', () => {
  const ben = personOf()

  test('is not free when the evidence has expired, to the millisecond', () => {
    expect(search([ben], [known(ben, [], at(1))]).result.type).toBe('found')
    expect(search([ben], [known(ben, [], now)])).toMatchObject({
      result: { type: 'unknown_required', participantIds: [ben.id] },
      unknownRequired: [{ participantId: ben.id, code: 'expired' }],
    })
  })

  test('is not free when there is no evidence', () => {
    expect(search([ben], []).unknownRequired).toEqual([{ participantId: ben.id, code: 'no_evidence' }])
  })

  test('is not free when the calendar did not tell, and the reason is kept', () => {
    expect(search([ben], [unknown(ben, 'notFound')])).toMatchObject({
      result: { type: 'unknown_required' },
      unknownRequired: [{ participantId: ben.id, code: 'notFound' }],
    })
  })

  test('is free when the calendar told that nothing is in it', () => {
    expect(search([ben], [known(ben, [])])).toMatchObject({ result: { type: 'found' }, unknownRequired: [] })
  })
})

test('an optional person whose time is not known does not attend, and hinders nobody', () => {
  const [ben, dora, emil] = [personOf(), personOf({ role: 'optional' }), personOf({ role: 'optional' })]
  const { result, unknownRequired } = search(
    [ben, dora, emil],
    [known(ben), known(dora, [], now), unknown(emil, 'notFound')],
  )
  expect(unknownRequired).toEqual([])
  expect(result.type === 'found' && result.slots[0]).toMatchObject({
    optionalAttending: [],
    optionalMissing: [
      { id: dora.id, because: 'unknown' },
      { id: emil.id, because: 'unknown' },
    ],
  })
})

test('a proposal names all the evidence it was made from', () => {
  const people = [personOf(), personOf({ role: 'optional' })]
  const evidence = people.map((person) => known(person))
  expect(search(people, evidence).evidenceIds).toEqual(evidence.map(({ id }) => id))
})

describe('working hours', () => {
  const hours = { startsAt: '09:00', endsAt: '17:00', days: [1, 2, 3, 4, 5] }
  const working = (timeZone: string) => personOf({ timeZone: ZoneName.parse(timeZone), workingHours: hours })
  const window = (from: string, to: string) => ({ window: { from, to } })

  test('mean the wall clock of their zone on both sides of a clock change', () => {
    const berlin = working('Europe/Berlin')
    const starts = (from: string, to: string) =>
      firstStart(search([berlin], [known(berlin)], window(from, to)))
    // Friday in winter time, Monday in summer time: nine o'clock on both.
    expect(starts('2027-03-26T00:00', '2027-03-27T00:00')).toBe('2027-03-26T08:00:00.000Z')
    expect(starts('2027-03-29T00:00', '2027-03-30T00:00')).toBe('2027-03-29T07:00:00.000Z')
  })

  test('of two zones meet where both clocks allow it, while they are further apart than usual', () => {
    const [berlin, newYork] = [working('Europe/Berlin'), working('America/New_York')]
    const evidence = [known(berlin), known(newYork)]
    const starts = (from: string, to: string) =>
      firstStart(search([berlin, newYork], evidence, window(from, to)))
    expect(starts('2027-03-26T00:00', '2027-03-27T00:00')).toBe('2027-03-26T13:00:00.000Z')
    expect(starts('2027-03-29T00:00', '2027-03-30T00:00')).toBe('2027-03-29T13:00:00.000Z')
    // At nine in New York it is three in Berlin again, and at ten in Berlin nobody there is awake.
    expect(starts('2027-03-29T09:00', '2027-03-29T15:30')).toBe('no_overlap')
  })

  test('leave nothing of a weekend', () => {
    const berlin = working('Europe/Berlin')
    const weekend = window('2027-03-27T00:00', '2027-03-29T00:00')
    expect(firstStart(search([berlin], [known(berlin)], weekend))).toBe('no_overlap')
  })

  test('count as absence and not as ignorance, so that nobody is asked about a calendar for them', () => {
    const berlin = working('Europe/Berlin')
    const weekend = window('2027-03-27T00:00', '2027-03-29T00:00')
    expect(search([berlin], [known(berlin)], weekend).unknownRequired).toEqual([])
  })
})

describe('a proposal', () => {
  const ben = personOf()
  const day = { window: { from: '2027-03-29T09:00', to: '2027-03-29T12:00' } }

  test('begins when what was busy ends, and ends before what is busy begins', () => {
    const busy: [string, string][] = [
      ['2027-03-29T07:00:00Z', '2027-03-29T08:00:00Z'],
      ['2027-03-29T09:00:00Z', '2027-03-29T10:00:00Z'],
    ]
    expect(firstStart(search([ben], [known(ben, busy)], day))).toBe('2027-03-29T08:00:00.000Z')
  })

  test('never begins in the past', () => {
    const past = { window: { from: '2027-03-19T20:00', to: '2027-03-20T04:00' } }
    // One o'clock in Berlin is midnight in UTC, which is now.
    expect(firstStart(search([ben], [known(ben)], past))).toBe('2027-03-20T00:00:00.000Z')
  })
})
