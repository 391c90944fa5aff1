import { describe, expect, test } from '@jest/globals'
import { personOf } from './cast.testing.ts'
import { explainSlot, SlotExplanation } from './explain.ts'
import { NoOverlap, noOverlapOf } from './no-overlap.ts'
import { at, known, search, searchOf, stated, stretches, unknown, window, working } from './search.testing.ts'
import { ProposalGrounds, proposalGroundsOf } from './slot.ts'

const asked = new Date('2027-03-30T08:00:00Z')
const week = window('2027-03-29T00:00', '2027-04-02T00:00')

describe('why not Tuesday at ten', () => {
  test('names who misses it, why, when, and from what that is known', () => {
    const ben = working('Europe/Berlin', { bufferBeforeMinutes: 15 })
    const chen = personOf()
    const dora = personOf()
    const emil = personOf()
    const evidence = [
      known(ben, [['2027-03-30T07:30:00Z', '2027-03-30T08:00:00Z']]),
      stated(chen, [['2027-03-30T08:30:00Z', '2027-03-30T10:00:00Z']]),
      unknown(dora, 'notFound'),
      known(emil),
    ]
    const held = new Map([[emil.id, stretches([['2027-03-30T08:45:00Z', '2027-03-30T10:00:00Z']])]])
    const retrievedAt = at(-60_000).toISOString()
    const explanation = explainSlot(searchOf([ben, chen, dora, emil], evidence, week, { held }), asked)
    expect(explanation).toEqual({
      type: 'rejected',
      start: '2027-03-30T08:00:00.000Z',
      end: '2027-03-30T09:00:00.000Z',
      reasons: [
        {
          type: 'required_missing',
          participantId: ben.id,
          because: 'buffer',
          words: 'a required person cannot: too close to something else of theirs, by Google calendar',
          stretches: [{ start: '2027-03-30T08:00:00.000Z', end: '2027-03-30T08:15:00.000Z' }],
          evidence: { id: evidence[0]?.id, source: 'google', retrievedAt },
        },
        {
          type: 'required_missing',
          participantId: chen.id,
          because: 'not_stated',
          words: 'a required person cannot: not among the times they named, by reply page',
          stretches: [{ start: '2027-03-30T08:00:00.000Z', end: '2027-03-30T08:30:00.000Z' }],
          evidence: { id: evidence[1]?.id, source: 'reply_page', retrievedAt },
        },
        {
          type: 'required_missing',
          participantId: dora.id,
          because: 'unknown',
          words:
            'a required person cannot: their time is not known (the provider does not know this calendar), by Google calendar',
          stretches: [{ start: '2027-03-30T08:00:00.000Z', end: '2027-03-30T09:00:00.000Z' }],
          evidence: { id: evidence[2]?.id, source: 'google', retrievedAt },
          code: 'notFound',
        },
        {
          type: 'required_missing',
          participantId: emil.id,
          because: 'held',
          words: 'a required person cannot: promised to another meeting',
          stretches: [{ start: '2027-03-30T08:45:00.000Z', end: '2027-03-30T09:00:00.000Z' }],
        },
      ],
    })
    expect(SlotExplanation.parse(JSON.parse(JSON.stringify(explanation)))).toEqual(explanation)
  })

  test('says of somebody of whom nothing was learned that there is no evidence', () => {
    const ben = personOf()
    expect(explainSlot(searchOf([ben], [], week), asked)).toMatchObject({
      reasons: [{ participantId: ben.id, because: 'unknown', code: 'no_evidence' }],
    })
  })

  test('says what the meeting itself rules out', () => {
    const ben = working('Europe/Berlin')
    const odd = new Date('2027-03-19T22:07:00Z')
    expect(explainSlot(searchOf([ben], [known(ben)], week), odd)).toMatchObject({
      type: 'rejected',
      reasons: [
        {
          type: 'outside_window',
          window: { start: '2027-03-28T22:00:00.000Z', end: '2027-04-01T22:00:00.000Z' },
        },
        { type: 'before_earliest_start', earliestStart: '2027-03-20T00:00:00.000Z' },
        // Nothing is said of people outside of the window: their time there was not looked up.
        { type: 'off_grain', everyMinutes: 15, timeZone: 'Europe/Berlin' },
      ],
    })
  })

  test('says of a possible time what comes before it, by what', () => {
    const ben = working('Europe/Berlin')
    const preferences = { prefer: [{ startsAt: '11:00', endsAt: '12:00' }] }
    const explanation = explainSlot(searchOf([ben], [known(ben)], { ...week, preferences }), asked)
    expect(explanation).toMatchObject({
      type: 'acceptable',
      start: '2027-03-30T08:00:00.000Z',
      // Four days at eleven; 29 starts on Monday but that one, and on Tuesday those from nine on.
      rank: 4 + 28 + 4 + 1,
      of: 4 * 29,
      ranking: [
        { criterion: 'preferred_time', value: false },
        { criterion: 'earliest', value: '2027-03-30T08:00:00.000Z' },
      ],
      best: {
        start: '2027-03-29T09:00:00.000Z',
        ranking: [
          { criterion: 'preferred_time', value: true },
          { criterion: 'earliest', value: '2027-03-29T09:00:00.000Z' },
        ],
      },
    })
    expect(SlotExplanation.parse(JSON.parse(JSON.stringify(explanation)))).toEqual(explanation)
  })
})

