/**
 * Spans, for whoever runs a tracing backend. Where none is named there are none, and nothing of OpenTelemetry is loaded:
 * its libraries cost more memory than the rest of an idle process may.
 */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanBegin {
  /** The traceparent under which it hangs, judged by trace.ts. Absent: it begins a trace. */
  readonly parent?: string | undefined
  readonly kind: 'server' | 'internal' | 'client'
  /** Names, codes and counts; never a person, a token or a body. */
  readonly attributes?: SpanAttributes
  /** When it began, if not now. */
  readonly at?: Date
}

export interface SpanEnd {
  /** A better name than it began with. */
  readonly name?: string
  readonly attributes?: SpanAttributes
  readonly failed?: boolean
  readonly at?: Date
}

export interface Span {
  /** What is sent on to whoever is called because of it; undefined only where nothing was received and none is made. */
  readonly traceParent: string | undefined
  event(name: string, attributes?: SpanAttributes): void
  /** Only what has ended is exported. Ends once; later calls are ignored. */
  end(end?: SpanEnd): void
}

export interface Spans {
  begin(name: string, begin: SpanBegin): Span
  /** Exports what has ended. */
  close(): Promise<void>
}

/** Passes every trace on as it came. */
export const noSpans: Spans = {
  begin: (_name, { parent }) => ({ traceParent: parent, event: () => undefined, end: () => undefined }),
  close: () => Promise.resolve(),
}

export interface SpanOptions {
  /** The process's kind, e.g. `api`. */
  readonly service: string
  /** The base address of an OTLP/HTTP receiver; undefined: no spans. */
  readonly endpoint: string | undefined
  readonly onError: (error: unknown) => void
}

export const openSpans = async ({ endpoint, ...options }: SpanOptions): Promise<Spans> => {
  if (endpoint === undefined) return noSpans
  const { otlpSpans } = await import('./otlp.ts')
  return otlpSpans({ ...options, endpoint })
}
