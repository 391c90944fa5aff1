import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { explainRejected, findTimes, type FindTimesInput } from './overlap.ts'
import { anyInputAround, dayMs, minuteMs, time } from './overlap.people.testing.ts'
import { absenceAt, findTimesSlowly, possibleSlowly, shown } from './overlap.reference.testing.ts'

const clockChanges = [
  ['Europe/Berlin', '2026-03-29T01:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-03-08T07:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  // By half an hour, so that whole hours lie elsewhere in UTC afterwards.
  ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  // A whole day that was not.
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  // At 02:45 and 03:45 of a zone 45 minutes off the hour.
  ['Pacific/Chatham', '2026-09-26T14:00Z'],
  ['Pacific/Chatham', '2026-04-04T14:00Z'],
] as const

const answersAgree = (inputs: fc.Arbitrary<FindTimesInput>, numRuns: number): ReadonlySet<string> => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(inputs, (input) => {
      const result = findTimes(input)
      seen.add(result.type)
      expect(result).toEqual(findTimesSlowly(input))
    }),
    { numRuns },
  )
  return seen
}

describe('any meeting gets the answer that a question for every person and every minute gives', () => {
  test('on an ordinary day, in zones whole hours from UTC or not', () => {
    const zones = ['UTC', 'Asia/Kathmandu', 'Asia/Kolkata', 'America/St_Johns', 'Europe/Berlin']
    const seen = answersAgree(anyInputAround(time('09:00'), zones), 300)
    expect([...seen].sort()).toEqual(['found', 'no_overlap', 'unknown_required'])
  })

  test.each(clockChanges)('when the clock of %s changes at %s', (zone, at) => {
    const seen = answersAgree(anyInputAround(new Date(at), [zone]), 50)
    expect(seen).toContain('found')
    expect(seen).toContain('no_overlap')
  })
})

describe('any slot gets an explanation', () => {
  // Steps of the grain for which anything can happen, also where the clock changes.
  const anyInput = fc.oneof(
    anyInputAround(time('09:00'), ['UTC', 'Asia/Kathmandu']),
    anyInputAround(new Date('2026-10-03T15:30Z'), ['Australia/Lord_Howe']),
  )

  test('that agrees with what is possible, and with its rank', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const isKnown = input.required.every((person) => person.time.type !== 'unknown')
        const possible = isKnown ? possibleSlowly(input) : []
        const first = input.window.start.getTime() - input.durationMs
        for (let start = first; start <= input.window.end.getTime(); start += 5 * minuteMs) {
          const explanation = explainRejected(input, new Date(start))
          const index = possible.findIndex((each) => each.start.getTime() === start)
          if (index < 0) expect(explanation.type).toBe('rejected')
          else {
            const ranked = { type: 'acceptable', rank: index + 1, of: possible.length }
            expect(explanation).toEqual({ ...ranked, ...possible[index] })
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  test('whose reasons are true, minute by minute', () => {
    fc.assert(
      fc.property(anyInput, fc.integer({ min: -10, max: 60 }), (input, step) => {
        const start = new Date(input.window.start.getTime() + step * 5 * minuteMs)
        const explanation = explainRejected(input, start)
        if (explanation.type === 'acceptable') return
        expect(explanation.reasons).not.toEqual([])
        for (const reason of explanation.reasons) {
          if (reason.type !== 'required_missing') continue
          const person = input.required.find(({ participantId }) => participantId === reason.participantId)
          for (const stretch of reason.stretches) {
            const because = person && absenceAt(person, stretch.start)
            expect(because).toBeDefined()
            expect(stretch.start >= start && stretch.start < stretch.end).toBe(true)
          }
        }
      }),
      { numRuns: 200 },
    )
  })
})

describe('any start that is offered', () => {
  test.each([
    ['Asia/Kathmandu', '2026-06-01T00:00Z'],
    ['Australia/Eucla', '2026-06-01T00:00Z'],
    ...clockChanges,
  ])('is on a round time of the clock in %s around %s', (zone, around) => {
    fc.assert(
      fc.property(anyInputAround(new Date(around), [zone]), (input) => {
        const result = findTimes({ ...input, required: [], slotsMax: 1_000 })
        const slots = result.type === 'found' ? result.slots : []
        for (const { start } of slots) {
          const clock = shown(start, zone)
          const minute = Number(clock.slice(11, 13)) * 60 + Number(clock.slice(14, 16))
          expect(minute % (input.grainMs / minuteMs)).toBe(0)
        }
      }),
      { numRuns: 40 },
    )
  })

  test('does not depend on people who are free', () => {
    fc.assert(
      fc.property(anyInputAround(time('09:00'), ['Europe/Berlin']), (input) => {
        const free = { held: [], bufferBeforeMs: 120 * minuteMs, bufferAfterMs: 120 * minuteMs }
        const known = { type: 'known', busy: [] } as const
        const everywhere = { start: new Date(0), end: new Date(100 * 365 * dayMs) }
        const stated = { type: 'stated', free: [everywhere] } as const
        const more = [
          { ...free, participantId: 'known', time: known },
          { ...free, participantId: 'stated', time: stated, allowed: [everywhere] },
        ]
        expect(findTimes({ ...input, required: [...input.required, ...more] })).toEqual(findTimes(input))
      }),
      { numRuns: 200 },
    )
  })
})
