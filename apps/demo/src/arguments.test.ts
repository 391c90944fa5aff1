import { expect, test } from '@jest/globals'
import { readArguments } from './arguments.ts'

test.each([
  [[], { type: 'run', once: false, json: undefined }],
  [['--once'], { type: 'run', once: true, json: undefined }],
  [['--once', '--json', 'out.json'], { type: 'run', once: true, json: 'out.json' }],
  [['--json=out.json'], { type: 'run', once: false, json: 'out.json' }],
  [['--help'], { type: 'help' }],
  [['-h'], { type: 'help' }],
])('%j is understood', (args, expected) => {
  expect(readArguments(args)).toEqual(expected)
})

test.each([
  [['--jsn', 'x'], 'there is no option --jsn'],
  [['-x'], 'there is no option -x'],
  [['once'], 'there is no argument once'],
  [['--once=yes'], '--once takes no value'],
  [['--json'], '--json needs the name of a file'],
  [['--json='], '--json needs the name of a file'],
  [['--json', '--once'], '--json needs the name of a file'],
])('%j is refused in one sentence', (args, reason) => {
  expect(readArguments(args)).toEqual({ type: 'unusable', reason })
})
