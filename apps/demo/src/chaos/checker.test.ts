import { describe, expect, test } from '@jest/globals'
import { check, type PromiseName } from './checker.ts'
import type { Seen } from './seen.ts'
import { at, effect, note, request, row, wellSeen } from './seen.testing.ts'
import { judge } from './verdict.ts'

/** The promises found broken, each with the ids of its offenders. */
const brokenBy = (spoilt: Partial<Seen>): Partial<Record<PromiseName, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(check({ ...wellSeen, ...spoilt }))
      .filter(([, offences]) => offences.length > 0)
      .map(([name, offences]) => [name, offences.map(({ id }) => id)]),
  )

const without = (action: string) => wellSeen.rows.filter((each) => each.action !== `scheduling.${action}`)
const withRow = (id: string, change: Partial<Seen['rows'][number]>) =>
  wellSeen.rows.map((each) => (each.id === id ? { ...each, ...change } : each))

test('a run in which everything went well breaks no promise', () => {
  expect(brokenBy({})).toEqual({})
})

describe('what is lost is named', () => {
  test('an acknowledged request that is not there', () => {
    const [asked] = wellSeen.asked
    expect(brokenBy({ asked: asked ? [{ ...asked, about: 'Chaos 9' }] : [] })).toEqual({ lost: ['Chaos 9'] })
  })

  test.each(['write_event', 'read_back_event', 'watch_event'])(
    'a change without the %s row that follows it',
    (action) => {
      expect(brokenBy({ rows: without(action) }).lost).toContain('booked')
    },
  )

  test('a proof without the message about it', () => {
    expect(brokenBy({ rows: wellSeen.rows.filter(({ id }) => id !== '3') }).lost).toEqual(['booked'])
  })

  test('a meeting on its way that no row moves on', () => {
    const meetings = wellSeen.meetings.map((each) =>
      each.id === 'booked' ? { ...each, state: 'verifying' } : each,
    )
    expect(brokenBy({ meetings })).toEqual({ lost: ['booked'] })
  })

  test('a message settled as delivered that never came', () => {
    expect(brokenBy({ told: wellSeen.told.slice(1) })).toEqual({ lost: ['3'] })
  })

  test('a confirmed meeting without an event, and a cancelled one with it', () => {
    const ledger = [effect('event_created', 2)]
    expect(brokenBy({ ledger })).toEqual({ lost: ['booked', 'called_off'] })
  })

  test('an event that stands at another time than was approved', () => {
    const moved = effect('event_patched', 1, { start: '2030-01-15T09:00:00.000Z' })
    expect(brokenBy({ ledger: [...wellSeen.ledger, moved] })).toEqual({ lost: ['booked'] })
  })
})

describe('what is made twice is named', () => {
  test('a request that opened two meetings', () => {
    const meetings = [
      ...wellSeen.meetings,
      { id: 'again', purpose: 'Chaos 1', state: 'no_overlap', standingProposalId: null },
    ]
    expect(brokenBy({ meetings })).toEqual({ doubled: ['Chaos 1'] })
  })

  test('an operation with two events', () => {
    const ledger = [...wellSeen.ledger, effect('event_created', 1, { eventId: 'event3' })]
    expect(brokenBy({ ledger })).toEqual({ doubled: ['operation1'] })
  })

  test('a message under two ids', () => {
    expect(brokenBy({ told: [...wellSeen.told, ...wellSeen.told.slice(0, 1)] })).toEqual({
      doubled: ['meeting.confirmed booked p1'],
    })
  })

  test('an event that nobody approved', () => {
    const ledger = [...wellSeen.ledger, effect('event_created', 1, { eventId: 'stray', operationId: 'none' })]
    expect(brokenBy({ ledger })).toEqual({ doubled: ['stray'] })
  })
})

describe('a write repeated blindly is named', () => {
  test('after an answer that was lost', () => {
    const requests = [
      request('events.insert', null),
      request('freebusy.query', 200),
      request('events.insert', 200),
    ]
    expect(brokenBy({ requests })).toEqual({ blind: ['google ada@google.example'] })
  })

  test('and not after a refusal, which proves that nothing was written', () => {
    expect(brokenBy({ requests: [request('events.insert', 429), request('events.insert', 200)] })).toEqual({})
  })
})

describe('a stale holder is named', () => {
  const lost = note({
    stateBefore: 'leased',
    fenceBefore: '1',
    fenceAfter: '2',
    leaseUntil: at(9),
    login: 'second',
  })

  test('when it settles what was taken over', () => {
    const late = note({
      op: 'removed',
      stateBefore: 'leased',
      stateAfter: null,
      fenceBefore: '2',
      fenceAfter: null,
    })
    expect(brokenBy({ holds: [note({}), lost, late] })).toEqual({ stale: ['1'] })
    expect(brokenBy({ holds: [note({}), lost, { ...late, login: 'second' }] })).toEqual({})
  })

  test('when it marks as begun what was taken over', () => {
    expect(
      brokenBy({ holds: [note({}), lost, note({ op: 'started', stateBefore: 'leased', fenceBefore: '2' })] }),
    ).toEqual({
      stale: ['1'],
    })
  })

  test('when it settles a row that has been given back', () => {
    const late = note({ stateBefore: 'ready', stateAfter: 'scheduled', fenceBefore: '3', fenceAfter: '4' })
    expect(brokenBy({ holds: [note({}), lost, late] })).toEqual({ stale: ['1'] })
  })

  test('when it settles an unknown outcome, unless the question about it ends with it', () => {
    const late = note({ op: 'removed', stateBefore: 'outcome_unknown', stateAfter: null })
    const answer = note({ rowId: '8', op: 'removed', targetId: '1', stateBefore: 'leased', stateAfter: null })
    expect(brokenBy({ holds: [late] })).toEqual({ stale: ['1'] })
    expect(brokenBy({ holds: [note({ rowId: '8' }), answer, late] })).toEqual({})
  })
})

describe('a clock that was trusted is named', () => {
  test('by a lease that was cut short', () => {
    const hasty = note({ stateBefore: 'leased', leaseUntil: at(11), login: 'second' })
    expect(brokenBy({ holds: [note({}), hasty] })).toEqual({ early: ['1'] })
  })

  test('by work begun before its time', () => {
    expect(brokenBy({ rows: withRow('3', { notBefore: at(59) }) })).toEqual({ early: ['3'] })
  })
})

describe('what overtakes is named', () => {
  test('a row begun before the one ahead of it had ended', () => {
    expect(brokenBy({ rows: withRow('6', { startedAt: at(10) }) })).toEqual({ order: ['6'] })
  })

  test('an effect after the cancellation of its event', () => {
    const ledger = [...wellSeen.ledger, effect('event_patched', 2), effect('event_cancelled', 2)]
    expect(brokenBy({ ledger })).toEqual({ order: ['event2'] })
  })
})

test('a row that stands still is named', () => {
  const rows = [
    ...wellSeen.rows,
    row(8, 'cancel_event', { state: 'waiting', outcome: null, startedAt: null, endedAt: null }),
  ]
  expect(brokenBy({ rows })).toEqual({ stuck: ['8'] })
})

test('a run that did too little fails although it broke nothing', () => {
  const offences = check(wellSeen)
  expect(judge(offences, [{ name: 'dispatchers killed', count: 1, atLeast: 1 }]).passed).toBe(true)
  expect(judge(offences, [{ name: 'dispatchers killed', count: 0, atLeast: 1 }]).passed).toBe(false)
})
