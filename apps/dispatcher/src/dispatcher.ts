/** A dispatcher as a value: rows claimed, effects made. `main.ts` runs one as a process. */
import { createEngine, type Engine, type EngineEvent } from '@aftercommit/outbox/engine'
import type { Db, Tx } from '@aftercommit/platform/db'
import type { Unseal } from '@aftercommit/platform/sealing'
import type { Spans } from '@aftercommit/platform/spans'
import { worldOf, type ProviderSettings } from './providers.ts'
import { registrationsOf } from './registry.ts'
import { withSpans } from './spans.ts'

export type { MailSettings, ProviderSettings } from './providers.ts'

export interface DispatcherOptions {
  readonly db: Db
  readonly unseal: Unseal
  readonly providers: ProviderSettings
  readonly leaseMs?: number
  readonly pollMs: number
  readonly retiredActions?: readonly string[]
  readonly report?: (event: EngineEvent) => void
  /** Absent: attempts and calls leave no spans. */
  readonly spans?: Spans
}

export const createDispatcher = (options: DispatcherOptions): Engine => {
  const { unseal, providers, leaseMs, pollMs, report, spans, retiredActions = [] } = options
  const plain = { db: options.db, registrations: registrationsOf(worldOf(providers, unseal)) }
  return createEngine<Tx>({
    ...(spans ? withSpans(spans, plain) : plain),
    ...(leaseMs !== undefined && { leaseMs }),
    pollMs,
    retiredActions,
    laneByName: {
      calendar: { concurrency: 20, claimMax: 20 },
      decide: { concurrency: 4, claimMax: 20 },
      webhook: { concurrency: 20, claimMax: 20 },
      mail: { concurrency: 10, claimMax: 20 },
    },
    ...(report && { report }),
  })
}
