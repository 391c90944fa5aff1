import { describe, expect, it } from '@jest/globals'
import { instantOf, isZone, localOf, withOffset } from './zone.ts'

describe('wall time', () => {
  it.each([
    ['America/New_York', '2026-03-08T02:30:00', '2026-03-08T07:30:00.000Z'],
    ['America/New_York', '2026-11-01T01:30:00', '2026-11-01T05:30:00.000Z'],
    ['Europe/Berlin', '2026-10-25T02:30:00', '2026-10-25T00:30:00.000Z'],
    ['Australia/Lord_Howe', '2026-10-04T02:15:00', '2026-10-03T15:45:00.000Z'],
    ['America/Santiago', '2026-09-06T00:00:00', '2026-09-06T04:00:00.000Z'],
    ['Asia/Kolkata', '2026-03-24T10:00:00.0000000', '2026-03-24T04:30:00.000Z'],
  ])('in %s at %s is %s: gaps go forward, overlaps take the earlier', (zone, local, instant) => {
    expect(instantOf(local, zone)?.toISOString()).toBe(instant)
  })

  it('comes back from its instant', () => {
    const instant = new Date('2026-03-24T04:30:00Z')
    expect(localOf(instant, 'Asia/Kolkata')).toBe('2026-03-24T10:00:00')
    expect(withOffset(instant, 'Asia/Kolkata')).toBe('2026-03-24T10:00:00+05:30')
    expect(withOffset(instant, 'UTC')).toBe('2026-03-24T04:30:00Z')
  })

  it('knows no abbreviations, Windows names or inventions', () => {
    expect(['PST', 'Pacific Standard Time', 'Not/AZone', ''].filter(isZone)).toEqual([])
    expect(['UTC', 'Europe/Kyiv', 'Etc/GMT+5'].every(isZone)).toBe(true)
  })
})
