import { describe, expect, test } from '@jest/globals'
import { parseTimeZone, type TimeZone } from '@aftercommit/time'
import fc from 'fast-check'
import { understand, type ReadingContext, type Understood } from './understand.ts'

const zoneNamed = (name: string): TimeZone => {
  const zone = parseTimeZone(name)
  if (zone.type === 'malformed') throw new Error(name)
  return zone.zone
}
const berlin = zoneNamed('Europe/Berlin')

/** Monday 29 March to Friday 2 April 2027, asked for in the week before. */
const inBerlin: ReadingContext = {
  window: { start: new Date('2027-03-28T22:00Z'), end: new Date('2027-04-02T22:00Z') },
  durationMinutes: 60,
  zone: berlin,
  meetingZone: berlin,
  receivedAt: new Date('2027-03-24T10:00Z'),
}
const nowhere: ReadingContext = { ...inBerlin, zone: undefined }
/** With every day of the week twice. */
const twoWeeks: ReadingContext = {
  ...inBerlin,
  window: { ...inBerlin.window, end: new Date('2027-04-09T22:00Z') },
}

/** “Tue 14:00-16:00”, in the one week of the window. */
const shown = ({ windows }: Understood): string =>
  windows
    .map(({ start, end }) => {
      const day = new Date(`${start}Z`).toLocaleDateString('en-GB', { weekday: 'short', timeZone: 'UTC' })
      return `${day} ${start.slice(11)}-${end.slice(11)}`
    })
    .join(', ')

const tue = 'Tue 14:00-16:00'

