import { randomBytes } from 'node:crypto'

/** A W3C trace context, as it came in or as it was begun here. */
export interface TraceContext {
  /** The header's whole value, to be passed on unchanged. */
  readonly traceParent: string
  readonly traceId: string
}

/** W3C Trace Context, 3.2: version, trace id, parent id, flags; a later version may append more after a dash. */
const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/

/**
 * The trace that a request belongs to. A malformed header is treated as absent, as the standard asks, and a new trace
 * is begun. We record no spans of our own, so the caller's span stays the parent of what follows.
 */
export const traceContextOf = (header: string | undefined): TraceContext => {
  const [, version, traceId, parentId, more] = TRACE_PARENT.exec(header ?? '') ?? []
  const known = version !== 'ff' && !(version === '00' && more !== undefined)
  if (header !== undefined && header.length <= 255 && known && isSet(traceId) && isSet(parentId)) {
    return { traceParent: header, traceId }
  }
  const begun = randomBytes(16).toString('hex')
  return { traceParent: `00-${begun}-${randomBytes(8).toString('hex')}-01`, traceId: begun }
}

/** An id of zeros only is the standard's way to say that there is none. */
const isSet = (id: string | undefined): id is string => id !== undefined && /[1-9a-f]/.test(id)
