/** A dispatcher as a value: rows claimed, effects made. `main.ts` runs one as a process. */
import { createEngine, type Engine, type EngineEvent, type Retention } from '@aftercommit/outbox/engine'
import type { Db, Tx } from '@aftercommit/platform/db'
import type { Seal, Unseal } from '@aftercommit/platform/sealing'
import type { Spans } from '@aftercommit/platform/spans'
import { replaceCredential } from '@aftercommit/scheduling/handlers'
import { worldOf, type ProviderSettings, type Rotation } from './providers.ts'
import { registrationsOf } from './registry.ts'
import { withSpans } from './spans.ts'

export type { MailSettings, ProviderSettings } from './providers.ts'

export interface DispatcherOptions {
  readonly db: Db
  /** Seals what a provider gives in a credential's place. */
  readonly seal: Seal
  readonly unseal: Unseal
  readonly providers: ProviderSettings
  readonly leaseMs?: number
  readonly pollMs: number
  readonly retiredActions?: readonly string[]
  /** Absent: what has ended is kept for ever. */
  readonly retention?: Retention
  readonly report?: (event: EngineEvent) => void
  /** Absent: attempts and calls leave no spans. */
  readonly spans?: Spans
}

export const createDispatcher = (options: DispatcherOptions): Engine => {
  const {
    db,
    seal,
    unseal,
    providers,
    leaseMs,
    pollMs,
    report,
    spans,
    retention,
    retiredActions = [],
  } = options
  const keep: Rotation['keep'] = (tenantId, replaced, sealed) =>
    db.transact(tenantId, (tx) => replaceCredential(tx, replaced, sealed))
  const plain = { db, registrations: registrationsOf(worldOf(providers, unseal, { seal, keep })) }
  return createEngine<Tx>({
    ...(spans ? withSpans(spans, plain) : plain),
    ...(leaseMs !== undefined && { leaseMs }),
    pollMs,
    retiredActions,
    ...(retention && { retention }),
    laneByName: {
      calendar: { concurrency: 20, claimMax: 20 },
      decide: { concurrency: 4, claimMax: 20 },
      webhook: { concurrency: 20, claimMax: 20 },
      mail: { concurrency: 10, claimMax: 20 },
    },
    ...(report && { report }),
  })
}
