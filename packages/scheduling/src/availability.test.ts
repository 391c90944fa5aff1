import { describe, expect, test } from '@jest/globals'
import type { Interval } from '@aftercommit/time'
import { personSpansOf, reasonsAway, spansFree, type PersonAvailability } from './availability.ts'
import { explainRejected, findTimes, type FindTimesInput } from './overlap.ts'
import { between, meeting, minuteMs, person, stating, time, unread } from './overlap.people.testing.ts'

const startsOf = (input: Partial<FindTimesInput>): unknown => {
  const result = findTimes(meeting({ slotsMax: 99, ...input }))
  return result.type === 'found'
    ? result.slots.map(({ start }) => start.toISOString().slice(11, 16))
    : result.type
}
/** Every start at which a meeting of five minutes is possible, so that none hides another. */
const fiveMinuteStarts = (required: readonly PersonAvailability[], window: Interval): unknown =>
  startsOf({ required, window, durationMs: 5 * minuteMs, grainMs: 5 * minuteMs })

describe('what a person keeps free around the meeting', () => {
  const noon = between('12:00', '12:30')
  const ana = (bufferBefore: number, bufferAfter: number): PersonAvailability => ({
    ...person('ana', noon),
    bufferBeforeMs: bufferBefore * minuteMs,
    bufferAfterMs: bufferAfter * minuteMs,
  })
  const around = (required: readonly PersonAvailability[]) =>
    fiveMinuteStarts(required, between('11:30', '13:00'))

  test('lies before it on the one side and after it on the other, once', () => {
    expect(around([ana(0, 0)])).toEqual([
      ...['11:30', '11:35', '11:40', '11:45', '11:50', '11:55'],
      ...['12:30', '12:35', '12:40', '12:45', '12:50', '12:55'],
    ])
    // Free before the meeting: it starts so much later after what ends.
    expect(around([ana(15, 0)])).toEqual([
      ...['11:30', '11:35', '11:40', '11:45', '11:50', '11:55'],
      ...['12:45', '12:50', '12:55'],
    ])
    expect(around([ana(0, 15)])).toEqual([
      ...['11:30', '11:35', '11:40'],
      ...['12:30', '12:35', '12:40', '12:45', '12:50', '12:55'],
    ])
    expect(around([ana(10, 20)])).toEqual(['11:30', '11:35', '12:40', '12:45', '12:50', '12:55'])
  })

  test('is each person’s own', () => {
    const ben = { ...person('ben'), bufferBeforeMs: 120 * minuteMs, bufferAfterMs: 120 * minuteMs }
    expect(around([ana(10, 20), ben])).toEqual(around([ana(10, 20)]))
  })

  test('is not added up between what is busy close together', () => {
    const busy = [between('10:00', '10:30'), between('11:00', '11:30')]
    const both = { ...person('ana', ...busy), bufferBeforeMs: 10 * minuteMs, bufferAfterMs: 10 * minuteMs }
    expect(fiveMinuteStarts([both], between('10:30', '11:00'))).toEqual(['10:40', '10:45'])
  })

  test('is not kept from the edges of the hours allowed, of the window, or of what was stated', () => {
    const buffers = { bufferBeforeMs: 30 * minuteMs, bufferAfterMs: 30 * minuteMs }
    const day = between('09:00', '10:00')
    const working = { ...person('ana'), ...buffers, allowed: [day] }
    expect(startsOf({ required: [working, { ...stating('ben', day), ...buffers }], window: day })).toEqual([
      '09:00',
    ])
  })

  test('reaches into the window from what lies before or behind it', () => {
    const busy = [between('08:00', '09:00'), between('10:00', '11:00')]
    const both = { ...person('ana', ...busy), bufferBeforeMs: 10 * minuteMs, bufferAfterMs: 20 * minuteMs }
    expect(fiveMinuteStarts([both], between('09:00', '10:00'))).toEqual([
      ...['09:10', '09:15', '09:20', '09:25', '09:30', '09:35'],
    ])
  })

  test('is kept from what is held as well, and named as what it is', () => {
    const held = {
      ...person('ana'),
      held: [noon],
      bufferBeforeMs: 30 * minuteMs,
      bufferAfterMs: 0,
    }
    expect(fiveMinuteStarts([held], between('12:00', '13:05'))).toEqual(['13:00'])
    expect(explainRejected(meeting({ required: [held] }), time('12:30'))).toEqual({
      type: 'rejected',
      reasons: [
        {
          type: 'required_missing',
          participantId: 'ana',
          because: 'buffer',
          stretches: [between('12:30', '13:00')],
        },
      ],
    })
  })
})

