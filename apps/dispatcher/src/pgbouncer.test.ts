import { openDb, type Db } from '@aftercommit/platform/db'
import { useDatabase, type TestDatabase } from '@aftercommit/testing'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { poolerIsThere, startPooler, type Pooler } from './pgbouncer.testing.ts'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, proposeStory, type Story } from './story.testing.ts'

/** Skipped, and counted as such, on a machine without it. */
const testThrough = poolerIsThere ? test : test.skip
const reason = poolerIsThere ? '' : ' (PgBouncer is not on the PATH)'

const database = useDatabase()
const opened: { pooler?: Pooler; api?: Db; dispatcher?: Db } = {}
beforeAll(async () => {
  if (!poolerIsThere) return
  const { api, dispatcher } = database.urls
  const pooler = await startPooler([api, dispatcher])
  const options = { preparedStatements: false, connectionsMax: 10 }
  Object.assign(opened, {
    pooler,
    api: openDb({ ...options, url: pooler.through(api), applicationName: 'test pooled api' }),
    dispatcher: openDb({
      ...options,
      url: pooler.through(dispatcher),
      listenUrl: dispatcher,
      applicationName: 'test pooled dispatcher',
    }),
  })
})
afterAll(async () => {
  await Promise.all([opened.api?.close(), opened.dispatcher?.close()])
  await opened.pooler?.stop()
})

const part = <K extends keyof typeof opened>(key: K): NonNullable<(typeof opened)[K]> => {
  const value = opened[key]
  if (value === undefined) throw new Error('the pooler is opened in beforeAll')
  return value
}
const pooled: TestDatabase = {
  get api() {
    return part('api')
  },
  get dispatcher() {
    return part('dispatcher')
  },
  get operator() {
    return database.operator
  },
  get owner() {
    return database.owner
  },
  get urls() {
    return database.urls
  },
  createTenant: () => database.createTenant(),
  advanceClock: (ms) => database.advanceClock(ms),
}
const world = useSchedulingWorld(pooled)

const reach = async (story: Story, state: string): Promise<void> => {
  while ((await story.view()).state.type !== state) await new Promise((resolve) => setTimeout(resolve, 20))
}

testThrough(
  `through PgBouncer in transaction mode, meetings at once are each confirmed, with one event${reason}`,
  async () => {
    const errors: unknown[] = []
    const dispatchers = [1, 2].map(() =>
      world.createDispatcher({
        report: (event) => {
          if (event.type === 'error') errors.push(event)
        },
      }),
    )
    const stories = await Promise.all(
      (['google', 'microsoft', 'google', 'microsoft'] as const).map((organizer) =>
        openStory(world, pooled, { organizer, approval: 'automatic' }),
      ),
    )
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.start()))
    await Promise.all(stories.map((story) => reach(story, 'confirmed')))
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop(10_000)))
    expect(await Promise.all(stories.map((story) => story.created()))).toEqual([1, 1, 1, 1])
    expect(errors).toEqual([])
  },
)

testThrough(
  `a person’s approval, and whatever a transaction sets, stay in their transaction${reason}`,
  async () => {
    const story = await proposeStory(world, pooled)
    await story.approve()
    await story.drainUntil('confirmed')
    expect(await story.created()).toBe(1)
    const left = `select current_setting('aftercommit.tenant', true) as tenant,
        current_setting('idle_in_transaction_session_timeout') as idle, pg_sleep(0.01)`
    for (const db of [pooled.api, pooled.dispatcher]) {
      const looks = await Promise.all(Array.from({ length: 10 }, () => db.query(left)))
      for (const { rows } of looks) expect(rows).toMatchObject([{ idle: '0' }])
      expect(looks.filter(({ rows }) => Boolean(rows[0]?.tenant))).toEqual([])
    }
  },
)

testThrough(
  `a dispatcher that listens past the pooler hears of work that no poll would find in time${reason}`,
  async () => {
    const dispatcher = world.createDispatcher({ pollMs: 600_000 })
    await dispatcher.start()
    const story = await openStory(world, pooled)
    await reach(story, 'awaiting_approval')
    await dispatcher.stop(10_000)
  },
)

testThrough(
  `one that listens through the pooler hears nothing, says so, and finds its work by polling${reason}`,
  async () => {
    const db = openDb({
      url: part('pooler').through(database.urls.dispatcher),
      applicationName: 'test deaf dispatcher',
      preparedStatements: false,
    })
    const deaf: string[] = []
    const dispatcher = world.createDispatcher({
      db,
      report: (event) => {
        if (event.type === 'error') deaf.push(`${event.where}: ${String(event.error)}`)
      },
    })
    await dispatcher.start()
    const story = await openStory(world, pooled)
    await reach(story, 'awaiting_approval')
    while (deaf.length === 0) await new Promise((resolve) => setTimeout(resolve, 100))
    expect(deaf[0]).toContain('does not hear its own hints')
    await dispatcher.stop(10_000)
    await db.close()
  },
)
