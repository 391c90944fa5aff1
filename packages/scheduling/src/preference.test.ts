import { describe, expect, test } from '@jest/globals'
import type { z } from 'zod'
import { ada, ben, intentInput } from './cast.testing.ts'
import { IntentDraft } from './intent.ts'
import { defaultPreferences, Preferences } from './preference.ts'

const mornings = { startsAt: '09:00', endsAt: '12:00' }

const refusal = (input: unknown, schema: z.ZodType = Preferences): readonly string[] => {
  const result = schema.safeParse(input)
  return result.success ? [] : result.error.issues.map(({ path }) => path.join('.'))
}

describe('preferences', () => {
  test('left out are: most optional people, then the earliest, at quarters of an hour', () => {
    expect(defaultPreferences).toEqual({
      first: 'optional_attendance',
      order: 'earliest',
      spread: 'apart',
      startEveryMinutes: 15,
    })
  })

  test('of times of day hold on every day, unless days are named', () => {
    expect(Preferences.parse({ prefer: [mornings] }).prefer).toEqual([
      { ...mornings, days: [1, 2, 3, 4, 5, 6, 7] },
    ])
    expect(Preferences.parse({ prefer: [{ ...mornings, days: [2] }] }).prefer).toEqual([
      { ...mornings, days: [2] },
    ])
  })

  test.each([
    ['an unknown word', { first: 'cheapest' }, 'first'],
    ['an unknown order', { order: 'random' }, 'order'],
    ['an unknown field', { mornings: true }, ''],
    ['starts that differ from hour to hour', { startEveryMinutes: 7 }, 'startEveryMinutes'],
    ['no times at all', { prefer: [] }, 'prefer'],
    ['more times than there can be', { prefer: Array.from({ length: 15 }, () => mornings) }, 'prefer'],
    ['times past midnight', { prefer: [{ startsAt: '22:00', endsAt: '02:00' }] }, 'prefer.0.endsAt'],
    ['a time that no clock shows', { prefer: [{ startsAt: '09:60', endsAt: '12:00' }] }, 'prefer.0.startsAt'],
    ['an eighth day', { prefer: [{ ...mornings, days: [8] }] }, 'prefer.0.days.0'],
    ['times that could not count', { first: 'start', prefer: [mornings] }, 'prefer'],
  ])('of %s are refused', (_, input, path) => {
    expect(refusal(input)).toContain(path)
  })

  test('are those of an intent, and its people keep time free', () => {
    const input = intentInput({
      preferences: { order: 'latest' },
      participants: [
        { displayName: 'Ada', role: 'required', ...ada, bufferBeforeMinutes: 0, bufferAfterMinutes: 120 },
      ],
    })
    const intent = IntentDraft.parse(input)
    expect(intent.preferences).toEqual({ ...defaultPreferences, order: 'latest' })
    expect(intent.participants[0]).toMatchObject({ bufferBeforeMinutes: 0, bufferAfterMinutes: 120 })
  })

  test.each([[-1], [121], [7.5], ['15']])('of %p minutes kept free are refused', (bufferBeforeMinutes) => {
    const person = { displayName: 'Ben', role: 'required', ...ben, bufferBeforeMinutes }
    expect(refusal(intentInput({ participants: [person] }), IntentDraft)).toEqual([
      'participants.0.bufferBeforeMinutes',
    ])
  })
})
