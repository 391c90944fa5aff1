/** After the disorder: everything is healed, and the product is given what time it asks for, in as little as possible. */
import { moveClock } from '@aftercommit/local-postgres/movable-clock'
import { z } from 'zod'
import type { Owner } from './owner.ts'

const LOOK_EVERY_MS = 100
/** What falls due later than this from now is no part of what was begun: looks on the day before, booking deadlines. */
export const HORIZON_MS = 24 * 60 * 60_000

const Outlook = z.object({ busy: z.coerce.number(), dueInMs: z.number().nullable() })

export interface Drained {
  /** Undefined when it came to rest in time. */
  readonly unrest: string | undefined
  readonly movedMs: number
}

/**
 * Resolves when nothing is worked on, nothing could be, and nothing falls due within the horizon. While nothing is worked on
 * the database's clock is moved to when the next row falls due.
 */
export const drain = async (owner: Owner, withinMs: number, signal: AbortSignal): Promise<Drained> => {
  const giveUpAt = Date.now() + withinMs
  const { horizon } = z
    .object({ horizon: z.date() })
    .parse(
      (await owner.query('select app_now() + make_interval(secs => $1) as horizon', [HORIZON_MS / 1000]))
        .rows[0],
    )
  let movedMs = 0
  for (;;) {
    signal.throwIfAborted()
    const { busy, dueInMs } = await outlook(owner, horizon)
    if (busy === 0 && dueInMs === null) return { unrest: undefined, movedMs }
    if (Date.now() > giveUpAt) return { unrest: `${busy} rows are worked on or due`, movedMs }
    if (busy === 0 && dueInMs !== null && dueInMs > 0) {
      movedMs += dueInMs
      await moveClock(owner, dueInMs)
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

const outlook = async (owner: Owner, horizon: Date): Promise<z.output<typeof Outlook>> => {
  const { rows } = await owner.query(
    `select count(*) filter (where state in ('ready', 'leased')
                               or (state in ('scheduled', 'paused') and available_at <= app_now())) as busy,
       ceil(extract(epoch from min(available_at) filter (where state in ('scheduled', 'paused')
         and available_at > app_now() and available_at <= $1) - app_now()) * 1000)::float8 as "dueInMs"
     from outbox`,
    [horizon],
  )
  return Outlook.parse(rows[0])
}
