import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, expect, test } from '@jest/globals'
import { noSpans, openSpans } from '@aftercommit/platform/spans'
import { useDatabase } from '@aftercommit/testing'
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from './otlp-receiver.testing.ts'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, operationsOf } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const fail = (error: unknown): never => {
  throw error
}

let receiver: OtlpReceiver | undefined
afterEach(async () => {
  await world.control.clearFaults()
  await receiver?.stop()
  receiver = undefined
})

test('every call to a provider carries the trace of the request that caused it', async () => {
  const story = await openStory(world, database)
  await story.drainUntil('awaiting_approval')
  const requests = await world.control.readRequests()
  // Mail has no header for it.
  const calls = requests.filter(({ operation, provider }) => operation !== 'token' && provider !== 'mail')
  expect(calls.length).toBeGreaterThanOrEqual(3)
  const traces = new Set(calls.map(({ traceparent }) => traceparent?.split('-')[1]))
  expect(traces.size).toBe(1)
  expect([...traces][0]).toMatch(/^[0-9a-f]{32}$/)
})

/** The whole story told to a receiver, with a write whose answer is lost. */
const tellStory = async () => {
  const collector = await startOtlpReceiver()
  receiver = collector
  const spansOf = (service: string) => openSpans({ service, endpoint: collector.endpoint, onError: fail })
  const spans = { api: await spansOf('api'), dispatcher: await spansOf('dispatcher') }
  const dispatcher = world.createDispatcher({ spans: spans.dispatcher })
  const story = await openStory(world, database, { spans: spans.api, dispatcher })
  const { address } = story.cast.ada
  const act = { type: 'drop', when: 'after_effect' } as const
  await world.control.addFault({
    id: randomUUID(),
    provider: 'google',
    operation: operationsOf.google.insert,
    address,
    act,
  })
  await story.drainUntil('awaiting_approval')
  await story.approve()
  await story.drainUntil('confirmed')
  await Promise.all([spans.api.close(), spans.dispatcher.close()])
  return { story, received: collector }
}

const named = (spans: readonly ReceivedSpan[], name: string): readonly ReceivedSpan[] =>
  spans.filter((span) => span.name === name)

test('one trace joins the request, every attempt that it caused, and every call of these', async () => {
  const { story, received } = await tellStory()
  const [request, ...more] = named(received.spans, 'POST /v1/meetings')
  if (!request || more.length > 0) throw new Error(received.spans.map(({ name }) => name).join(', '))
  expect(request).toMatchObject({
    service: 'aftercommit-api',
    attributes: { 'http.route': '/v1/meetings', 'http.response.status_code': 201 },
  })
  expect(request.parentSpanId ?? '').toBe('')

  const trace = received.spans.filter(({ traceId }) => traceId === request.traceId)
  const attempts = trace.filter(({ attributes }) => 'aftercommit.kind' in attributes)
  const calls = trace.filter(({ attributes }) => 'aftercommit.operation' in attributes)
  expect(trace).toHaveLength(1 + attempts.length + calls.length)
  expect(new Set(attempts.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([request.spanId]))
  const attemptIds = new Set(attempts.map(({ spanId }) => spanId))
  expect(calls.filter(({ parentSpanId }) => !attemptIds.has(parentSpanId ?? ''))).toEqual([])

  const ended = (await story.trace()).entries.filter(({ type }) => type === 'attempt')
  expect(attempts).toHaveLength(ended.length)
})

test('an attempt tells its steps, how it ended, and that this was committed', async () => {
  const { received } = await tellStory()
  const [write, ...again] = named(received.spans, 'scheduling.write_event')
  const [question] = named(received.spans, 'scheduling.write_event#reconcile')
  expect(again).toEqual([])
  expect(write?.attributes).toMatchObject({ 'aftercommit.kind': 'effect', 'aftercommit.outcome': 'unknown' })
  const steps = write?.events.map(({ name }) => name)
  expect(steps).toEqual(['prepare', 'perform', 'performed', 'settle', 'committed'])
  expect(question?.attributes).toMatchObject({
    'aftercommit.kind': 'reconcile',
    'aftercommit.outcome': 'done',
  })
  expect(question?.events.map(({ name }) => name)).toEqual(steps)

  const insert = named(received.spans, 'google events.insert')[0]
  expect(insert?.parentSpanId).toBe(write?.spanId)
  expect(insert?.attributes['aftercommit.outcome']).toMatch(/^uncertain:/)
  // What the provider saw hangs under the attempt as well.
  const requests = await world.control.readRequests()
  const seen = requests.findLast(({ operation }) => operation === operationsOf.google.insert)
  expect(seen?.traceparent).toBe(`00-${write?.traceId}-${write?.spanId}-01`)
})

test('no span holds an address, a name, a token or a word of the meeting', async () => {
  const { story, received } = await tellStory()
  expect(received.raw.length).toBeGreaterThan(1_000)
  const { ada, ben, chen } = story.cast
  const secrets = [ada, ben, chen].flatMap(({ address, refreshToken }) => [address, refreshToken])
  for (const secret of [...secrets, '@', 'Lovelace', 'Contract review', story.client.webhookSecret]) {
    expect(received.raw).not.toContain(secret)
  }
})

test('a trace that its caller did not sample is passed on and leaves no spans', async () => {
  const collector = await startOtlpReceiver()
  receiver = collector
  const spans = await openSpans({ service: 'api', endpoint: collector.endpoint, onError: fail })
  const traceId = randomBytes(16).toString('hex')
  const span = spans.begin('x', { parent: `00-${traceId}-${'1'.repeat(16)}-00`, kind: 'server' })
  span.end()
  await spans.close()
  expect(span.traceParent?.slice(3, 35)).toBe(traceId)
  expect(span.traceParent?.endsWith('-00')).toBe(true)
  expect(collector.spans).toEqual([])
})

test('a receiver that is away is reported and stops nothing', async () => {
  const errors: unknown[] = []
  const gone = await startOtlpReceiver()
  await gone.stop()
  const spans = await openSpans({
    service: 'api',
    endpoint: gone.endpoint,
    onError: (error) => void errors.push(error),
  })
  spans.begin('x', { kind: 'server' }).end()
  await spans.close()
  expect(errors.length).toBeGreaterThan(0)
})

test('without a receiver there are no spans, and a trace is passed on as it came', async () => {
  const spans = await openSpans({ service: 'api', endpoint: undefined, onError: fail })
  expect(spans).toBe(noSpans)
  const parent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
  expect(spans.begin('x', { parent, kind: 'server' }).traceParent).toBe(parent)
})
