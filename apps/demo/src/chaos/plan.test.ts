import { expect, test } from '@jest/globals'
import { meetingAt, roundAt, type Step } from './plan.ts'

const rounds = (seed: number) => [1, 2, 3].map((round) => roundAt(seed, round))
const meetings = (seed: number) => Array.from({ length: 50 }, (_, n) => meetingAt(seed, n + 1))

test('a seed gives the same plan again, and another seed another one', () => {
  expect(rounds(7)).toEqual(rounds(7))
  expect(meetings(7)).toEqual(meetings(7))
  expect(rounds(7)).not.toEqual(rounds(8))
  expect(meetings(7)).not.toEqual(meetings(8))
})

test('every round has every kind of step', () => {
  const kinds: readonly Step['type'][] = [
    'cancel_behind_write',
    'crash_database',
    'cut_connections',
    'freeze_dispatcher',
    'freeze_in_call',
    'kill_api',
    'kill_dispatcher',
    'trouble',
  ]
  for (const seed of [1, 2, 3, 99]) {
    for (const round of rounds(seed))
      expect([...new Set(round.map(({ type }) => type))].sort()).toEqual(kinds)
  }
})

test('among a few dozen meetings there is every fate, for organizers at both providers', () => {
  const seen = meetings(1)
  expect(new Set(seen.map(({ fate }) => fate)).size).toBe(5)
  expect(new Set(seen.map(({ organizer }) => organizer)).size).toBe(2)
})
