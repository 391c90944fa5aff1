import { expect, test } from '@jest/globals'
import { isUnavailable } from './unavailable.ts'

const withCode = (code: string, cause?: unknown) => Object.assign(new Error(code, { cause }), { code })

test.each([
  ['a refused connection', withCode('ECONNREFUSED')],
  ['a shutdown of the server', withCode('57P01')],
  ['a standby that takes no writes yet', withCode('25006')],
  ['too many connections', withCode('53300')],
  ['a transaction that got no connection', withCode('P2028')],
  ['a pool that waited in vain', new Error('timeout exceeded when trying to connect')],
  ['a cause', new Error('query failed', { cause: withCode('ECONNRESET') })],
  ['several addresses that failed', new AggregateError([withCode('ENETUNREACH'), withCode('ECONNREFUSED')])],
])('%s says that the database is away', (_what, error) => {
  expect(isUnavailable(error)).toBe(true)
})

test.each([
  ['a broken constraint', withCode('23505')],
  ['an unknown table', withCode('42P01')],
  ['an error without a code', new Error('x')],
  ['no error at all', 'ECONNREFUSED'],
  ['nothing', undefined],
])('%s does not', (_what, error) => {
  expect(isUnavailable(error)).toBe(false)
})
