import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { formatInstant } from './format.ts'
import { probes, readings } from './format.host.testing.ts'
import { asUtc, wallTime, zoneNamed } from './wall.testing.ts'

const summer = new Date('2026-07-01T12:34:56.789Z')
const berlin = zoneNamed('Europe/Berlin')

describe('an instant as text', () => {
  test.each([
    ["EEEE, d MMMM yyyy 'at' HH:mm", 'Wednesday, 1 July 2026 at 14:34'],
    ['h:mm a', '2:34 PM'],
    ['yyyy-MM-dd HH:mm:ss.SSS', '2026-07-01 14:34:56.789'],
    ['PPPp', 'July 1st, 2026 at 2:34 PM'],
    ["RRRR-'W'II-i", '2026-W27-3'],
    ['HH:mm XXX', '14:34 +02:00'],
    ['xx X O OOOO', '+0200 +02 GMT+2 GMT+02:00'],
    ["''yy''", "'26'"],
    ['', ''],
  ])('%s', (pattern, text) => {
    expect(formatInstant(summer, berlin, pattern)).toBe(text)
  })

  test('writes a zone only where the pattern has one, not where quoted text or a zone name looks like one', () => {
    const azores = zoneNamed('Atlantic/Azores')
    expect(formatInstant(summer, azores, "'zone x' z")).toMatch(/^zone x GMT[-+]?\d*$/)
    expect(formatInstant(summer, azores, 'zzzz z')).toMatch(/^Azores Summer Time GMT/)
  })

  test('names the offset that is in force at the instant, before and after a clock change', () => {
    const newYork = zoneNamed('America/New_York')
    const both = ['2026-11-01T05:30Z', '2026-11-01T06:30Z'].map((at) =>
      formatInstant(new Date(at), newYork, 'HH:mm XXX zzz'),
    )
    expect(both).toEqual(['01:30 -04:00 EDT', '01:30 -05:00 EST'])
  })

  test('counts weeks and days on the calendar of the zone', () => {
    const newYearsEve = new Date('2026-12-31T23:30Z')
    expect(formatInstant(newYearsEve, berlin, "yyyy RRRR II Q 'day' d")).toBe('2027 2026 53 1 day 1')
  })

  test.each(['T', 't', 'PPPppp', 'HH:mm pppp', "'at' T"])(
    'refuses %s, which would show the clock of the host',
    (pattern) => {
      expect(() => formatInstant(summer, berlin, pattern)).toThrow(RangeError)
    },
  )

  test('takes those letters as quoted text', () => {
    expect(formatInstant(summer, berlin, "yyyy-MM-dd'T'HH:mm 'tppp'")).toBe('2026-07-01T14:34 tppp')
  })

  test('refuses a date that is none', () => {
    expect(() => formatInstant(new Date(Number.NaN), berlin, 'HH:mm')).toThrow(RangeError)
  })
})

describe('a host that is set to a zone of its own', () => {
  const run = promisify(execFile)
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const script = fileURLToPath(new URL('./format.host.testing.ts', import.meta.url))
  const hereReadings = readings()
  const offsetText = (minutes: number): string => {
    const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
    return `${minutes < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
  }
  const expected = probes().map(({ zone, at }) => {
    const shows = wallTime(new Date(at), zone)
    const offset = (asUtc(shows) - at) / 60_000
    return `${shows}:00${offset === 0 ? 'Z' : offsetText(offset)}`
  })

  test.each([
    { host: 'UTC', trapsOthers: false },
    { host: 'Europe/Berlin', trapsOthers: true },
    { host: 'America/New_York', trapsOthers: true },
    { host: 'Australia/Lord_Howe', trapsOthers: true },
  ])('$host, formats and reads local times as any other does', async ({ host, trapsOthers }) => {
    const { stdout } = await run(process.execPath, ['--import', 'tsx', script], {
      cwd: root,
      env: { ...process.env, NODE_OPTIONS: '', TZ: host },
      maxBuffer: 16 * 1024 * 1024,
    })
    const there = stdout.split('\n').map((line) => line.split('\t'))
    expect(there.map(([text]) => text)).toEqual(expected)
    expect(there.map(([, , read]) => read)).toEqual(hereReadings.map(([, , read]) => read))
    // The probes are worth something: moving a Date about, date-fns-tz alone gets some of them wrong here.
    expect(there.some(([text, own]) => text !== own)).toBe(trapsOthers)
  })
})
