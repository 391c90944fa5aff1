import { expect, test } from '@jest/globals'
import { offsetMinutes } from './dates.ts'
import { isTimeZone } from './zone.ts'
import { listedZones, UTC, zoneOfOffset } from './zones.ts'

test('the zones to choose from are all usable, each of them once, and UTC is among them', () => {
  const zones = listedZones()
  expect(zones.length).toBeGreaterThan(300)
  expect(zones.filter((zone) => !isTimeZone(zone))).toEqual([])
  expect(new Set(zones).size).toBe(zones.length)
  expect(zones).toContain(UTC)
})

test('an offset of whole hours has a zone whose clock keeps it all year, and no other has one', () => {
  for (let hours = -12; hours <= 14; hours += 1) {
    const zone = zoneOfOffset(hours * 60)
    if (!zone) throw new Error(`${hours}`)
    for (const at of ['2027-01-01T00:00Z', '2027-07-01T00:00Z']) {
      expect(offsetMinutes(new Date(at), zone)).toBe(hours * 60)
    }
  }
  for (const minutes of [330, -13 * 60, 15 * 60, 0.5]) expect(zoneOfOffset(minutes)).toBeUndefined()
})
