/** Everything that disorder is made with, and what it is made to. */
import type { Crew } from './crew.ts'
import type { Load } from './load.ts'
import type { Owner } from './owner.ts'
import type { Server } from './server.ts'
import type { Tally } from './tally.ts'

export interface Theatre {
  readonly seed: number
  readonly server: Server
  readonly owner: Owner
  readonly crew: Crew
  readonly load: Load
  readonly tally: Tally
  readonly leaseMs: number
  readonly tell: (line: string) => void
}
