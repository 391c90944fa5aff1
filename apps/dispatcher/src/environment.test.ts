import { readEnv } from '@aftercommit/platform/env'
import { expect, test } from '@jest/globals'
import { databaseOf, DispatcherEnv, retentionOf } from './environment.ts'

const least = { DISPATCHER_DATABASE_URL: 'postgresql://dispatcher@pooler/aftercommit', SEALING_KEYS: 'k1:…' }

test('what has ended is kept for half a year, what was left undone for more than one, unless told otherwise', () => {
  expect(retentionOf(readEnv(DispatcherEnv, least))).toEqual({
    succeededDays: 180,
    suppressedDays: 400,
    supersededDays: 400,
  })
  const told = { ...least, KEEP_SUCCEEDED_DAYS: '7', KEEP_SUPPRESSED_DAYS: '0', KEEP_SUPERSEDED_DAYS: '0' }
  expect(retentionOf(readEnv(DispatcherEnv, told))).toEqual({ succeededDays: 7 })
})

test('behind a pooler statements have no names, and the ear goes past it', () => {
  expect(databaseOf(readEnv(DispatcherEnv, least))).toMatchObject({ preparedStatements: true })
  const direct = 'postgresql://dispatcher@primary/aftercommit'
  const env = readEnv(DispatcherEnv, {
    ...least,
    PREPARED_STATEMENTS: 'false',
    DISPATCHER_LISTEN_URL: direct,
  })
  expect(databaseOf(env)).toMatchObject({
    url: least.DISPATCHER_DATABASE_URL,
    listenUrl: direct,
    preparedStatements: false,
    silenceMaxMs: 60_000,
  })
})

test('a silence shorter than a transaction may last is refused by name', () => {
  expect(() => readEnv(DispatcherEnv, { ...least, DATABASE_SILENCE_MAX_MS: '1000' })).toThrow(
    'DATABASE_SILENCE_MAX_MS',
  )
})
