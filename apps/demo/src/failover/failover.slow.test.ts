import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { urlOf } from '@aftercommit/local-postgres'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { z } from 'zod'
import { check } from '../chaos/checker.ts'
import { chaosClient, type ChaosClient } from '../chaos/client.ts'
import { startCrew, type Crew } from '../chaos/crew.ts'
import { createChaosDatabase, type ChaosDatabase } from '../chaos/database.ts'
import { drain } from '../chaos/drain.ts'
import { startLoad } from '../chaos/load.ts'
import { lookAround, RECEIVER } from '../chaos/look.ts'
import { meetingAt } from '../chaos/plan.ts'
import { copyBundles, rosterOf, type Roster } from '../chaos/roster.ts'
import { asSuperuser, startPair, until, type Node, type Pair } from './pair.testing.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
/** As the chaos database is called. */
const DATABASE = 'aftercommit_chaos'
const LEASE_MS = 6_000
const DRAIN_MAX_MS = 60_000
const LOOK_EVERY_MS = 20

let folder: string
let pair: Pair
let database: ChaosDatabase
let roster: Roster
let crew: Crew
let client: ChaosClient
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'aftercommit-failover-run-'))
  await copyBundles(root, folder, (bundle) => bundle)
  pair = await startPair()
  database = await createChaosDatabase(pair.url, join(root, 'prisma', 'migrations'))
  await pair.commitTogether()
  roster = rosterOf(folder)
  crew = await startCrew({ roster, database, leaseMs: LEASE_MS, dispatchers: 2 })
  client = chaosClient(crew.apiUrl, database.tenant.apiKey)
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  await crew.control.putWebhookSettings(RECEIVER, { secret })
  await client.post(
    '/v1/webhook-endpoints',
    { url: `${crew.simulatorUrl}/webhooks/${RECEIVER}`, secret },
    RECEIVER,
  )
}, 90_000)
afterAll(async () => {
  client.giveUp()
  await roster.stop()
  await database.owner.close()
  await pair.stop()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

/** Straight to one server, whatever the address leads to. */
const on = <T>(node: Node, work: Parameters<typeof asSuperuser<T>>[1]): Promise<T> =>
  asSuperuser(urlOf(node.url, { database: DATABASE }), work)

const confirmed = `select from meeting where state = 'confirmed' offset`
/** Somebody holds rows and has begun on them. */
const inTheMidst = `select from outbox where state = 'leased' and started_at is not null`

test('the primary dies in mid-load, the standby takes over, and nothing is lost or doubled', async () => {
  const load = startLoad({ seed: 1, client, control: crew.control })
  await on(pair.primary, async (connection) => {
    await until(connection, `${confirmed} 5`)
    await until(connection, inTheMidst)
  })
  await pair.killPrimary()
  const told = acknowledged(client)
  // Somebody asks while there is nobody to write, and goes on asking until there is.
  const before = client.unanswered()
  const asking = load.open(meetingAt(1, 1_000_000))
  while (client.unanswered() === before) await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  await pair.promote()

  // Before anybody else can write there: all that a client was told of is on the new primary, with what must follow.
  const there = await on(pair.standby, async (connection) => {
    const { rows } = await connection.query(
      `select m.meeting_id as id from meeting m
       where exists (select from outbox_identity i join outbox o on o.id = i.outbox_id where o.aggregate_id = m.meeting_id)
         or exists (select from outbox_history h where h.aggregate_id = m.meeting_id)`,
    )
    return new Set(
      z
        .array(z.object({ id: z.string() }))
        .parse(rows)
        .map(({ id }) => id),
    )
  })
  expect(told.length).toBeGreaterThan(5)
  expect(told.filter((id) => !there.has(id))).toEqual([])

  pair.address.leadTo(pair.standby.port)
  await on(pair.standby, (connection) => until(connection, `${confirmed} ${there.size}`))

  // An old primary that comes back as it was can take connections, and can acknowledge nothing.
  await pair.startOldPrimary()
  const astray = on(pair.primary, (connection) =>
    connection.query(`insert into tenant (tenant_id, name) values (gen_random_uuid(), 'Astray')`),
  ).then(
    () => 'acknowledged',
    () => 'refused',
  )
  await on(pair.primary, (connection) =>
    until(connection, `select from pg_stat_activity where wait_event = 'SyncRep'`),
  )
  await pair.rebuild()
  expect(await astray).toBe('refused')
  expect(await asking).toBeDefined()

  await load.stop()
  await crew.control.putWebhookSettings(RECEIVER, { secret: null })
  const { unrest } = await drain(database.owner, DRAIN_MAX_MS, new AbortController().signal)
  const seen = await lookAround(database.owner, crew.control, client.asked)
  expect({ unrest, ...check(seen) }).toEqual({
    unrest: undefined,
    lost: [],
    doubled: [],
    blind: [],
    stale: [],
    order: [],
    early: [],
    stuck: [],
  })
  expect(seen.ledger.filter(({ effect }) => effect === 'event_created').length).toBeGreaterThan(5)
  // The same processes went on.
  expect((await roster.logsOf('dispatcher')).every((log) => log.includes('"level":"error"'))).toBe(true)
  expect([...crew.workers.values()].map(({ running }) => running.child.exitCode)).toEqual([null, null])
}, 180_000)

const acknowledged = ({ asked }: ChaosClient): readonly string[] =>
  asked.flatMap(({ path, answer }) =>
    path === '/v1/meetings' && answer?.status === 201
      ? [z.object({ id: z.string() }).parse(answer.body).id]
      : [],
  )