test('what is kept of a search without an overlap survives being stored', () => {
  const [ben, chen] = [working('Europe/Berlin'), personOf()]
  const { result } = search([ben, chen], [known(ben), stated(chen, [])], week)
  if (result.type !== 'no_overlap') throw new Error(result.type)
  const kept = noOverlapOf(result)
  expect(kept).toMatchObject({
    blockersTruncated: false,
    startsTried: 96 * 4 - 3,
    // Chen alone is missing from nine to five, on four days.
    soleBlockers: [{ participantId: chen.id, starts: 4 * 29 }],
    nearest: [
      {
        start: '2027-03-29T07:00:00.000Z',
        end: '2027-03-29T08:00:00.000Z',
        missingRequired: [{ participantId: chen.id, because: 'not_stated' }],
      },
      {},
      {},
    ],
  })
  expect(kept.blockers[0]).toEqual({
    start: '2027-03-28T22:00:00.000Z',
    end: '2027-03-29T07:00:00.000Z',
    by: [
      { participantId: ben.id, because: 'outside_hours' },
      { participantId: chen.id, because: 'not_stated' },
    ],
    count: 2,
  })
  expect(NoOverlap.parse(JSON.parse(JSON.stringify(kept)))).toEqual(kept)
})

test('what is kept of a proposal survives being stored, with its alternatives', () => {
  const [ben, dora] = [working('Europe/Berlin'), personOf({ role: 'optional' })]
  const { result } = search([ben, dora], [known(ben), unknown(dora, 'notFound')], week)
  if (result.type !== 'found') throw new Error(result.type)
  const [best, ...alternatives] = result.slots
  if (!best) throw new Error('nothing found')
  const kept = proposalGroundsOf(best, alternatives)
  expect(kept).toMatchObject({
    optionalAttending: [],
    optionalMissing: [{ id: dora.id, because: 'unknown' }],
    ranking: [
      { criterion: 'optional_attendance', value: 0 },
      { criterion: 'earliest', value: '2027-03-29T07:00:00.000Z' },
    ],
  })
  expect(kept.alternatives.map(({ start }) => start)).toEqual([
    '2027-03-29T08:00:00.000Z',
    '2027-03-29T09:00:00.000Z',
    '2027-03-29T10:00:00.000Z',
  ])
  expect(ProposalGrounds.parse(JSON.parse(JSON.stringify(kept)))).toEqual(kept)
})
