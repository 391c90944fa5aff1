import { expect, test } from '@jest/globals'
import { contextOf, placeOf, receivedTrace, traceContextOf } from './trace.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

test.each([
  ['the version of today', `00-${TRACE}-${PARENT}-01`, '01'],
  ['an unsampled trace', `00-${TRACE}-${PARENT}-00`, '00'],
  ['a later version', `01-${TRACE}-${PARENT}-01`, '01'],
  ['a later version with more behind', `cc-${TRACE}-${PARENT}-01-what-the-future`, '01'],
  ['flags of which only one is known', `00-${TRACE}-${PARENT}-fe`, '00'],
])('%s goes on in the form of today', (_what, header, flags) => {
  const goesOn = { traceParent: `00-${TRACE}-${PARENT}-${flags}`, traceId: TRACE }
  expect(receivedTrace(header)).toEqual(goesOn)
  expect(traceContextOf(header)).toEqual(goesOn)
})

test.each([
  ['nothing', undefined],
  ['an empty header', ''],
  ['the forbidden version', `ff-${TRACE}-${PARENT}-01`],
  ['more than today’s version has', `00-${TRACE}-${PARENT}-01-more`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['a parent of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['capital letters', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
  ['a short trace', `00-${TRACE.slice(1)}-${PARENT}-01`],
  ['an endless header', `01-${TRACE}-${PARENT}-01-${'x'.repeat(300)}`],
  ['a second line', `00-${TRACE}-${PARENT}-01\r\nx-injected: 1`],
])('%s begins a new trace', (_what, header) => {
  expect(receivedTrace(header)).toBeUndefined()
  const { traceParent, traceId } = traceContextOf(header)
  expect(traceParent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  expect(traceParent.slice(3, 35)).toBe(traceId)
  expect(traceId).not.toBe(TRACE)
})

test('a judged context tells its place, and nothing else does', () => {
  const place = { traceId: TRACE, spanId: PARENT, sampled: false }
  expect(placeOf(contextOf(place).traceParent)).toEqual(place)
  expect(() => placeOf('a trace')).toThrow('nobody judged')
})
