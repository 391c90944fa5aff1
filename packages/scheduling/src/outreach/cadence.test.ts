import { describe, expect, test } from '@jest/globals'
import { parseTimeZone, type TimeZone } from '@aftercommit/time'
import fc from 'fast-check'
import { nextContactAt, type OutreachPolicy } from './cadence.ts'

const zoneNamed = (name: string): TimeZone => {
  const zone = parseTimeZone(name)
  if (zone.type === 'malformed') throw new Error(name)
  return zone.zone
}
const berlin = zoneNamed('Europe/Berlin')
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

const policy: OutreachPolicy = {
  messagesMax: 3,
  spacingHours: 24,
  quietHours: { startsAt: '20:00', endsAt: '08:00' },
  stopAt: new Date('2027-04-30T00:00Z'),
}
const at = (text: string): { type: 'at'; at: Date } => ({ type: 'at', at: new Date(text) })

describe('when a person is written to next', () => {
  test('at once, when nothing was sent and it is day where they are', () => {
    const now = new Date('2027-03-24T10:00Z')
    expect(nextContactAt(policy, [], berlin, now)).toEqual({ type: 'at', at: now })
  })

  test('in the morning, when it is night where they are', () => {
    expect(nextContactAt(policy, [], berlin, new Date('2027-03-24T19:30Z'))).toEqual(at('2027-03-25T07:00Z'))
    expect(nextContactAt(policy, [], zoneNamed('America/New_York'), new Date('2027-03-24T10:00Z'))).toEqual(
      at('2027-03-24T12:00Z'),
    )
  })

  test('the morning after the clocks were set forward begins an hour earlier', () => {
    expect(nextContactAt(policy, [], berlin, new Date('2027-03-27T22:00Z'))).toEqual(at('2027-03-28T06:00Z'))
  })

  test('after the spacing from the last message, in whatever order they are given', () => {
    const sent = [new Date('2027-03-24T10:00Z'), new Date('2027-03-23T09:00Z')]
    expect(nextContactAt(policy, sent, berlin, new Date('2027-03-24T11:00Z'))).toEqual(
      at('2027-03-25T10:00Z'),
    )
  })

  test('never after as many messages as may be sent, nor from the deadline on', () => {
    const sent = [1, 2, 3].map((day) => new Date(`2027-03-0${day}T10:00Z`))
    const now = new Date('2027-03-24T10:00Z')
    expect(nextContactAt(policy, sent, berlin, now)).toEqual({ type: 'exhausted' })
    expect(nextContactAt({ ...policy, stopAt: now }, [], berlin, now)).toEqual({ type: 'past_deadline' })
    const tonight = new Date('2027-03-24T22:00Z')
    const stopAt = new Date('2027-03-25T06:59Z')
    expect(nextContactAt({ ...policy, stopAt }, [], berlin, tonight)).toEqual({ type: 'past_deadline' })
  })

  test('hours that begin when they end are no quiet hours', () => {
    const quietHours = { startsAt: '00:00', endsAt: '00:00' }
    const now = new Date('2027-03-24T23:00Z')
    expect(nextContactAt({ ...policy, quietHours }, [], berlin, now)).toEqual({ type: 'at', at: now })
  })
})

describe('for every zone, policy and moment', () => {
  const zones = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'America/Santiago',
    'Africa/Cairo',
    'Africa/Casablanca',
    'Asia/Kolkata',
    'Pacific/Chatham',
  ].map(zoneNamed)
  const clock = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom('00', '15', '30', '59'))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${minute}`)
  // The days around clock changes, and others.
  const moment = fc
    .tuple(
      fc.constantFrom(
        '2026-03-08',
        '2026-03-29',
        '2026-04-04',
        '2026-04-23',
        '2026-09-06',
        '2026-10-25',
        '2026-11-01',
      ),
      fc.integer({ min: -48 * 60, max: 48 * 60 }),
    )
    .map(([date, minutes]) => new Date(Date.parse(`${date}T00:00Z`) + minutes * MINUTE_MS))

  /** What a clock on the wall shows, asked of Intl and not of the code under test. */
  const shows = (instant: Date, zone: string): string =>
    new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }).format(instant)
  const isQuiet = (text: string, { startsAt, endsAt }: OutreachPolicy['quietHours']): boolean =>
    startsAt <= endsAt ? startsAt <= text && text < endsAt : text >= startsAt || text < endsAt

  test('the clock shows no quiet time then, the spacing is kept, and there was no earlier moment', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.record({ startsAt: clock, endsAt: clock }),
        fc.integer({ min: 1, max: 48 }),
        moment,
        fc.array(fc.integer({ min: 0, max: 72 }), { maxLength: 3 }),
        (zone, quietHours, spacingHours, now, hoursAgo) => {
          const sent = hoursAgo.map((hours) => new Date(now.getTime() - hours * HOUR_MS))
          const generous = { ...policy, messagesMax: 6, quietHours, spacingHours }
          const next = nextContactAt(generous, sent, zone, now)
          if (next.type !== 'at') throw new Error(next.type)
          expect(isQuiet(shows(next.at, zone), quietHours)).toBe(false)
          const earliest = Math.max(
            now.getTime(),
            ...sent.map((each) => each.getTime() + spacingHours * HOUR_MS),
          )
          expect(next.at.getTime()).toBeGreaterThanOrEqual(earliest)
          for (let before = earliest; before < next.at.getTime(); before += MINUTE_MS) {
            if (!isQuiet(shows(new Date(before), zone), quietHours))
              throw new Error('there was an earlier moment')
          }
        },
      ),
      { numRuns: 60 },
    )
  })
})
