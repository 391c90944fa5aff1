import type { Scenario } from '../scenario.ts'
import { claim } from './claim.ts'
import { drain } from './drain.ts'
import { enqueue } from './enqueue.ts'
import { latency } from './latency.ts'
import { pinned } from './pinned.ts'
import { stale } from './stale.ts'
import { tables } from './tables.ts'

/** In the order in which they are run. */
export const scenarios: readonly Scenario[] = [drain, latency, enqueue, claim, tables, pinned, stale]
