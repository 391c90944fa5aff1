import { describe, expect, test } from '@jest/globals'
import { judge, totalsOf, type Seen } from './verdict.ts'

const seen = (change: Partial<Seen>): Seen => ({
  way: 'outbox',
  gap: 'before_call',
  customer: 'leaves',
  answered: true,
  booking: { state: 'confirmed', eventId: 'a' },
  events: ['a'],
  ...change,
})
const verdictOf = (change: Partial<Seen>): string => {
  const { verdict, hidden } = judge(seen(change))
  return `${verdict}${hidden ? ', hidden' : ''}`
}

describe('a booking is judged by what the provider holds', () => {
  test.each<[string, Partial<Seen>, string]>([
    ['one event that is recorded is right', {}, 'right'],
    [
      'nothing at all is right if nobody was told otherwise',
      { answered: false, booking: undefined, events: [] },
      'right',
    ],
    ['a promise without a booking is lost', { booking: undefined, events: [] }, 'lost'],
    ['a confirmed booking without its event is lost and hidden', { events: [] }, 'lost, hidden'],
    ['a pending one is lost and known', { booking: { state: 'pending', eventId: null }, events: [] }, 'lost'],
    ['a second event is one too many', { events: ['a', 'b'] }, 'doubled, hidden'],
    [
      'an event that the booking does not name is unrecorded',
      { booking: { state: 'confirmed', eventId: null } },
      'unrecorded, hidden',
    ],
    ['so is one that it names wrongly', { events: ['b'] }, 'unrecorded, hidden'],
    ['and one that no booking belongs to', { booking: undefined }, 'unrecorded'],
  ])('%s', (_, change, verdict) => {
    expect(verdictOf(change)).toBe(verdict)
  })
})

test('what is wrong is either hidden or known', () => {
  const judged = [{}, { events: [] }, { booking: undefined }].map((change) => judge(seen(change)))
  expect(totalsOf(judged)).toEqual({
    runs: 3,
    right: 1,
    lost: 1,
    doubled: 0,
    unrecorded: 1,
    hidden: 1,
    known: 1,
  })
})
