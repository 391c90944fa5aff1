/** Spans over OTLP/HTTP, in JSON. Loaded only where a receiver is named; see spans.ts. */
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span as OtelSpan,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Span, SpanAttributes, SpanOptions, Spans } from './spans.ts'
import { contextOf, placeOf } from './trace.ts'

/** One export with its repeats. Short, because a process that stops waits for the last one. */
const EXPORT_MAX_MS = 3_000

const kindOf = {
  server: SpanKind.SERVER,
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
} as const

export const otlpSpans = ({
  service,
  endpoint,
  onError,
}: SpanOptions & { readonly endpoint: string }): Spans => {
  // The library's own words may quote what a receiver answered; that they were spoken is enough to know.
  const failed = (): void => onError(new Error('spans were not exported'))
  const quiet = (): void => undefined
  diag.setLogger(
    { error: failed, warn: quiet, info: quiet, debug: quiet, verbose: quiet },
    DiagLogLevel.ERROR,
  )
  const exporter = new OTLPTraceExporter({ url: tracesAt(endpoint), timeoutMillis: EXPORT_MAX_MS })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': `aftercommit-${service}` }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('aftercommit')
  return {
    begin: (name, { parent, kind, attributes, at }) =>
      wrapped(
        tracer.startSpan(
          name,
          {
            kind: kindOf[kind],
            attributes: present(attributes),
            ...(at && { startTime: at }),
            root: parent === undefined,
          },
          contextUnder(parent),
        ),
      ),
    close: () => provider.shutdown().catch(onError),
  }
}

/** The base address with the path that OTLP/HTTP gives to traces. */
const tracesAt = (endpoint: string): string =>
  new URL('v1/traces', endpoint.endsWith('/') ? endpoint : `${endpoint}/`).href

const contextUnder = (parent: string | undefined): Context => {
  if (parent === undefined) return ROOT_CONTEXT
  const { traceId, spanId, sampled } = placeOf(parent)
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

const wrapped = (span: OtelSpan): Span => {
  const { traceId, spanId, traceFlags } = span.spanContext()
  const sampled = (traceFlags & TraceFlags.SAMPLED) !== 0
  let ended = false
  return {
    traceParent: contextOf({ traceId, spanId, sampled }).traceParent,
    event: (name, attributes) => void span.addEvent(name, present(attributes)),
    end: ({ name, attributes, failed, at } = {}) => {
      if (ended) return
      ended = true
      if (name !== undefined) span.updateName(name)
      span.setAttributes(present(attributes))
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(at)
    },
  }
}

const present = (attributes: SpanAttributes = {}): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
