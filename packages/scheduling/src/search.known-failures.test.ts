/** What other systems of this kind got wrong in public, each as the whole kind, with the right answer. */
import { describe, expect, test } from '@jest/globals'
import { addDays, startOfDay } from '@aftercommit/time'
import { personOf } from './cast.testing.ts'
import { explainSlot } from './explain.ts'
import { known, search, searchOf, starts, stated, stretches, window, working } from './search.testing.ts'
import { ZoneName } from './values.ts'

const berlin = ZoneName.parse('Europe/Berlin')
const everyQuarter = { preferences: { startEveryMinutes: 15 } }

describe('buffers (calcom/cal.diy#3662, #24253, #2078, #17414)', () => {
  // Every start is asked about, because a found time hides those next to it.
  const possible = (
    people: Parameters<typeof searchOf>[0],
    evidence: Parameters<typeof searchOf>[1],
    more: Parameters<typeof searchOf>[3] = {},
  ): readonly string[] => {
    const given = searchOf(people, evidence, window('2027-03-30T08:00', '2027-03-30T16:00'), more)
    return Array.from({ length: 32 }, (_, index) => new Date(Date.UTC(2027, 2, 30, 6, index * 15)))
      .filter((start) => explainSlot(given, start).type === 'acceptable')
      .map((start) => start.toISOString().slice(11, 16))
  }
  const noon = [['2027-03-30T10:00:00Z', '2027-03-30T10:30:00Z']] as const

  test('are not doubled on one side, and not taken for the other one', () => {
    const before = personOf({ bufferBeforeMinutes: 30 })
    const after = personOf({ bufferAfterMinutes: 30 })
    expect(possible([before], [known(before, noon)]).filter((start) => start >= '09:00')[0]).toBe('09:00')
    expect(possible([before], [known(before, noon)]).find((start) => start > '09:00')).toBe('11:00')
    expect(possible([after], [known(after, noon)]).find((start) => start > '08:30')).toBe('10:30')
    expect(possible([after], [known(after, noon)])).toContain('08:30')
    expect(possible([after], [known(after, noon)])).not.toContain('08:45')
  })

  test('hold for every start that is offered and for everybody, also from what is only held', () => {
    const [ben, dora] = [personOf({ bufferBeforeMinutes: 120 }), personOf({ bufferAfterMinutes: 120 })]
    const held = new Map([[dora.id, stretches([['2027-03-30T13:00:00Z', '2027-03-30T13:30:00Z']])]])
    // Ben from 12:30 on, Dora until 11:00, and each of them by themselves at the other end of the day.
    expect(possible([ben, dora], [known(ben, noon), known(dora)], { held })).toEqual([
      ...['06:00', '06:15', '06:30', '06:45', '07:00', '07:15', '07:30', '07:45'],
      ...['08:00', '08:15', '08:30', '08:45', '09:00'],
    ])
  })
})

describe('days that are taken as a whole (calcom/cal.diy#6292, Kinchilla/venndra#51)', () => {
  test.each([
    ['an ordinary one', '2027-03-30'],
    ['one of 23 hours', '2027-03-28'],
    ['one of 25 hours', '2027-10-31'],
  ])('%s is taken from its first moment to its last, in the zone in which it is one', (_, date) => {
    const ben = personOf()
    const [start, end] = [startOfDay(date, berlin), startOfDay(addDays(date, 1), berlin)]
    const busy = [[start.toISOString(), end.toISOString()]] as const
    const within = window(`${addDays(date, -1)}T23:00`, `${addDays(date, 1)}T01:00`)
    expect(starts(search([ben], [known(ben, busy)], within))).toEqual([
      new Date(start.getTime() - 60 * 60_000).toISOString(),
      end.toISOString(),
    ])
  })
})

describe('nothing in a calendar, and nothing known of it (grommunio/grommunio-web#141, AVA#355)', () => {
  const day = window('2027-03-30T09:00', '2027-03-30T10:00')

  test('are opposites', () => {
    const ben = personOf()
    expect(starts(search([ben], [known(ben, [])], day))).toEqual(['2027-03-30T07:00:00.000Z'])
    expect(starts(search([ben], [], day))).toBe('unknown_required')
  })

  test('an interval that makes no sense is never dropped as if it were not there', () => {
    const ben = personOf()
    const backwards = [['2027-03-30T08:00:00Z', '2027-03-30T07:00:00Z']] as const
    const never = [['2027-03-30T08:00:00Z', 'never']] as const
    expect(() => search([ben], [known(ben, backwards)], day)).toThrow(RangeError)
    expect(() => search([ben], [known(ben, never)], day)).toThrow(RangeError)
    expect(() => search([ben], [stated(ben, backwards)], day)).toThrow(RangeError)
  })
})

