import { describe, expect, test } from '@jest/globals'
import { isTimeZone, parseTimeZone } from './zone.ts'

describe('the name of a time zone', () => {
  test.each([
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'America/Argentina/Buenos_Aires',
    'America/Port-au-Prince',
    'Australia/Lord_Howe',
    'Asia/Calcutta',
    'US/Eastern',
    'Etc/GMT+5',
    // Absent from Intl.supportedValuesOf on some runtimes, and yet in use.
    'Europe/Kyiv',
    'Asia/Kolkata',
  ])('%s is accepted as it is', (name) => {
    expect(parseTimeZone(name)).toEqual({ type: 'zone', zone: name })
    expect(isTimeZone(name)).toBe(true)
  })

  test('every zone that the runtime lists under an area is accepted', () => {
    const names = Intl.supportedValuesOf('timeZone').filter((name) => name.includes('/'))
    expect(names.length).toBeGreaterThan(300)
    for (const name of names) expect(parseTimeZone(name)).toEqual({ type: 'zone', zone: name })
  })

  test.each([
    ['europe/berlin', 'Europe/Berlin'],
    ['AMERICA/PORT-AU-PRINCE', 'America/Port-au-Prince'],
    ['utc', 'UTC'],
  ])('%s comes back in its registered spelling %s', (typed, registered) => {
    expect(parseTimeZone(typed)).toEqual({ type: 'zone', zone: registered })
    expect(isTimeZone(typed)).toBe(false)
  })

  test.each(['EST', 'EDT', 'BST', 'PST', 'CST', 'IST', 'CET', 'GMT', 'EST5EDT', 'Z', 'PT'])(
    'the abbreviation %s is refused: it names an offset or several zones',
    (name) => {
      expect(parseTimeZone(name)).toEqual({ type: 'malformed', reason: 'not_area_and_location' })
      expect(isTimeZone(name)).toBe(false)
    },
  )

  test.each([
    'Pacific Standard Time',
    'W. Europe Standard Time',
    'Customized Time Zone',
    'SystemV/EST5',
    'Berlin',
  ])('%s is refused: no other system reads it as a zone', (name) => {
    expect(parseTimeZone(name)).toEqual({ type: 'malformed', reason: 'not_area_and_location' })
  })

  test.each(['GMT+1', 'UTC+2', 'utc -3', '+01:00', '-0500', '+1', 'GMT-03:30', '01:00'])(
    'the offset %s is refused: it knows no summer time',
    (name) => {
      expect(parseTimeZone(name)).toEqual({ type: 'malformed', reason: 'offset' })
    },
  )

  test.each(['', ' ', '\t'])('nothing (%j) is not read as UTC or as the host zone', (name) => {
    expect(parseTimeZone(name)).toEqual({ type: 'malformed', reason: 'empty' })
  })

  test.each(['Europe/Atlantis', 'Etc/Unknown', 'America/', 'Europe/Berlin/Mitte'])(
    '%s is unknown',
    (name) => {
      const text = parseTimeZone(name)
      expect(text.type).toBe('malformed')
      expect(isTimeZone(name)).toBe(false)
    },
  )

  test.each([' Europe/Berlin', 'Europe/Berlin ', 'Europe/Berlin\n', 'Europe Berlin'])(
    '%j is refused',
    (name) => {
      expect(parseTimeZone(name)).toEqual({ type: 'malformed', reason: 'not_area_and_location' })
    },
  )
})
