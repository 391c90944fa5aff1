import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { supersede } from './enqueue.ts'
import { done, type Outcome } from './index.ts'
import { observedMoves, legal } from './moves.testing.ts'
import { replayDeadLetter } from './operate.ts'
import { mendKey } from './sql.ts'
import { stateDiagram } from './state-diagram.testing.ts'
import {
  askable,
  GRACE_MS,
  handle,
  handleAskable,
  HOUR,
  inTurn,
  MINUTE,
  requestsOf,
  safe,
  useStage,
} from './stage.testing.ts'

const stage = useStage()

const dead: Outcome<unknown> = { type: 'dead', class: 'terminal', code: 'no' }
const unknown: Outcome<unknown> = { type: 'unknown', code: 'lost', correlation: {} }
const retry: Outcome<unknown> = { type: 'retry', code: 'busy' }

const inAnHour = async (): Promise<Date> => {
  const { rows } = await stage.database.owner.query<{ at: Date }>(
    `select app_now() + interval '1 hour' as at`,
  )
  const [row] = rows
  if (!row) throw new Error('the database tells the time')
  return row.at
}

const pause = (account: string) =>
  stage.database.owner.query(
    `insert into outbox_account_pause values ($1, app_now() + interval '1 hour', 'rate_limited')
     on conflict (account) do update set until = excluded.until`,
    [account],
  )

const edit = async (tenant: string, id: string, ...actions: readonly { readonly name: string }[]) =>
  stage.database.api.transact(tenant, (tx) =>
    supersede(
      tx,
      { type: 'thing', id },
      actions.map(({ name }) => name),
      'edited',
    ),
  )

