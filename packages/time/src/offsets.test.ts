import { describe, expect, test } from '@jest/globals'
import { offsetStretches } from './offsets.ts'
import { asUtc, clockChanges, dayMs, minuteMs, wallMinutes, zoneNamed } from './wall.testing.ts'

describe('stretches of one offset', () => {
  test.each(clockChanges)('show what the clock of $zone shows around $at ($name)', ({ zone, at }) => {
    const around = new Date(at)
    const [start, end] = [new Date(around.getTime() - dayMs), new Date(around.getTime() + dayMs)]
    const stretches = offsetStretches(zoneNamed(zone), { start, end })
    for (const { at: minute, shows } of wallMinutes(zone, around, 1)) {
      const stretch = stretches.find((each) => each.start.getTime() <= minute && minute < each.end.getTime())
      expect(stretch && minute + stretch.offsetMs).toBe(asUtc(shows))
    }
  })

  test.each(clockChanges)(
    'leave no hole, and differ from the next one, in $zone around $at',
    ({ zone, at }) => {
      const start = new Date(Date.parse(at) - 200 * dayMs)
      const end = new Date(Date.parse(at) + 200 * dayMs)
      const stretches = offsetStretches(zoneNamed(zone), { start, end })
      expect(stretches[0]?.start).toEqual(start)
      expect(stretches.at(-1)?.end).toEqual(end)
      stretches.slice(1).forEach((stretch, index) => {
        expect(stretch.start).toEqual(stretches[index]?.end)
        expect(stretch.offsetMs).not.toBe(stretches[index]?.offsetMs)
      })
    },
  )

  test('of no time are none, and a change at the very end is not looked at', () => {
    const change = new Date('2026-03-29T01:00Z')
    const berlin = zoneNamed('Europe/Berlin')
    expect(offsetStretches(berlin, { start: change, end: change })).toEqual([])
    const before = { start: new Date(change.getTime() - dayMs), end: change }
    expect(offsetStretches(berlin, before)).toEqual([{ ...before, offsetMs: 60 * minuteMs }])
  })
})