describe('clock changes (calcom/cal.diy#10517, #6217, #2250, nextcloud/polls#2850)', () => {
  test('leave nine in the morning at nine, before and after, on either side of the ocean', () => {
    const firstOn = (zone: string, date: string): string | undefined => {
      const ben = working(zone)
      const found = starts(
        search([ben], [known(ben)], {
          ...window(`${date}T00:00`, `${date}T23:00`),
          timeZone: zone,
        }),
      )
      return typeof found === 'string' ? found : found[0]?.slice(11, 16)
    }
    // Summer time: New York from 14 March, Berlin from 28 March; back on 31 October and 7 November.
    expect(
      ['2027-03-26', '2027-03-29', '2027-10-29', '2027-11-01'].map((date) => firstOn('Europe/Berlin', date)),
    ).toEqual(['08:00', '07:00', '07:00', '08:00'])
    expect(
      ['2027-03-22', '2027-03-29', '2027-11-05', '2027-11-08'].map((date) =>
        firstOn('America/New_York', date),
      ),
    ).toEqual(['13:00', '13:00', '13:00', '14:00'])
  })

  test('do not hide that what is busy in winter time and what is asked in summer time meet (tine20#4797)', () => {
    const ben = working('Europe/Berlin')
    // Ten to eleven on the wall, on the Friday before the change and on the Monday after it.
    const busy = [
      ['2027-03-26T09:00:00Z', '2027-03-26T10:00:00Z'],
      ['2027-03-29T08:00:00Z', '2027-03-29T09:00:00Z'],
    ] as const
    const given = searchOf([ben], [known(ben, busy)], window('2027-03-26T00:00', '2027-03-30T00:00'))
    const at = (instant: string) => explainSlot(given, new Date(instant))
    expect(at('2027-03-29T08:00:00Z')).toMatchObject({ reasons: [{ because: 'busy' }] })
    expect(at('2027-03-29T09:00:00Z').type).toBe('acceptable')
    expect(at('2027-03-26T08:00:00Z').type).toBe('acceptable')
  })
})

describe('hours of one zone in another (calcom/cal.diy#8833, PR#30128)', () => {
  test('have both their edges in the zone of the person, to the last minute of the day', () => {
    const hours = (startsAt: string, endsAt: string) => ({ startsAt, endsAt, days: [6] })
    const ben = personOf({
      timeZone: ZoneName.parse('Europe/Amsterdam'),
      workingHours: hours('00:00', '00:15'),
    })
    const dora = personOf({
      timeZone: ZoneName.parse('America/Los_Angeles'),
      workingHours: hours('23:00', '24:00'),
    })
    const week = {
      ...window('2027-03-15T00:00', '2027-03-22T00:00'),
      timeZone: 'America/New_York',
      durationMinutes: 15,
      ...everyQuarter,
    }
    // Saturday in Amsterdam begins on Friday evening in New York; Saturday in Los Angeles ends on Sunday there.
    const before = { now: new Date('2027-03-01T00:00Z') }
    const fresh = new Date('2027-03-02T00:00Z')
    expect(starts(search([ben], [known(ben, [], fresh)], week, before))).toEqual(['2027-03-19T23:00:00.000Z'])
    expect(starts(search([dora], [known(dora, [], fresh)], week, before))).toEqual([
      '2027-03-21T06:00:00.000Z',
      '2027-03-21T06:15:00.000Z',
      '2027-03-21T06:30:00.000Z',
      '2027-03-21T06:45:00.000Z',
    ])
  })
})

describe('a time that a client names (calcom/cal.diy#244, #6083)', () => {
  const ben = personOf()
  const busy = [['2027-03-30T08:30:00Z', '2027-03-30T09:00:00Z']] as const
  const asked = (durationMinutes: number, start: string) =>
    explainSlot(
      searchOf([ben], [known(ben, busy)], {
        ...window('2027-03-30T09:00', '2027-03-30T12:00'),
        durationMinutes,
      }),
      new Date(start),
    )

  test('is checked for the whole length of the meeting', () => {
    expect(asked(90, '2027-03-30T07:00:00Z').type).toBe('acceptable')
    expect(asked(95, '2027-03-30T07:00:00Z')).toMatchObject({ reasons: [{ because: 'busy' }] })
  })

  test('is refused outside of the window, however free everybody is', () => {
    expect(asked(30, '2027-03-31T07:00:00Z')).toMatchObject({ reasons: [{ type: 'outside_window' }] })
    expect(asked(30, '2027-03-30T09:45:00Z')).toMatchObject({ reasons: [{ type: 'outside_window' }] })
  })
})
