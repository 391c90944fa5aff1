/** The action that does nothing, as the contenders of this repository run it. */
import { defineAction, done, go, handlerOf, payloadHandlerOf, type Registration } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { z } from 'zod'

const Payload = z.object({ id: z.uuid(), n: z.int(), pad: z.string() })

interface Shape {
  readonly name: string
  readonly lane: string
}

export const noOpIn = ({ name, lane }: Shape) =>
  defineAction({
    name,
    payload: Payload,
    payloadVersion: 1,
    policyVersion: 1,
    lane,
    subject: ({ id }) => ({ type: 'thing', id }),
    identity: ({ n }) => String(n),
    repeat: 'safe',
    onPredecessorDead: 'run',
    leaseMs: 60_000,
    attemptsMax: 3,
    elapsedMaxMs: 3_600_000,
    backoff: { baseMs: 1_000, maxMs: 10_000 },
    repairOwner: 'operations',
  })

export const noOp = noOpIn({ name: 'bench.do_nothing', lane: 'bench' })

/** Tells which row has begun, and is done. As the peers' handlers, it is given its payload and reads nothing first. */
export const doingNothing = (action: typeof noOp, handled: (n: number) => void): Registration<Tx> =>
  payloadHandlerOf<Tx>()(action, {
    perform: ({ payload }) => {
      handled(payload.n)
      return Promise.resolve(done(undefined))
    },
  })

/** The same, but first each row is looked at again in a transaction of its tenant: what every domain here does. */
export const preparingNothing = (action: typeof noOp, handled: (n: number) => void): Registration<Tx> =>
  handlerOf<Tx>()(action, {
    prepare: (_tx, { payload }) => Promise.resolve(go(payload.n)),
    perform: (n) => {
      handled(n)
      return Promise.resolve(done(undefined))
    },
  })
