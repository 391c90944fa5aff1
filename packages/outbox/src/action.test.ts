import type { Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { defineAction, done, go, handlerOf, type Handlers } from './index.ts'
import { registryOf } from './registry.ts'
import { askable, handle, safe } from './stage.testing.ts'

const id = '6a1f7b52-9a0e-4d36-8f4d-1f8a0c1d2e3f'

test('a request carries what the row needs, made from the payload alone', () => {
  const action = safe({ keyed: true })
  expect(action.request({ id, n: 1 }, { account: 'a' })).toEqual({
    action: action.name,
    identity: `${action.name}:${id}:1`,
    payloadVersion: 1,
    policyVersion: 1,
    payload: { id, n: 1 },
    subject: { type: 'thing', id },
    lane: action.lane,
    orderingKey: `thing:${id}`,
    successorRule: 'hold',
    account: 'a',
  })
})

test('a payload that does not fit its action is refused where it is written', () => {
  expect(() => safe().request({ id: 'nobody', n: 1 })).toThrow(z.ZodError)
})

test.each(['a'.repeat(101), 'test.ping#reconcile'])('a name that could not be stored is refused', (name) => {
  expect(() => defineAction({ ...safe(), name })).toThrow('an action’s name')
})

test('two handlers for one action are refused', () => {
  const action = safe()
  expect(() => registryOf([handle(action), handle(action)])).toThrow('registered twice')
})

test('what a catalog’s handlers may not be does not compile', () => {
  const catalog = { quick: safe(), lasting: askable() } as const
  const parts = {
    prepare: () => Promise.resolve(go(undefined)),
    perform: () => Promise.resolve(done(undefined)),
  }
  const reconcile = {
    load: () => Promise.resolve(1),
    ask: () => Promise.resolve({ type: 'absent' as const }),
  }
  const register = handlerOf<Tx>()
  const quick = register(catalog.quick, parts)
  const lasting = register(catalog.lasting, { ...parts, reconcile })
  const complete: Handlers<typeof catalog, Tx> = { quick, lasting }
  // @ts-expect-error an action without a handler
  const missing: Handlers<typeof catalog, Tx> = { quick }
  // @ts-expect-error an action that is asked about, without a way to ask
  register(catalog.lasting, parts)
  // @ts-expect-error a way to ask about an action that is not asked about
  register(catalog.quick, { ...parts, reconcile })
  expect(Object.keys(complete)).toEqual(['quick', 'lasting'])
  expect(missing).toEqual({ quick })
})
