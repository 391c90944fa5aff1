import { expect, test } from '@jest/globals'
import { handle, HOUR, MINUTE, requestsOf, safe, useStage } from './stage.testing.ts'

const stage = useStage()
const GRACE_MS = 15 * MINUTE

/** A replica that has lived since `ageMs` ago and knows these actions. */
const replica = async (actions: readonly string[], ageMs: number, seenMsAgo = 0): Promise<void> => {
  await stage.database.owner.query(
    `insert into outbox_replica (replica_id, actions, started_at, seen_at)
     values (gen_random_uuid(), $1, app_now() - make_interval(secs => $2::float8 / 1000),
       app_now() - make_interval(secs => $3::float8 / 1000))`,
    [actions, ageMs, seenMsAgo],
  )
}
const forgetReplicas = () => stage.database.owner.query('delete from outbox_replica')

test('an action that no replica has known for the grace becomes a dead letter, and blocks nobody', async () => {
  await forgetReplicas()
  const stranger = safe({ keyed: true, onPredecessorDead: 'run' })
  const known = safe({ keyed: true })
  const { engine } = stage.engine([handle(known)])
  const { id } = await stage.enqueue((id) => [
    ...requestsOf(stranger, [1])(id),
    ...requestsOf(known, [2])(id),
  ])
  await replica([known.name], HOUR)
  await engine.drain()
  expect(await stage.states(id)).toEqual(['1:ready', '2:waiting'])

  await stage.database.advanceClock(GRACE_MS + MINUTE)
  await forgetReplicas()
  await replica([known.name], HOUR)
  await engine.drain()
  expect(await stage.dead(id)).toMatchObject([{ n: 1, code: 'unknown_action', owner: 'operations' }])
  // The successor declared to wait for a person when its predecessor dies.
  expect(await stage.states(id)).toEqual(['2:held'])
})

test('a fleet that has only just come up is given the grace to know an action', async () => {
  await forgetReplicas()
  const stranger = safe()
  const { engine } = stage.engine([handle(safe())])
  const { id } = await stage.enqueue(requestsOf(stranger, [1]))
  await stage.database.advanceClock(GRACE_MS + MINUTE)
  await replica([], MINUTE)
  await engine.drain()
  expect(await stage.states(id)).toEqual(['1:ready'])
})

test('an action that a replica knew until a moment ago is not unknown', async () => {
  await forgetReplicas()
  const stranger = safe()
  const { engine } = stage.engine([handle(safe())])
  const { id } = await stage.enqueue(requestsOf(stranger, [1]))
  await stage.database.advanceClock(GRACE_MS + MINUTE)
  await replica([], HOUR)
  await replica([stranger.name], HOUR, 5 * MINUTE)
  await engine.drain()
  expect(await stage.states(id)).toEqual(['1:ready'])
})

test('a retired action becomes a dead letter at once', async () => {
  const retired = safe()
  const { engine } = stage.engine([handle(safe())], { retiredActions: [retired.name] })
  const { id } = await stage.enqueue(requestsOf(retired, [1]))
  await engine.drain()
  expect(await stage.dead(id)).toMatchObject([{ n: 1, code: 'unknown_action' }])
})

test('a row of an unknown action whose holder died is buried too', async () => {
  await forgetReplicas()
  const retired = safe()
  const { engine } = stage.engine([handle(safe())], { retiredActions: [retired.name] })
  const { id } = await stage.enqueue(requestsOf(retired, [1]))
  await stage.database.owner.query(
    `update outbox set state = 'leased', lease_until = app_now() + interval '1 minute' where aggregate_id = $1`,
    [id],
  )
  await engine.drain()
  expect(await stage.states(id)).toEqual(['1:leased'])
  await stage.database.advanceClock(2 * MINUTE)
  await engine.drain()
  expect(await stage.dead(id)).toMatchObject([{ n: 1, code: 'unknown_action' }])
})