/** Scenes that between them make every move there is. */
const scenes: Readonly<Record<string, () => Promise<void>>> = {
  'ends of every kind': async () => {
    const action = safe()
    await stage.enqueue(requestsOf(action, [1, 2, 3, 4]))
    const ends: Outcome<unknown>[] = [
      done(1),
      { type: 'suppressed', reason: 'consent_denied' },
      { type: 'obsolete', reason: 'moved_on' },
      dead,
    ]
    await stage
      .engine([handle(action, { perform: ({ n }) => Promise.resolve(ends[n - 1] ?? dead) })])
      .engine.drain()
  },
  'retries, lost leases and rests': async () => {
    const action = safe()
    const account = 'rests'
    await stage.enqueue(requestsOf(action, [1, 2], { account }))
    await stage.engine([handle(action, { perform: inTurn(retry) })]).engine.drain()
    const lost = await stage.enqueue(requestsOf(action, [3]))
    await stage.untilDeath((mortal) => [
      handle(action, {
        perform: () => {
          mortal.die()
          return Promise.resolve(done(1))
        },
      }),
    ])
    await pause(account)
    await stage.database.advanceClock(2 * MINUTE)
    const throttled: Outcome<unknown> = { type: 'throttled', code: 'slow_down', afterMs: HOUR }
    const { engine } = stage.engine([handle(action, { perform: inTurn(retry, done(1)) })])
    await engine.drain()
    await stage.database.advanceClock(2 * HOUR)
    await engine.drain()
    const again = await stage.enqueue(requestsOf(action, [5, 6, 7], { account: 'throttled' }))
    const { engine: slow } = stage.engine([handle(action, { perform: inTurn(throttled) })], {
      laneByName: { [action.lane]: { concurrency: 1, claimMax: 1 } },
    })
    await slow.tick()
    expect(await stage.states(again.id)).toEqual(['5:paused', '6:paused', '7:paused'])
    await edit(again.tenant, again.id, action)
    expect(await stage.live(lost.id)).toEqual([])
  },
  'edits of what is pending': async () => {
    const action = safe({ keyed: true })
    const loose = safe()
    const at = await stage.enqueue(requestsOf(action, [1, 2]))
    await stage.enqueue(requestsOf(loose, [3], { notBefore: await inAnHour() }), at)
    await edit(at.tenant, at.id, action, loose)
  },
  'promotions to every state': async () => {
    const action = safe({ keyed: true })
    const at = await stage.enqueue(requestsOf(action, [1]))
    await stage.enqueue(requestsOf(action, [2], { notBefore: await inAnHour() }), at)
    await stage.enqueue(requestsOf(action, [3], { account: 'promoted' }), at)
    await stage.enqueue(requestsOf(action, [4]), at)
    const { engine } = stage.engine([handle(action)])
    await engine.drain()
    await stage.database.advanceClock(HOUR)
    await pause('promoted')
    await engine.drain()
    await stage.database.advanceClock(2 * HOUR)
    await engine.drain()
  },
  'deaths, what they hold, and replays': async () => {
    const action = safe({ keyed: true })
    const held = async (facets = {}) => {
      const at = await stage.enqueue(requestsOf(action, [1], facets))
      await stage.enqueue(requestsOf(action, [2, 3]), at)
      await stage.engine([handle(action, { perform: inTurn(dead) })]).engine.drain()
      return { ...at, letter: (await stage.dead(at.id))[0]?.id ?? '' }
    }
    const replay = (tenant: string, id: string) =>
      stage.database.operator.transact(tenant, (tx) => replayDeadLetter(tx.sql, { id, by: 'o', reason: 'r' }))
    const first = await held()
    await replay(first.tenant, first.letter)
    const second = await held({ account: 'replayed' })
    await pause('replayed')
    await replay(second.tenant, second.letter)
    const third = await held()
    await edit(third.tenant, third.id, action)
    await stage.engine([handle(action)]).engine.drain()
  },
  'answers that were lost': async () => {
    const answers = ['found', 'absent', 'conflicting', 'absent_at_rest'] as const
    const action = askable()
    const ats = new Map<string, (typeof answers)[number]>()
    for (const answer of answers) {
      const facets = answer === 'absent_at_rest' ? { account: 'asked' } : {}
      ats.set((await stage.enqueue(requestsOf(action, [1], facets))).id, answer)
    }
    const { engine } = stage.engine([
      handleAskable(action, {
        perform: inTurn(unknown, unknown, unknown, unknown, done(1)),
        ask: ({ id }) => {
          const answer = ats.get(id)
          if (answer === 'found') return Promise.resolve({ type: 'found', facts: 1 })
          if (answer === 'conflicting') return Promise.resolve({ type: 'conflicting', code: 'twice' })
          return Promise.resolve({ type: 'absent' })
        },
      }),
    ])
    await engine.tick()
    await stage.database.advanceClock(GRACE_MS + 1_000)
    const asking = engine.tick()
    await pause('asked')
    await asking
    await engine.drain()
  },
  'rows that run ahead of their predecessor, and the sweep that finds them': async () => {
    const action = safe({ keyed: true })
    const at = await stage.enqueue(requestsOf(action, [1, 2, 3, 4]))
    await stage.database.owner.query(
      `update outbox set state = (array['ready', 'scheduled', 'paused'])[(payload->>'n')::int - 1]::outbox_state
       where aggregate_id = $1 and payload->>'n' <> '1'`,
      [at.id],
    )
    await mendKey(stage.database.dispatcher, { tenantId: at.tenant, key: `thing:${at.id}` })
    expect(await stage.states(at.id)).toEqual(['1:ready', '2:waiting', '3:waiting', '4:waiting'])
  },
  'a row that is paused while it is held by a worker': async () => {
    const action = safe()
    await stage.enqueue(requestsOf(action, [1], { account: 'leased' }))
    const { engine } = stage.engine([
      handle(action, {
        perform: async () => {
          await pause('leased')
          return retry
        },
      }),
    ])
    await engine.tick()
  },
}

test('rows make every move that is legal, and no other', async () => {
  for (const play of Object.values(scenes)) await play()
  expect(new Set(await observedMoves(stage.database.owner))).toEqual(legal)
})

test('the state diagram in the documentation is the table in the code', async () => {
  const page = await readFile(
    fileURLToPath(new URL('../../../docs/outbox-states.md', import.meta.url)),
    'utf8',
  )
  expect(page).toContain(stateDiagram())
})
