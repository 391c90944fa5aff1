import { describe, expect, test } from '@jest/globals'
import type { CallFailure, RefusalReason } from '@aftercommit/providers/call'
import type { Calendar } from '@aftercommit/providers/calendar'
import { ids } from '../cast.testing.ts'
import type { CalendarConnection } from '../store.ts'
import {
  deadOutOfReach,
  outcomeOfFailedRead,
  outcomeOfFailedWrite,
  passes,
  reachCalendar,
  type World,
} from './world.ts'

const refused = (reason: RefusalReason, code: string = reason): CallFailure => ({
  type: 'refused',
  reason,
  code,
  status: 400,
})

describe('a failure that proves that nothing was done means the same for reads and writes', () => {
  const cases: readonly [CallFailure, object][] = [
    [
      { type: 'not_sent', code: 'econnrefused' },
      { type: 'retry', code: 'econnrefused' },
    ],
    [
      { type: 'not_sent', code: 'token', retryAfterMs: 5_000 },
      { type: 'retry', code: 'token', afterMs: 5_000 },
    ],
    [
      { type: 'throttled', code: 'rateLimitExceeded', retryAfterMs: 7_000 },
      { type: 'throttled', code: 'rateLimitExceeded', afterMs: 7_000 },
    ],
    [
      { type: 'throttled', code: 'rateLimitExceeded', retryAfterMs: undefined },
      { type: 'throttled', code: 'rateLimitExceeded', afterMs: 60_000 },
    ],
    [
      refused('grant_revoked'),
      { type: 'dead', class: 'permission', code: 'grant_revoked', owner: 'calendar_owner' },
    ],
    [refused('forbidden'), { type: 'dead', class: 'permission', code: 'forbidden', owner: 'calendar_owner' }],
    [refused('unauthenticated'), { type: 'retry', code: 'unauthenticated' }],
    [
      refused('invalid_attendee', 'invalid'),
      { type: 'dead', class: 'validation', code: 'invalid_attendee', owner: 'organizer' },
    ],
    [refused('invalid', 'timeRangeEmpty'), { type: 'dead', class: 'validation', code: 'timeRangeEmpty' }],
    [refused('not_found', 'notFound'), { type: 'dead', class: 'validation', code: 'notFound' }],
    [refused('conflict'), { type: 'retry', code: 'conflict' }],
    [refused('stale'), { type: 'retry', code: 'stale' }],
    [refused('quota_exhausted'), { type: 'retry', code: 'quota_exhausted', afterMs: 3_600_000 }],
  ]
  test.each(cases)('%j', (failure, outcome) => {
    expect(outcomeOfFailedRead(failure)).toEqual(outcome)
    expect(outcomeOfFailedWrite(failure)).toEqual(outcome)
  })
})

describe('a failure that proves nothing', () => {
  const cases: readonly Extract<CallFailure, { type: 'uncertain' | 'malformed' }>[] = [
    { type: 'uncertain', code: 'deadline_exceeded' },
    { type: 'malformed', code: 'event_shape' },
  ]
  test.each(cases)('is made again by a read and asked about by a write: %j', (failure) => {
    const { code } = failure
    expect(outcomeOfFailedRead(failure)).toEqual({ type: 'retry', code })
    expect(outcomeOfFailedWrite(failure)).toEqual({ type: 'unknown', code, correlation: {} })
  })

  test('keeps what it claimed, for the day its claim is shown to be true', () => {
    const failure = {
      type: 'uncertain',
      code: 'ErrorInvalidRecipients',
      claimed: 'invalid_attendee',
    } as const
    expect(outcomeOfFailedWrite(failure)).toEqual({
      type: 'unknown',
      code: 'ErrorInvalidRecipients',
      correlation: { claimed: 'invalid_attendee' },
    })
  })
})

describe('one calendar that a provider did not tell of', () => {
  test.each([
    ['internal', true],
    ['missing', true],
    ['not_found', false],
    ['no_access', false],
    ['too_many_entries', false],
    ['other', false],
  ] as const)('is asked again only if that may help: %s %s', (reason, expected) => {
    expect(passes({ type: 'unknown', reason, code: reason })).toBe(expected)
  })
})

describe('a connection', () => {
  const connection: CalendarConnection = {
    id: ids.connection(),
    provider: 'google',
    address: 'ada@google.example',
    sealedCredential: new Uint8Array(),
    state: 'active',
  }
  const unreached = (): never => {
    throw new Error('nobody is called here')
  }
  const calendar: Calendar = {
    provider: 'google',
    readFreeBusy: unreached,
    insertEvent: unreached,
    readEvent: unreached,
    findEvents: unreached,
    updateEvent: unreached,
    cancelEvent: unreached,
  }
  const worldWith = (calendarOf: World['calendarOf']): World => ({
    calendarOf,
    webhooks: { deliver: unreached },
    webhookSecretOf: unreached,
    post: undefined,
    callTimeoutMs: 1,
  })

  test('in order is in reach, under the address that was connected', () => {
    const world = worldWith(() => ({ type: 'opened', calendar }))
    expect(reachCalendar(world, 'tenant', connection)).toEqual({
      type: 'in_reach',
      calendar,
      address: connection.address,
      account: connection.id,
    })
  })

  test('revoked or gone is never opened, and its owner must act', () => {
    const world = worldWith(unreached)
    for (const lost of [undefined, { ...connection, state: 'revoked' } as const]) {
      const access = reachCalendar(world, 'tenant', lost)
      expect(access).toEqual({ type: 'out_of_reach', code: 'grant_revoked' })
    }
    expect(deadOutOfReach({ code: 'grant_revoked' })).toEqual({
      type: 'dead',
      class: 'permission',
      code: 'grant_revoked',
      owner: 'calendar_owner',
    })
  })

  test('whose credential cannot be opened is a matter of whoever keeps the keys', () => {
    const world = worldWith(() => ({ type: 'unreadable' }))
    const access = reachCalendar(world, 'tenant', connection)
    expect(access).toEqual({ type: 'out_of_reach', code: 'credential_unreadable' })
    expect(deadOutOfReach({ code: 'credential_unreadable' })).toMatchObject({
      class: 'permission',
      owner: 'operations',
    })
  })
})
