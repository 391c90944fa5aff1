import { openDb, type Db } from '@aftercommit/platform/db'
import { readEnv } from '@aftercommit/platform/env'
import { createLog, errorFields, type Log } from '@aftercommit/platform/log'
import { collectProcessMetrics, createMetrics, startSampling } from '@aftercommit/platform/metrics'
import { isMigrated } from '@aftercommit/platform/schema'
import { sealingOf } from '@aftercommit/platform/sealing'
import { onShutdown } from '@aftercommit/platform/shutdown'
import { openSpans } from '@aftercommit/platform/spans'
import { createDispatcher } from './dispatcher.ts'
import { databaseOf, DispatcherEnv, listOf, retentionOf, settingsOf } from './environment.ts'
import { startHealthServer, type HealthOptions, type HealthServer, type Readiness } from './health.ts'
import { engineMetrics, outboxGauges } from './metrics.ts'
import { reportTo } from './report.ts'

const main = async (): Promise<void> => {
  const env = readEnv(DispatcherEnv)
  const log = createLog('dispatcher', env.LOG_LEVEL)
  const db = openDb({
    ...databaseOf(env),
    applicationName: 'aftercommit dispatcher',
    onHintError: (error) => log.warn('a wake-up hint was not sent', errorFields(error)),
  })
  const metrics = createMetrics()
  collectProcessMetrics(metrics)
  const count = engineMetrics(metrics)
  const write = reportTo(log)
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT
  const spans = await openSpans({
    service: 'dispatcher',
    endpoint,
    onError: (error) => log.warn('spans were not exported', errorFields(error)),
  })
  const dispatcher = createDispatcher({
    db,
    ...(endpoint !== undefined && { spans }),
    ...sealingOf(env.SEALING_KEYS),
    providers: settingsOf(env),
    ...(env.LEASE_MS !== undefined && { leaseMs: env.LEASE_MS }),
    pollMs: env.POLL_MS,
    retiredActions: listOf(env.RETIRED_ACTIONS),
    retention: retentionOf(env),
    report: (event) => {
      count(event)
      write(event)
    },
  })
  let phase: 'starting' | 'running' | 'stopping' = 'starting'
  const readiness = async (): Promise<Readiness> => (phase === 'running' ? readinessOf(db) : phase)
  const health = await tryHealthServer(log, { host: env.HOST, port: env.HEALTH_PORT, metrics, readiness })
  const stopSampling = startSampling({
    everyMs: SAMPLE_MS,
    sample: outboxGauges(metrics, db),
    onError: (error) => log.warn('the outbox was not sampled', errorFields(error)),
  })
  await dispatcher.start()
  phase = 'running'
  log.info('dispatching', { replicaId: dispatcher.replicaId, healthUrl: health?.url })
  onShutdown(log, async () => {
    phase = 'stopping'
    await Promise.all([dispatcher.stop(env.SHUTDOWN_GRACE_MS), stopSampling()])
    await spans.close()
    await db.close()
    await health?.stop()
  })
}

const SAMPLE_MS = 10_000

const readinessOf = (db: Db): Promise<Readiness> =>
  isMigrated(db).then(
    (migrated) => (migrated ? 'ready' : 'not_migrated'),
    () => 'database_unreachable',
  )

/** Work goes on where nobody can look at it: a taken port is told to the log and stops nothing else. */
const tryHealthServer = (log: Log, options: HealthOptions): Promise<HealthServer | undefined> =>
  startHealthServer(options).catch((error: unknown) => {
    log.error('health and metrics are not served', { port: options.port, ...errorFields(error) })
    return undefined
  })

await main()