describe('what a person states', () => {
  const ana = stating('ana', between('10:00', '11:00'), between('13:00', '15:00'))

  test('is all the time they have', () => {
    expect(startsOf({ required: [ana] })).toEqual(['10:00', '13:00', '14:00'])
    expect(startsOf({ required: [stating('ben')] })).toBe('no_overlap')
  })

  test('does not break a promise to another meeting', () => {
    const held = [between('13:30', '14:00')]
    expect(startsOf({ required: [{ ...ana, held }] })).toEqual(['10:00', '14:00'])
  })

  test('does not widen the hours in which they may be asked', () => {
    const allowed = [between('09:00', '14:00')]
    expect(startsOf({ required: [{ ...ana, allowed }] })).toEqual(['10:00', '13:00'])
  })

  test('leaves the rest not stated, which is not busy', () => {
    expect(explainRejected(meeting({ required: [ana] }), time('10:30'))).toMatchObject({
      reasons: [{ because: 'not_stated', stretches: [between('11:00', '11:30')] }],
    })
  })
})

describe('time that is promised to another meeting', () => {
  const held = [between('09:00', '17:00')]

  test('is nobody’s, whatever a calendar shows', () => {
    expect(findTimes(meeting({ required: [{ ...person('ana'), held }] }))).toMatchObject({
      type: 'no_overlap',
      blockers: [{ stretch: between('09:00', '17:00'), by: [{ participantId: 'ana', because: 'held' }] }],
    })
  })

  test('is not an optional person’s either, known or not', () => {
    const optional = [
      { ...person('ana'), held },
      { ...unread('ben'), held },
    ]
    expect(findTimes(meeting({ required: [person('eve')], optional, slotsMax: 1 }))).toMatchObject({
      slots: [
        {
          optionalMissing: [
            { id: 'ana', because: 'held' },
            { id: 'ben', because: 'held' },
          ],
        },
      ],
    })
  })
})

test('of several reasons the most certain is named', () => {
  const nine = between('09:00', '10:00')
  const because = (more: Partial<PersonAvailability>): unknown => {
    const optional = [{ ...person('ana'), ...more }]
    const result = findTimes(meeting({ required: [person('eve')], optional, window: nine }))
    return result.type === 'found' ? result.slots[0]?.optionalMissing[0]?.because : result.type
  }
  const busy = { time: { type: 'known', busy: [nine] } } as const
  const near = { time: { type: 'known', busy: [between('08:00', '09:00')] }, bufferBeforeMs: 1 } as const
  expect(because({ ...busy, held: [nine], allowed: [] })).toBe('outside_hours')
  expect(because({ ...busy, held: [nine] })).toBe('held')
  expect(because({ ...busy, bufferBeforeMs: 1 })).toBe('busy')
  expect(because(near)).toBe('buffer')
  expect(because({ time: { type: 'stated', free: [] } })).toBe('not_stated')
  expect(because({ time: { type: 'unknown', reason: 'silence' } })).toBe('unknown')
  expect(because({})).toBeUndefined()
})

test('in an empty stretch of time nobody is free and nobody is away', () => {
  const ana = personSpansOf({ ...unread('ana'), allowed: [] })
  expect([...spansFree(ana, 5, 5), ...reasonsAway(ana, 5, 5)]).toEqual([])
})
