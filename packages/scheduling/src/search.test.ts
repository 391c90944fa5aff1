import { describe, expect, test } from '@jest/globals'
import { personOf } from './cast.testing.ts'
import { withBuffers } from './search.ts'
import {
  at,
  firstStart,
  known,
  now,
  search,
  starts,
  stated,
  stretches,
  unknown,
  window,
  working,
} from './search.testing.ts'

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
  test('mean the wall clock of their zone on both sides of a clock change', () => {
    const berlin = working('Europe/Berlin')
    const first = (from: string, to: string) =>
      firstStart(search([berlin], [known(berlin)], window(from, to)))
    // Friday in winter time, Monday in summer time: nine o'clock on both.
    expect(first('2027-03-26T00:00', '2027-03-27T00:00')).toBe('2027-03-26T08:00:00.000Z')
    expect(first('2027-03-29T00:00', '2027-03-30T00:00')).toBe('2027-03-29T07:00:00.000Z')
  })

  test('of two zones meet where both clocks allow it, while they are further apart than usual', () => {
    const [berlin, newYork] = [working('Europe/Berlin'), working('America/New_York')]
    const evidence = [known(berlin), known(newYork)]
    const first = (from: string, to: string) =>
      firstStart(search([berlin, newYork], evidence, window(from, to)))
    expect(first('2027-03-26T00:00', '2027-03-27T00:00')).toBe('2027-03-26T13:00:00.000Z')
    expect(first('2027-03-29T00:00', '2027-03-30T00:00')).toBe('2027-03-29T13:00:00.000Z')
    // At nine in New York it is three in Berlin again, and at ten in Berlin nobody there is awake.
    expect(first('2027-03-29T09:00', '2027-03-29T15:30')).toBe('no_overlap')
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

describe('what a person states', () => {
  const [ben, chen] = [personOf(), personOf({ connectionId: undefined })]
  const free: [string, string][] = [['2027-03-29T08:00:00Z', '2027-03-29T10:00:00Z']]
  const day = window('2027-03-29T00:00', '2027-03-30T00:00')

  test('is all the time they have, beside calendars that say what is taken', () => {
    const busy: [string, string][] = [['2027-03-29T08:30:00Z', '2027-03-29T09:00:00Z']]
    expect(starts(search([ben, chen], [known(ben, busy), stated(chen, free)], day))).toEqual([
      '2027-03-29T09:00:00.000Z',
    ])
  })

  test('is no time at all if they named none', () => {
    expect(search([chen], [stated(chen, [])], day)).toMatchObject({
      result: { type: 'no_overlap', blockers: [{ by: [{ participantId: chen.id, because: 'not_stated' }] }] },
      unknownRequired: [],
    })
  })

  test('is unknown when it has expired, like what a calendar showed', () => {
    expect(search([chen], [stated(chen, free, now)], day).unknownRequired).toEqual([
      { participantId: chen.id, code: 'expired' },
    ])
  })
})

describe('what is promised to other meetings', () => {
  const day = window('2027-03-29T09:00', '2027-03-29T11:00')
  const promised = stretches([['2027-03-29T07:00:00Z', '2027-03-29T08:00:00Z']])

  test('is taken for a required person', () => {
    const ben = personOf()
    const held = new Map([[ben.id, promised]])
    expect(starts(search([ben], [known(ben)], day, { held }))).toEqual(['2027-03-29T08:00:00.000Z'])
  })

  test('is taken for an optional person, who is said to miss it for that', () => {
    const [ben, dora] = [personOf(), personOf({ role: 'optional' })]
    const held = new Map([[dora.id, promised]])
    const { result } = search([ben, dora], [known(ben), known(dora)], day, { held })
    expect(result).toMatchObject({
      slots: [
        { start: new Date('2027-03-29T08:00:00Z'), optionalAttending: [dora.id] },
        { optionalMissing: [{ id: dora.id, because: 'held' }] },
      ],
    })
  })
})

describe('what a person keeps free', () => {
  const busy: [string, string][] = [['2027-03-29T08:00:00Z', '2027-03-29T08:30:00Z']]
  const day = window('2027-03-29T09:00', '2027-03-29T12:30')

  test('is in minutes, before the meeting and after it', () => {
    const first = (more: Parameters<typeof personOf>[0]) => {
      const ben = personOf(more)
      return starts(search([ben], [known(ben, busy)], day))
    }
    expect(first({})).toEqual([
      ...['2027-03-29T07:00:00.000Z', '2027-03-29T08:30:00.000Z', '2027-03-29T09:30:00.000Z'],
    ])
    expect(first({ bufferBeforeMinutes: 40 })).toEqual([
      ...['2027-03-29T07:00:00.000Z', '2027-03-29T09:15:00.000Z'],
    ])
    expect(first({ bufferAfterMinutes: 5 })).toEqual(['2027-03-29T08:30:00.000Z', '2027-03-29T09:30:00.000Z'])
  })

  test('widens what has to be known, as far as the one who wants most', () => {
    const people = [personOf({ bufferBeforeMinutes: 10 }), personOf({ bufferAfterMinutes: 120 }), personOf()]
    const slot = { start: at(0), end: at(3_600_000) }
    expect(withBuffers(slot, people)).toEqual({ start: at(-600_000), end: at(3 * 3_600_000) })
    expect(withBuffers(slot, [])).toEqual(slot)
  })
})

describe('preferences', () => {
  const ben = personOf()
  const found = (preferences: Record<string, unknown>, intent: Record<string, unknown> = {}) =>
    starts(
      search([ben], [known(ben)], {
        ...window('2027-03-27T00:00', '2027-03-31T00:00'),
        preferences,
        ...intent,
      }),
    )

  test("mean times of day by the clock of the meeting's zone, on both sides of a clock change", () => {
    const prefer = [{ startsAt: '10:00', endsAt: '11:00' }]
    expect(found({ prefer }, { durationMinutes: 60 })).toEqual([
      // Two days in winter time would be two days too many: the clock changes on the 28th.
      '2027-03-27T09:00:00.000Z',
      '2027-03-28T08:00:00.000Z',
      '2027-03-29T08:00:00.000Z',
      '2027-03-30T08:00:00.000Z',
    ])
  })

  test('hold on the days that are named', () => {
    const prefer = [{ startsAt: '10:00', endsAt: '11:00', days: [2] }]
    expect(found({ prefer })[0]).toBe('2027-03-30T08:00:00.000Z')
  })

  test('spread alternatives over days of the meeting', () => {
    expect(found({ spread: 'different_days' })).toEqual([
      '2027-03-26T23:00:00.000Z',
      '2027-03-27T23:00:00.000Z',
      '2027-03-28T22:00:00.000Z',
      '2027-03-29T22:00:00.000Z',
    ])
  })

  test.each([
    ['Asia/Kathmandu', '2027-03-27T09:10', '2027-03-27T03:45:00.000Z'],
    ['Australia/Eucla', '2027-03-27T09:10', '2027-03-27T00:45:00.000Z'],
    ['Asia/Kolkata', '2027-03-27T09:10', '2027-03-27T04:00:00.000Z'],
  ])('begin on the half hour by the clock in %s, which is not one in UTC', (timeZone, from, start) => {
    const intent = { timeZone, ...window(from, '2027-03-28T00:00') }
    expect(found({ startEveryMinutes: 30 }, intent)[0]).toBe(start)
  })

  test('begin on the hour after the clock of Lord Howe moved by half an hour, as before', () => {
    // On 3 October 2027, at two in the morning, it becomes half past two.
    const first = (from: string, to: string) =>
      found({ startEveryMinutes: 60 }, { timeZone: 'Australia/Lord_Howe', ...window(from, to) })[0]
    expect(first('2027-10-02T08:40', '2027-10-02T12:00')).toBe('2027-10-01T22:30:00.000Z')
    expect(first('2027-10-03T08:40', '2027-10-03T12:00')).toBe('2027-10-02T22:00:00.000Z')
  })
})

test('a proposal has at most three alternatives, none of which overlaps another', () => {
  const ben = personOf()
  expect(starts(search([ben], [known(ben)]))).toEqual([
    '2027-03-24T23:00:00.000Z',
    '2027-03-25T00:00:00.000Z',
    '2027-03-25T01:00:00.000Z',
    '2027-03-25T02:00:00.000Z',
  ])
})
