import { expect, test } from '@jest/globals'
import type { Log, LogFields } from '@aftercommit/platform/log'
import { reportTo } from './report.ts'

const collect = () => {
  const lines: (readonly [string, string, LogFields | undefined])[] = []
  const write = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push([level, message, fields])
  const log: Log = { info: write('info'), warn: write('warn'), error: write('error') }
  return { lines, report: reportTo(log) }
}
const action = 'scheduling.write_event'
const settled = { type: 'settled', action, code: undefined, failureClass: undefined, attempts: 1 } as const

test('a dead letter is an error and every other outcome is information', () => {
  const { lines, report } = collect()
  report({ ...settled, outcomeType: 'done' })
  report({ ...settled, outcomeType: 'dead', code: 'grant_revoked', failureClass: 'permission' })
  expect(lines.map(([level, message]) => [level, message])).toEqual([
    ['info', 'settled'],
    ['error', 'settled'],
  ])
  expect(lines[1]?.[2]).toEqual({
    action,
    outcome: 'dead',
    code: 'grant_revoked',
    failureClass: 'permission',
    attempts: 1,
  })
})

test('a claim is no line: there would be one per tick', () => {
  const { lines, report } = collect()
  report({ type: 'claimed', lane: 'calendar', rows: 3 })
  expect(lines).toEqual([])
})

test('a lost lease, a late holder and a row handed back name the action', () => {
  const { lines, report } = collect()
  report({ type: 'lease_lost', action, started: true })
  report({ type: 'stale', action, step: 'settle' })
  report({ type: 'handed_back', action })
  expect(lines).toEqual([
    ['warn', 'lease lost', { action, started: true }],
    ['warn', 'stale', { action, step: 'settle' }],
    ['info', 'handed back', { action }],
  ])
})

test("an error is told by kind and place, never in its own words, which may quote a person's", () => {
  const { lines, report } = collect()
  report({ type: 'error', where: 'perform', error: new TypeError('ada@google.example is not invited') })
  report({ type: 'error', where: 'perform', error: 'ada@google.example' })
  expect(lines.map(([level, message]) => [level, message])).toEqual([
    ['error', 'engine error'],
    ['error', 'engine error'],
  ])
  expect(lines[0]?.[2]).toMatchObject({ where: 'perform', error: 'TypeError' })
  expect(JSON.stringify(lines)).not.toContain('ada@')
})
