import { describe, expect, test } from '@jest/globals'
import { findTimes, type FindTimesInput } from './overlap.ts'
import { between, dayMs, meeting, person, time, unranked, zoneNamed } from './overlap.people.testing.ts'

const startsOf = (input: Partial<FindTimesInput>): unknown => {
  const result = findTimes(meeting({ slotsMax: 99, ...input }))
  return result.type === 'found'
    ? result.slots.map(({ start }) => start.toISOString().slice(11, 16))
    : result.type
}
describe('what is better', () => {
  const required = [person('eve')]
  const ana = person('ana', between('09:00', '11:00'))
  const afternoon = [between('13:00', '17:00')]
  const ranked = (rank: Partial<FindTimesInput['rank']>, more: Partial<FindTimesInput> = {}): unknown =>
    startsOf({ required, optional: [ana], rank: { ...unranked, ...rank }, slotsMax: 1, ...more })

  test('is that more optional people can come, then a preferred time, then the earlier one', () => {
    expect(ranked({})).toEqual(['11:00'])
    expect(ranked({ preferred: afternoon })).toEqual(['13:00'])
    expect(ranked({ preferred: [between('09:00', '11:00')] })).toEqual(['11:00'])
  })

  test('may be a preferred time before any optional person', () => {
    const morning = [between('09:00', '11:00')]
    expect(ranked({ first: 'preferred_times', preferred: morning })).toEqual(['09:00'])
    expect(ranked({ first: 'preferred_times' })).toEqual(['11:00'])
  })

  test('may be the later of two, or nothing but how early or late it is', () => {
    expect(ranked({ order: 'latest' })).toEqual(['16:00'])
    expect(ranked({ order: 'latest', preferred: [between('09:00', '13:00')] })).toEqual(['12:00'])
    expect(ranked({ first: 'start' })).toEqual(['09:00'])
    expect(ranked({ first: 'start', order: 'latest' }, { optional: [person('ana', ...afternoon)] })).toEqual([
      '16:00',
    ])
  })

  test('is a preferred time only if all of the meeting is', () => {
    const lunch = [between('12:15', '13:00'), between('13:00', '13:30')]
    expect(ranked({ preferred: lunch })).toEqual(['12:30'])
    expect(ranked({ preferred: [between('12:15', '13:15')] })).toEqual(['11:00'])
  })

  test('never is a time that a required person does not have', () => {
    const busy = [person('eve', ...afternoon)]
    expect(ranked({ first: 'preferred_times', preferred: afternoon }, { required: busy })).toEqual(['11:00'])
  })

  test('is said with every slot, the criterion that counts most first', () => {
    const rank = { ...unranked, preferred: afternoon }
    const result = findTimes(meeting({ required, optional: [ana], rank, slotsMax: 99 }))
    const rankings = result.type === 'found' ? result.slots.map(({ ranking }) => ranking) : []
    expect(rankings[0]).toEqual([
      { criterion: 'optional_attendance', value: 1 },
      { criterion: 'preferred_time', value: true },
      { criterion: 'earliest', value: '2026-03-24T13:00:00.000Z' },
    ])
    expect(rankings.at(-1)).toEqual([
      { criterion: 'optional_attendance', value: 0 },
      { criterion: 'preferred_time', value: false },
      { criterion: 'earliest', value: '2026-03-24T10:00:00.000Z' },
    ])
  })
})

describe('alternatives', () => {
  const window = { start: time('00:00'), end: new Date(time('00:00').getTime() + 3 * dayMs) }
  const datesOf = (spread: FindTimesInput['rank']['spread'], zone = 'UTC'): unknown => {
    const rank = { ...unranked, spread }
    const input = { required: [person('ana')], window, rank, zone: zoneNamed(zone), slotsMax: 4 }
    const result = findTimes(meeting(input))
    return result.type === 'found' ? result.slots.map(({ start }) => start.toISOString().slice(0, 16)) : []
  }

  test('do not overlap the best time or each other', () => {
    expect(datesOf('apart')).toEqual([
      ...['2026-03-24T00:00', '2026-03-24T01:00', '2026-03-24T02:00', '2026-03-24T03:00'],
    ])
  })

  test('are on different days by the clock of the zone, if that is wanted', () => {
    expect(datesOf('different_days')).toEqual(['2026-03-24T00:00', '2026-03-25T00:00', '2026-03-26T00:00'])
    expect(datesOf('different_days', 'America/New_York')).toEqual([
      ...['2026-03-24T00:00', '2026-03-24T04:00', '2026-03-25T04:00', '2026-03-26T04:00'],
    ])
  })
})