describe('to somebody whose zone is known', () => {
  test.each([
    // English
    ['Tuesday 14:00-16:00', tue],
    ['Tuesday, 14:00 – 16:00', tue],
    ['tue 2-4pm', tue],
    ['Tues. 2pm-4pm works for me', tue],
    ['Tuesday from 2pm to 4pm', tue],
    ['Tuesday between 2 and 4pm', tue],
    ['between 2pm and 4pm on Tuesday', tue],
    ['Tuesday 14-16', tue],
    ['I can do 14-16 on Tuesday', tue],
    ['Tuesday, March 30, 2pm-4pm', tue],
    ['March 30, 2 p.m. to 4 p.m.', tue],
    ['30 March 2027, 14:00-16:00', tue],
    ['the 30th of March, 2-4 pm', tue],
    ['2027-03-30 14:00-16:00', tue],
    ['3/30/2027 2-4pm', tue],
    ['next Tuesday 2-4pm', tue],
    ['How about Tuesday 2-4pm? Half an hour is enough. See you soon!', tue],
    ['No problem, Tuesday 2-4pm', tue],
    ['Good morning, Tuesday 2-4pm works', tue],
    ['30 minutes on Tuesday 2-4pm is fine', tue],
    ['Tuesday after 2pm and before 4pm', tue],
    ['Tuesday 2-4pm in the afternoon', tue],
    ['Tuesday at 2pm', 'Tue 14:00-15:00'],
    ['Tuesday 2pm or 5pm', 'Tue 14:00-15:00, Tue 17:00-18:00'],
    ['Tuesday 11-1pm', 'Tue 11:00-13:00'],
    ['Tuesday afternoon', 'Tue 12:00-18:00'],
    ['Tuesday or Wednesday afternoon', 'Tue 12:00-18:00, Wed 12:00-18:00'],
    ['Tuesday before noon', 'Tue 00:00-12:00'],
    ['Tuesday after 2pm', 'Tue 14:00-00:00'],
    ['Tuesday before 10am or after 4pm', 'Tue 00:00-10:00, Tue 16:00-00:00'],
    ['any time Tuesday', 'Tue 00:00-00:00'],
    ['any time on Tuesday or Thursday', 'Tue 00:00-00:00, Thu 00:00-00:00'],
    ['Thursday all day', 'Thu 00:00-00:00'],
    ['any time except Monday and Friday', 'Tue 00:00-00:00, Wed 00:00-00:00, Thu 00:00-00:00'],
    ['any time Tuesday, but not 2-4pm Tuesday', 'Tue 00:00-14:00, Tue 16:00-00:00'],
    ['Monday, Tuesday 2-4pm', 'Mon 14:00-16:00, Tue 14:00-16:00'],
    ['Monday to Wednesday, 10am-12pm', 'Mon 10:00-12:00, Tue 10:00-12:00, Wed 10:00-12:00'],
    ['March 29-31, 9:00-11:00', 'Mon 09:00-11:00, Tue 09:00-11:00, Wed 09:00-11:00'],
    ['Tuesday 2-4pm and 6-8pm', 'Tue 14:00-16:00, Tue 18:00-20:00'],
    ['Tuesday 2-4pm, 5-6pm Wednesday', 'Tue 14:00-16:00, Wed 17:00-18:00'],
    ['Tuesday 2-4pm\nWednesday 10am-11am', 'Tue 14:00-16:00, Wed 10:00-11:00'],
    ['- Tue: 2-4pm\n- Wed: 10-11am', 'Tue 14:00-16:00, Wed 10:00-11:00'],
    ["I can't do Monday, but Tuesday 2-4pm works", tue],
    // German
    ['Dienstag 14-16 Uhr', tue],
    ['am Dienstag zwischen 14 und 16 Uhr', tue],
    ['Dienstag, den 30.3., 14 bis 16 Uhr', tue],
    ['Di, 30.3. 14-16 Uhr', tue],
    ['30.03.2027, 14.00-16.00 Uhr', tue],
    ['am 30. März von 14:00 bis 16:00', tue],
    ['am 30. zwischen 14 und 16 Uhr', tue],
    ['14-16 Uhr am Dienstag', tue],
    ['Guten Morgen, Dienstag 14-16 Uhr passt', tue],
    ['Montag geht nicht, aber Dienstag 14-16 Uhr', tue],
    ['Dienstag um 14 Uhr', 'Tue 14:00-15:00'],
    ['Dienstagnachmittag geht: Dienstag Nachmittag', 'Tue 12:00-18:00'],
    ['Dienstag morgen', 'Tue 08:00-12:00'],
    ['Dienstag ab 14 Uhr oder Mittwoch bis 12 Uhr', 'Tue 14:00-00:00, Wed 00:00-12:00'],
    ['Donnerstag ganztägig', 'Thu 00:00-00:00'],
    ['Mo-Mi 10-12 Uhr', 'Mon 10:00-12:00, Tue 10:00-12:00, Wed 10:00-12:00'],
    ['29.-31.3. 10-12 Uhr', 'Mon 10:00-12:00, Tue 10:00-12:00, Wed 10:00-12:00'],
    ['jederzeit außer Montag und Freitag', 'Tue 00:00-00:00, Wed 00:00-00:00, Thu 00:00-00:00'],
    ['nächste Woche jeden Tag außer Freitag ab 16 Uhr', ''],
  ])('“%s” is a draft of %s', (words, expected) => {
    const understood = understand(words, inBerlin)
    expect(shown(understood)).toBe(expected)
    if (expected === '') return
    expect(understood).toMatchObject({ unclear: [], zone: berlin })
  })

  test.each([
    ['Tuesday 2-4', 'time'],
    ['Tuesday at 2', 'time'],
    ['Tuesday 9 to 5', 'time'],
    ['Tuesday', 'time'],
    ['Tuesday works for me', 'time'],
    ['Tuesday after lunch', 'time'],
    ['late Tuesday afternoon', 'time'],
    ['Dienstag um halb drei', 'time'],
    ['Tuesday around 2pm', 'time'],
    ['2-4pm Tuesday 5-6pm', 'time'],
    ['in the afternoon, Tuesday 2-4pm', 'time'],
    ['Tuesday 16:00-14:00', 'time'],
    ['Tuesday 25:00', 'time'],
    ['2-4pm', 'date'],
    ['last Tuesday 2-4pm', 'date'],
    ['after Tuesday, any time', 'date'],
    ['Tuesday, March 31, 2-4pm', 'date'],
    ['4/1 2-4pm', 'date'],
    ['30 February, 2-4pm', 'date'],
    ['5 April, 2-4pm', 'outside_window'],
    ['Saturday 2-4pm', 'outside_window'],
    ['not Monday', 'only_excluded'],
    ['Montag geht nicht', 'only_excluded'],
    ["Tuesday 2-4pm doesn't work", 'only_excluded'],
    ["I can't make\nTuesday 2-4pm", 'only_excluded'],
    ["I'm in a meeting Tuesday 2-4pm", 'only_excluded'],
    ['Thanks, got it!', 'nothing_understood'],
    ['', 'nothing_understood'],
  ])('“%s” offers no time: %s', (words, unclear) => {
    const understood = understand(words, inBerlin)
    expect(understood.windows).toEqual([])
    expect(understood.unclear).toEqual([unclear])
  })

  test('a day of another sentence gets no time from it, and is asked about', () => {
    const understood = understand('See you Friday. Tuesday 2-4pm works', inBerlin)
    expect(shown(understood)).toBe(tue)
    expect(understood.unclear).toEqual(['time'])
  })

  test('of two Tuesdays in the window neither is guessed, but every one may be meant', () => {
    expect(understand('Tuesday 2-4pm', twoWeeks)).toMatchObject({ windows: [], unclear: ['date'] })
    expect(understand('every Tuesday 2-4pm', twoWeeks).windows.map(({ start }) => start)).toEqual([
      '2027-03-30T14:00',
      '2027-04-06T14:00',
    ])
    expect(understand('Tuesday 6 April 2-4pm', twoWeeks).windows).toHaveLength(1)
    expect(understand('next week Tuesday 2-4pm', twoWeeks).windows).toHaveLength(1)
  })

  test('days that are over when the answer comes are not offered', () => {
    const onWednesday = { ...inBerlin, receivedAt: new Date('2027-03-31T10:00Z') }
    expect(shown(understand('every day 2-4pm', onWednesday))).toBe(
      'Wed 14:00-16:00, Thu 14:00-16:00, Fri 14:00-16:00',
    )
    expect(shown(understand('tomorrow 2-4pm', onWednesday))).toBe('Thu 14:00-16:00')
    expect(understand('Tuesday 2-4pm', onWednesday).unclear).toEqual(['outside_window'])
  })
})

