/** What makes one possible time better than another: a small closed vocabulary. */
import { z } from 'zod'
import { askedOf } from './values.ts'

const PREFERRED_MAX = 14

const CLOCK_RULE = 'must be a time of day as HH:mm, such as 09:00'

const PreferredTimes = z
  .strictObject({
    startsAt: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, CLOCK_RULE)
      .meta({
        description: "The earliest start, by the clock of the meeting's `timeZone`.",
        examples: ['09:00'],
      }),
    endsAt: z
      .string()
      .regex(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, `${CLOCK_RULE}, or 24:00`)
      .meta({ description: 'The latest end, on the same day; 24:00 is midnight.', examples: ['12:00'] }),
    days: z
      .array(z.int().min(1).max(7))
      .min(1)
      .max(7)
      .default([1, 2, 3, 4, 5, 6, 7])
      .meta({
        description: 'ISO days of the week: 1 is Monday, 7 is Sunday. Left out, every day.',
        examples: [[1, 2, 3, 4, 5]],
      }),
  })
  // Times of this shape sort as text.
  .refine(({ startsAt, endsAt }) => startsAt < endsAt, {
    path: ['endsAt'],
    error: 'must be later than startsAt, on the same day',
    ...askedOf('startsAt', 'endsAt'),
  })

/** Each divides an hour, so that meetings start at the same minutes of every hour. */
const START_EVERY_MINUTES = [5, 10, 15, 20, 30, 60] as const

export const Preferences = z
  .strictObject({
    first: z
      .enum(['optional_attendance', 'preferred_times', 'start'])
      .default('optional_attendance')
      .meta({
        description:
          'What counts most, among times that all required people have: how many optional people can come, or whether the time is among `prefer`; the other one counts next. With `start`, only how early or late it is.',
        examples: ['optional_attendance'],
      }),
    order: z
      .enum(['earliest', 'latest'])
      .default('earliest')
      .meta({
        description: 'Which of times that are otherwise equally good is taken.',
        examples: ['earliest'],
      }),
    prefer: z
      .array(PreferredTimes)
      .min(1)
      .max(PREFERRED_MAX)
      .optional()
      .meta({
        description:
          "Times of day that are liked better, all of them equally, by the clock of the meeting's `timeZone`. A meeting is within them from start to end.",
        examples: [[{ startsAt: '09:00', endsAt: '12:00', days: [1, 2, 3, 4, 5] }]],
      }),
    spread: z
      .enum(['apart', 'different_days'])
      .default('apart')
      .meta({
        description:
          'How far alternatives are from the proposed time and from each other: they do not overlap, or each is on another day.',
        examples: ['apart'],
      }),
    startEveryMinutes: z
      .literal(START_EVERY_MINUTES)
      .default(15)
      .meta({
        description:
          "Meetings start on whole multiples of this, by the clock of the meeting's `timeZone`: 30 means on the hour and half past.",
        examples: [15],
      }),
  })
  .refine(({ first, prefer }) => first !== 'start' || prefer === undefined, {
    path: ['prefer'],
    error: 'has no effect when `first` is `start`',
  })
  .meta({ description: 'Which of the possible times is proposed. Required people come before any of it.' })
export type Preferences = z.output<typeof Preferences>

/** What holds for a meeting that has none. */
export const defaultPreferences: Preferences = Preferences.parse({})

const BUFFER_MAX_MINUTES = 120

const buffer = (side: string) =>
  z
    .int()
    .min(0)
    .max(BUFFER_MAX_MINUTES)
    .optional()
    .meta({
      description: `Minutes that this person keeps free right ${side} the meeting, from anything else in their calendar.`,
      examples: [15],
    })

/** What one person keeps free around the meeting. */
export const buffers = {
  bufferBeforeMinutes: buffer('before'),
  bufferAfterMinutes: buffer('after'),
}
