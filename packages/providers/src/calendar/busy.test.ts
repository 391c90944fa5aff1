import fc from 'fast-check'
import { clipAndMerge, DAY_MS, findByAddress, readInParts, splitWindow } from './busy.ts'
import type { CalendarBusy, Interval } from './calendar.ts'

const HOUR_MS = 3_600_000
const interval = (startHour: number, endHour: number): Interval => ({
  start: new Date(startHour * HOUR_MS),
  end: new Date(endHour * HOUR_MS),
})
const intervals = fc
  .tuple(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 20 }))
  .map(([start, length]) => interval(start, start + length))
const window = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 60 }))
  .map(([start, length]) => interval(start, start + length))

const hoursCovered = (list: readonly Interval[], within: Interval): readonly number[] =>
  Array.from({ length: 200 }, (_, hour) => hour).filter((hour) => {
    const at = hour * HOUR_MS
    const inside = at >= within.start.getTime() && at < within.end.getTime()
    return inside && list.some(({ start, end }) => at >= start.getTime() && at < end.getTime())
  })

describe('busy times', () => {
  it('cover after merging exactly what they covered before, inside the window', () => {
    fc.assert(
      fc.property(fc.array(intervals, { maxLength: 12 }), window, (list, within) => {
        const merged = clipAndMerge(list, within)
        expect(hoursCovered(merged, within)).toEqual(hoursCovered(list, within))
      }),
    )
  })

  it('are sorted, apart from each other, and never empty', () => {
    fc.assert(
      fc.property(fc.array(intervals, { maxLength: 12 }), window, (list, within) => {
        const merged = clipAndMerge(list, within)
        for (const [index, { start, end }] of merged.entries()) {
          expect(start < end && start >= within.start && end <= within.end).toBe(true)
          const next = merged[index + 1]
          if (next !== undefined) expect(end < next.start).toBe(true)
        }
      }),
    )
  })
})

it('a window falls into consecutive pieces that cover it and are never too long', () => {
  fc.assert(
    fc.property(window, fc.integer({ min: 1, max: 30 }), (whole, hours) => {
      const pieces = splitWindow(whole, hours * HOUR_MS)
      expect(pieces[0]?.start).toEqual(whole.start)
      expect(pieces.at(-1)?.end).toEqual(whole.end)
      for (const [index, { start, end }] of pieces.entries()) {
        expect(end.getTime() - start.getTime()).toBeLessThanOrEqual(hours * HOUR_MS)
        expect(start < end).toBe(true)
        const next = pieces[index + 1]
        if (next !== undefined) expect(next.start).toEqual(end)
      }
    }),
  )
})

it('a calendar that is unknown in one part of the window is unknown in all of it', async () => {
  const known: CalendarBusy = { type: 'known', busy: [] }
  const unknown: CalendarBusy = { type: 'unknown', reason: 'internal', code: 'internalError' }
  const parts = [known, unknown, known]
  const answer = await readInParts(
    { addresses: ['a@example.com'], window: { start: new Date(0), end: new Date(3 * DAY_MS) } },
    { windowMaxMs: DAY_MS, addressesMax: 1 },
    () =>
      Promise.resolve({ type: 'read', busyByAddress: new Map([['a@example.com', parts.shift() ?? known]]) }),
  )
  expect(answer.type === 'read' && answer.busyByAddress.get('a@example.com')).toEqual(unknown)
})

it('a window with an invalid date is refused, and so is one that ends before it starts', async () => {
  const limits = { windowMaxMs: DAY_MS, addressesMax: 1 }
  const read = (start: Date, end: Date) =>
    readInParts({ addresses: ['a@example.com'], window: { start, end } }, limits, () =>
      Promise.resolve({ type: 'malformed', code: 'never' }),
    )
  await expect(read(new Date(0), new Date(Number.NaN))).rejects.toThrow(RangeError)
  await expect(read(new Date(1), new Date(0))).rejects.toThrow(RangeError)
})

it('an address is found in its own spelling first and in any case otherwise', () => {
  const entries = new Map([
    ['ADA@example.com', 1],
    ['ada@example.com', 2],
  ])
  expect(findByAddress(entries, 'ada@example.com')).toBe(2)
  expect(findByAddress(entries, 'Ada@Example.com')).toBe(1)
  expect(findByAddress(entries, 'bo@example.com')).toBeUndefined()
})
