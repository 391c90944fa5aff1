/** What is known of a request from its first moment: its id, its trace, and how long it takes. */
import { randomUUID } from 'node:crypto'
import { withFields, type Log, type LogFields } from '@aftercommit/platform/log'
import type { Spans } from '@aftercommit/platform/spans'
import { receivedTrace, traceContextOf, type TraceContext } from '@aftercommit/platform/trace'
import type { RequestHandler, Response } from 'express'
import type { HttpMetrics } from './metrics.ts'

export interface RequestFacts extends TraceContext {
  readonly requestId: string
  /** Writes lines that carry the request's id and trace. */
  readonly log: Log
  /** The template of the route that took it, for logs and metrics; never the path, which names things. */
  route?: string
  tenantId?: string
}

const factsByResponse = new WeakMap<Response, RequestFacts>()

/** Throws when `noteRequests` did not run: that is a defect. */
export const factsOf = (response: Response): RequestFacts => {
  const facts = factsByResponse.get(response)
  if (!facts) throw new Error('a request that was not noted')
  return facts
}

/** An id that a proxy or a client gave, if it is one that a log line can carry. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/**
 * The first middleware: every answer carries `x-request-id` and `traceparent`, and every request ends as one line and
 * one measurement. Probes are measured only, or they would be most of the log and of the spans.
 */
export const noteRequests =
  (log: Log, metrics: HttpMetrics, spans: Spans): RequestHandler =>
  (request, response, next) => {
    const startedAt = performance.now()
    const inbound = request.get('x-request-id')
    const requestId = inbound !== undefined && REQUEST_ID.test(inbound) ? inbound : randomUUID()
    const parent = receivedTrace(request.get('traceparent'))?.traceParent
    const span = spans.begin(request.method, { parent, kind: 'server' })
    const trace = traceContextOf(span.traceParent)
    const fields = { requestId, traceId: trace.traceId }
    const facts: RequestFacts = { ...trace, requestId, log: withFields(log, fields) }
    factsByResponse.set(response, facts)
    response.set({
      'x-request-id': requestId,
      traceparent: trace.traceParent,
      'x-content-type-options': 'nosniff',
    })
    response.once('close', () => {
      const route = facts.route ?? 'none'
      const durationMs = Math.round(performance.now() - startedAt)
      const { statusCode: status, writableFinished } = response
      metrics.observe({ route, method: request.method, status, durationMs })
      if (PROBES.has(route)) return
      span.end({
        name: `${request.method} ${route}`,
        failed: status >= 500,
        attributes: {
          'http.request.method': request.method,
          'http.route': route,
          'http.response.status_code': status,
        },
      })
      facts.log.info('request', {
        method: request.method,
        route,
        status,
        durationMs,
        ...(facts.tenantId !== undefined && { tenantId: facts.tenantId }),
        ...(!writableFinished && { aborted: true }),
      } satisfies LogFields)
    })
    next()
  }

export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])
