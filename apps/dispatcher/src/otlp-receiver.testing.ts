/** A receiver of spans as OTLP/HTTP sends them: JSON to /v1/traces. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

const Attribute = z.object({
  key: z.string(),
  value: z.union([
    z.object({ stringValue: z.string() }).transform(({ stringValue }) => stringValue),
    // OTLP's JSON writes 64-bit integers as text or as numbers.
    z.object({ intValue: z.coerce.number() }).transform(({ intValue }) => intValue),
    z.object({ boolValue: z.boolean() }).transform(({ boolValue }) => boolValue),
    z.object({ doubleValue: z.number() }).transform(({ doubleValue }) => doubleValue),
  ]),
})
const Attributes = z
  .array(Attribute)
  .default([])
  .transform((list) => Object.fromEntries(list.map(({ key, value }) => [key, value])))

const SpanJson = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  startTimeUnixNano: z.coerce.bigint(),
  endTimeUnixNano: z.coerce.bigint(),
  attributes: Attributes,
  events: z.array(z.object({ name: z.string(), attributes: Attributes })).default([]),
})
const Export = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: Attributes }),
      scopeSpans: z.array(z.object({ spans: z.array(SpanJson) })),
    }),
  ),
})
export type ReceivedSpan = z.output<typeof SpanJson> & { readonly service: unknown }

export interface OtlpReceiver {
  readonly endpoint: string
  readonly spans: readonly ReceivedSpan[]
  /** Everything that was sent, as it was sent. */
  readonly raw: string
  stop(): Promise<void>
}

export const startOtlpReceiver = async (): Promise<OtlpReceiver> => {
  const spans: ReceivedSpan[] = []
  let raw = ''
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request)
      if (request.method !== 'POST' || request.url !== '/v1/traces') return void response.writeHead(404).end()
      raw += body
      for (const { resource, scopeSpans } of Export.parse(JSON.parse(body)).resourceSpans) {
        const service = resource.attributes['service.name']
        for (const { spans: sent } of scopeSpans) spans.push(...sent.map((span) => ({ ...span, service })))
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    get raw() {
      return raw
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
