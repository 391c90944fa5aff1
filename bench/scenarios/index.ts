import type { Scenario } from '../scenario.ts'
import { api } from './api.ts'
import { claim } from './claim.ts'
import { drain } from './drain.ts'
import { enqueue } from './enqueue.ts'
import { flood } from './flood.ts'
import { latency } from './latency.ts'
import { meetings } from './meetings.ts'
import { pinned } from './pinned.ts'
import { stale } from './stale.ts'
import { tables } from './tables.ts'

/** In the order in which they are run: those that take longest last. */
export const scenarios: readonly Scenario[] = [
  drain,
  latency,
  enqueue,
  claim,
  tables,
  flood,
  stale,
  api,
  meetings,
  pinned,
]
