/** What a dispatcher lets be measured: what its engine reports, and samples of what lies in the database. */
import type { EngineEvent } from '@aftercommit/outbox/engine'
import { sampleGauges } from '@aftercommit/outbox/operate'
import type { Sql } from '@aftercommit/platform/db'
import type { Registry } from '@aftercommit/platform/metrics'
import { Counter, Gauge } from 'prom-client'

/**
 * Counts what the engine reports. Every label comes from a closed set: actions and lanes are named in code, outcomes,
 * classes, steps and places are the engine's own words.
 */
export const engineMetrics = (registry: Registry): ((event: EngineEvent) => void) => {
  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name: `aftercommit_${name}`, help, labelNames: [...labelNames], registers: [registry] })
  const claimed = counter('rows_claimed_total', 'Rows claimed.', ['lane'])
  const settled = counter('attempts_settled_total', 'Attempts that came to an outcome.', [
    'action',
    'outcome',
    'failure_class',
  ])
  const stale = counter('stale_holders_total', 'Holders that came too late and changed nothing.', [
    'action',
    'step',
  ])
  const lost = counter('leases_lost_total', 'Leases that ran out before their row was settled.', [
    'action',
    'started',
  ])
  const handedBack = counter('rows_handed_back_total', 'Rows given back by a shutdown.', ['action'])
  const orderRepairs = counter(
    'order_repairs_total',
    'Rows found out of their ordering key’s order and put right: a defect.',
    [],
  )
  const errors = counter('engine_errors_total', 'Errors of the engine and of handlers.', ['where'])
  return (event) => {
    switch (event.type) {
      case 'claimed':
        claimed.inc({ lane: event.lane }, event.rows)
        return
      case 'settled': {
        const { action, outcomeType: outcome, failureClass = 'none' } = event
        settled.inc({ action, outcome, failure_class: failureClass })
        return
      }
      case 'stale':
        stale.inc({ action: event.action, step: event.step })
        return
      case 'lease_lost':
        lost.inc({ action: event.action, started: String(event.started) })
        return
      case 'handed_back':
        handedBack.inc({ action: event.action })
        return
      case 'order_mended':
        orderRepairs.inc(event.rows)
        return
      case 'error':
        errors.inc({ where: event.where })
        return
    }
  }
}

const STATES = ['ready', 'scheduled', 'paused', 'leased', 'outcome_unknown', 'dead'] as const

/**
 * Gauges of what all dispatchers share. Each replica shows the whole database, so a query over replicas takes their
 * `max`, never their sum. Answers what takes one sample.
 */
export const outboxGauges = (registry: Registry, sql: Sql): (() => Promise<void>) => {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({
      name: `aftercommit_outbox_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
    })
  const rows = gauge('rows', 'Rows by lane and state; 10001 stands for more than 10000.', ['lane', 'state'])
  const age = gauge('ready_oldest_age_seconds', 'How long the oldest ready row of a lane has been ready.', [
    'lane',
  ])
  const observedAt = gauge('observed_at_seconds', 'When the outbox was sampled last, in database time.')
  const failures = new Counter({
    name: 'aftercommit_outbox_sample_failures_total',
    help: 'Samples of the outbox that failed.',
    registers: [registry],
  })
  // A lane that has emptied says 0 and does not vanish.
  const known = new Set<string>()
  return async () => {
    const sample = await sampleGauges(sql).catch((error: unknown) => {
      failures.inc()
      throw error
    })
    for (const { lane } of sample.gauges) known.add(lane)
    for (const lane of known) {
      age.set({ lane }, 0)
      for (const state of STATES) rows.set({ lane, state }, 0)
    }
    for (const { lane, state, rows: count, oldestAgeMs } of sample.gauges) {
      rows.set({ lane, state }, count)
      if (oldestAgeMs !== null) age.set({ lane }, oldestAgeMs / 1000)
    }
    observedAt.set(sample.observedAt.getTime() / 1000)
  }
}
