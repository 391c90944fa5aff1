/** The one place where a W3C trace context is judged. Whoever stores or sends one has it from here. */
import { randomBytes } from 'node:crypto'

/** A W3C trace context, as it came in or as it was begun here. */
export interface TraceContext {
  /** The header's whole value, in the form that this server sends on. */
  readonly traceParent: string
  readonly traceId: string
}

/** W3C Trace Context, 3.2: version, trace id, parent id, flags; a later version may append more after a dash. */
const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const LENGTH_MAX = 255
const SAMPLED = 0b1

/**
 * The trace that a header speaks of; undefined when it is malformed, which the standard treats like an absent one. What
 * a later version appends, and flags that we do not know, are left out, as the standard asks of who sends on what it
 * knows (4.3): only numbers remain, so that it may be stored and logged.
 */
export const receivedTrace = (header: string | undefined): TraceContext | undefined => {
  if (header === undefined || header.length > LENGTH_MAX) return undefined
  const [, version, traceId, parentId, flags = '', more] = TRACE_PARENT.exec(header) ?? []
  const known = version !== undefined && version !== 'ff' && !(version === '00' && more !== undefined)
  if (!known || !isSet(traceId) || !isSet(parentId)) return undefined
  return contextOf({ traceId, spanId: parentId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED })
}

/** The same, or a new trace when there is none. */
export const traceContextOf = (header: string | undefined): TraceContext =>
  receivedTrace(header) ??
  contextOf({
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    sampled: true,
  })

export interface SpanPlace {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

export const contextOf = ({ traceId, spanId, sampled }: SpanPlace): TraceContext => ({
  traceParent: `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`,
  traceId,
})

/** Where a judged trace context points to. Throws for any other: that is a defect. */
export const placeOf = (traceParent: string): SpanPlace => {
  const [, , traceId, spanId, flags = ''] = TRACE_PARENT.exec(traceParent) ?? []
  if (traceId === undefined || spanId === undefined) throw new Error('a trace context that nobody judged')
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED }
}

/** An id of zeros only is the standard's way to say that there is none. */
const isSet = (id: string | undefined): id is string => id !== undefined && /[1-9a-f]/.test(id)