describe('which clock', () => {
  test.each(['Tuesday afternoon', 'Dienstag Nachmittag', 'morning of March 30'])(
    '“%s” without a known zone becomes a question and never a slot',
    (words) => {
      const understood = understand(words, nowhere)
      expect(understood.windows).toEqual([])
      expect(understood.zone).toBeUndefined()
      expect(understood.unclear).toContain('zone')
    },
  )

  test('exact times without a known zone are kept for the page, where the zone is asked', () => {
    expect(understand('Tuesday 2-4pm', nowhere)).toMatchObject({
      windows: [{ start: '2027-03-30T14:00', end: '2027-03-30T16:00' }],
      zone: undefined,
      unclear: ['zone'],
    })
  })

  test.each([
    ['Europe/London', 'Europe/London'],
    ['america/new_york', 'America/New_York'],
    ['London time', 'Europe/London'],
    ['New York time', 'America/New_York'],
    ['Berliner Zeit', 'Europe/Berlin'],
    ['UTC', 'UTC'],
    ['UTC+2', 'Etc/GMT-2'],
    ['GMT-5', 'Etc/GMT+5'],
  ])('“%s” names a clock, which counts more than the one that was known', (named, zone) => {
    expect(understand(`Tuesday 2-4pm ${named}`, inBerlin)).toMatchObject({ zone, unclear: [] })
    expect(understand(`Tuesday 2-4pm (${named})`, nowhere)).toMatchObject({ zone, unclear: [] })
  })

  test.each([
    'CET',
    'EST',
    'BST',
    'GMT',
    'IST',
    'Eastern time',
    'your time',
    'UTC+05:30',
    'UTC or Europe/Berlin',
  ])('“%s” does not name one clock, and is asked about even where one was known', (named) => {
    expect(understand(`Tuesday 2-4pm ${named}`, inBerlin)).toMatchObject({
      zone: undefined,
      unclear: ['zone'],
    })
    expect(understand(`Tuesday afternoon ${named}`, inBerlin).windows).toEqual([])
  })
})

