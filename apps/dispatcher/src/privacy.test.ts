import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from '@jest/globals'
import type { EngineEvent } from '@aftercommit/outbox/engine'
import type { Log, LogFields } from '@aftercommit/platform/log'
import { useDatabase } from '@aftercommit/testing'
import { reportTo } from './report.ts'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, operationsOf, type Provider, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const texts = {
  purpose: 'Merger with Initech',
  location: 'Milton Street 4, cellar',
  instruction: 'Find an hour with Ben before the board hears of it',
}

const linesOf = (): { readonly lines: string[]; readonly report: (event: EngineEvent) => void } => {
  const lines: string[] = []
  const write = (message: string, fields: LogFields = {}): void =>
    void lines.push(JSON.stringify({ message, ...fields }))
  const log: Log = { info: write, warn: write, error: write }
  return { lines, report: reportTo(log) }
}

/** Everything that any outbox table holds, whatever its columns are called. */
const outboxText = async (): Promise<string> => {
  const { rows: tables } = await database.owner.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace
       and relkind in ('r', 'p') and not relispartition and relname like 'outbox%'`,
  )
  const contents = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await database.owner.query<{ row: string }>(
        `select to_jsonb(t)::text as row from ${name} t`,
      )
      return rows.map(({ row }) => row)
    }),
  )
  return contents.flat().join('\n')
}

const domainText = async (): Promise<string> => {
  const { rows } = await database.owner.query<{ row: string }>(
    `select to_jsonb(m)::text as row from meeting m union all select to_jsonb(p)::text from participant p`,
  )
  return rows.map(({ row }) => row).join('\n')
}

const personalData = ({ cast, client }: Story): readonly string[] => [
  ...Object.values(texts),
  'Lovelace',
  'Bitdiddle',
  'Wenyuan',
  ...[cast.ada, cast.ben, cast.chen].flatMap(({ address, refreshToken }) => [
    address,
    address.slice(0, address.indexOf('@')),
    refreshToken,
  ]),
  client.webhookSecret,
]

const trouble = (story: Story, provider: Provider) =>
  world.control.addFault({
    id: randomUUID(),
    provider,
    operation: operationsOf[provider].insert,
    address: story.cast.ada.address,
    act: { type: 'drop', when: 'after_effect' },
  })

test('no row of the outbox, no log line and no trace names anybody or quotes anything', async () => {
  const { lines, report } = linesOf()
  const dispatcher = world.createDispatcher({ report })
  const tell = (organizer: Provider, more: Parameters<typeof openStory>[2] = {}) =>
    openStory(world, database, { organizer, approval: 'automatic', intent: texts, dispatcher, ...more })

  // Booked in spite of a lost answer; refused because of an attendee; waiting for an answer; unreadable.
  const booked = [await tell('google'), await tell('microsoft')]
  await trouble(booked[0] ?? (await tell('google')), 'google')
  await trouble(booked[1] ?? (await tell('microsoft')), 'microsoft')
  const refused = [
    await tell('google', { chen: { invitable: false } }),
    await tell('microsoft', { chen: { invitable: false } }),
  ]
  const incomplete = await tell('google', { intent: { ...texts, timeZone: undefined } })
  const unreadable = await tell('google', { ben: { readable: 'no_access' } })
  await world.control.addFault({
    id: randomUUID(),
    provider: 'webhook',
    operation: 'webhook.deliver',
    address: incomplete.client.webhookName,
    act: { type: 'answer', status: 400, body: `no ${texts.purpose} for ${incomplete.cast.ada.address}` },
  })
  // A caller's header that says more than a trace.
  await incomplete.client
    .post('/v1/meetings', { ...texts })
    .set('traceparent', incomplete.cast.ada.address)
    .expect(400)

  for (const story of booked) await story.drainUntil('confirmed', { ms: 31_000, max: 3 })
  for (const story of [...refused, unreadable]) await story.drainUntil('in_repair', { ms: 31_000, max: 3 })
  await incomplete.drainUntil('incomplete')

  const stories = [...booked, ...refused, incomplete, unreadable]
  const traces = await Promise.all(
    stories.map(async ({ client, meetingId }) => {
      const answer = await client.get(`/v1/meetings/${meetingId}/trace`).expect(200)
      const { instruction, ...rest } = answer.body as { instruction: string }
      expect(instruction).toBe(texts.instruction)
      return JSON.stringify(rest)
    }),
  )
  const rows = await outboxText()
  const domain = await domainText()
  expect(rows).toContain('"outbox_id"')
  expect(rows).toContain('invalid_attendee')
  expect(lines.length).toBeGreaterThan(30)
  for (const story of stories) {
    // What is looked for is there to be found: in the tables of the domain, which the tenant's own rows are.
    expect(domain).toContain(story.cast.ben.address)
    for (const datum of personalData(story)) {
      expect(rows).not.toContain(datum)
      expect(lines.join('\n')).not.toContain(datum)
      expect(traces.join('\n')).not.toContain(datum)
    }
  }
  for (const text of [rows, lines.join('\n'), traces.join('\n')]) {
    expect(text).not.toMatch(/Bearer|whsec_|[\w.+-]+@[\w-]+\.example/)
  }
})

test('a trace context that is one is kept, and nothing else that a caller sends in its place', async () => {
  const story = await openStory(world, database)
  const viewed = await story.client.get(`/v1/meetings/${story.meetingId}`)
  const { intent } = viewed.body as { intent: object }
  const keptOf = async (traceParent: string): Promise<readonly (string | null)[]> => {
    const answer = await story.client.post('/v1/meetings', intent).set('traceparent', traceParent).expect(201)
    const { id } = answer.body as { id: string }
    const { rows } = await database.owner.query<{ trace_parent: string | null }>(
      'select distinct trace_parent from outbox where aggregate_id = $1',
      [id],
    )
    return rows.map(({ trace_parent }) => trace_parent)
  }
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const [kept] = await keptOf(`00-${traceId}-b7ad6b7169203331-01`)
  expect(kept).toContain(traceId)
  for (const smuggled of [
    'ada@google.example',
    `00-${traceId}-b7ad6b7169203331-01-ada@google.example`,
    '00-00000000000000000000000000000000-b7ad6b7169203331-01',
  ]) {
    for (const traceParent of await keptOf(smuggled)) {
      expect(traceParent ?? '').not.toMatch(/@|0{32}/)
    }
  }
})
