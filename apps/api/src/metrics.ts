import type { Registry } from '@aftercommit/platform/metrics'
import { Histogram } from 'prom-client'

export interface HttpMetrics {
  observe(request: {
    readonly route: string
    readonly method: string
    readonly status: number
    readonly durationMs: number
  }): void
}

/** A client may send any word as a method; a label must not grow by it. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Durations by route template, method and class of status: every label comes from a closed set. */
export const httpMetrics = (registry: Registry): HttpMetrics => {
  const durations = new Histogram({
    name: 'aftercommit_http_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its answer.',
    labelNames: ['route', 'method', 'status_class'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  return {
    observe: ({ route, method, status, durationMs }) =>
      durations.observe(
        {
          route,
          method: METHODS.has(method) ? method : 'other',
          status_class: `${Math.floor(status / 100)}xx`,
        },
        durationMs / 1000,
      ),
  }
}