describe('wishes', () => {
  test.each([
    ['unsubscribe', ['no_more_contact']],
    ['STOP', ['no_more_contact']],
    ['Please stop emailing me.', ['no_more_contact']],
    ['Bitte schicken Sie mir keine weiteren E-Mails', ['no_more_contact']],
    ['I cannot take part, sorry', ['not_taking_part']],
    ['Ich kann leider nicht teilnehmen', ['not_taking_part']],
    ['Tuesday 2-4pm, and please don’t stop there', []],
  ])('“%s” is shown as %j', (words, wishes) => {
    expect(understand(words, inBerlin).wishes).toEqual(wishes)
  })
})

describe('whatever is written', () => {
  const pieces = fc.constantFrom(
    ...'Tuesday,Dienstag,Wednesday,30.3.,March 31,2-4pm,14-16 Uhr,9,at,to,-,not,except,but,and,or,any time,afternoon'.split(
      ',',
    ),
    ...[
      '.',
      '. ',
      '\n',
      ',',
      ';',
      'UTC+2',
      'CET',
      'after',
      'bis',
      'morgen',
      'next week',
      '(',
      "can't",
      '24:00',
      '99',
    ],
  )
  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.array(pieces, { maxLength: 25 }).map((words) => words.join(' ')),
  )

  test('it never throws, and offers nothing outside the days of the window', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(inBerlin, nowhere, twoWeeks), (words, context) => {
        for (const { start, end } of understand(words, context).windows) {
          expect(start >= '2027-03-29T00:00' && end <= '2027-04-10T00:00' && start < end).toBe(true)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('long input of any one kind is read in no time', () => {
    for (const unit of ['1', ' ', 'a', '\n', '1 ', '2-', 'Tuesday ', 'a/', '1.', 'bis ', "n't "]) {
      const startedAt = performance.now()
      understand(unit.repeat(100_000), inBerlin)
      expect(performance.now() - startedAt).toBeLessThan(10_000)
    }
  })

  const days = { Monday: 29, Dienstag: 30, Wednesday: 31 }
  const times = [
    ['14:00-16:00', 14, 16],
    ['2-4pm', 14, 16],
    ['between 9am and 11am', 9, 11],
    ['10 bis 12 Uhr', 10, 12],
    ['after 3pm', 15, 24],
    ['vor 12 Uhr', 0, 12],
    ['at 5pm', 17, 18],
    ['afternoon', 12, 18],
    ['any time', 0, 24],
  ] as const
  const said = fc.record({
    day: fc.constantFrom('Monday' as const, 'Dienstag' as const, 'Wednesday' as const),
    time: fc.constantFrom(...times),
    dayFirst: fc.boolean(),
    negated: fc.boolean(),
    separator: fc.constantFrom(', ', ' or ', '. ', '\n', '; ', ' and ', ' but '),
  })

  test('it never offers more than was said, however the sentences are joined', () => {
    fc.assert(
      fc.property(fc.array(said, { minLength: 1, maxLength: 5 }), (sentences) => {
        const words = sentences
          .map(({ day, time: [time], dayFirst, negated, separator }) => {
            const body = dayFirst ? `${day} ${time}` : `${time} ${day}`
            return `${negated ? 'not ' : ''}${body}${separator}`
          })
          .join('')
        for (const { start, end } of understand(words, inBerlin).windows) {
          const date = Number(start.slice(8, 10))
          const minutes = (text: string): number => Number(text.slice(11, 13)) * 60 + Number(text.slice(14))
          const [from, to] = [minutes(start), end.endsWith('T00:00') ? 1440 : minutes(end)]
          for (let at = from; at < to; at += 30) {
            const isIn = ({ day, time: [, first, last] }: (typeof sentences)[number]): boolean =>
              days[day] % 31 === date % 31 && first * 60 <= at && at < last * 60
            expect(sentences.some((each) => !each.negated && isIn(each))).toBe(true)
            expect(sentences.some((each) => each.negated && isIn(each))).toBe(false)
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})
