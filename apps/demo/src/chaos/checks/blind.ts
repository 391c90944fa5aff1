/** A write that may have happened was made again without asking. */
import type { RequestEntry } from '@aftercommit/simulator'
import type { Seen } from '../seen.ts'
import { groupBy, type Offence } from './offence.ts'

const WRITES: ReadonlySet<string> = new Set(['events.insert', 'events.create'])
const QUESTIONS: ReadonlySet<string> = new Set(['events.list', 'events.get'])

/** Each organizer has one meeting, so a calendar's requests are the requests of one write. */
export const blind = ({ requests }: Seen): readonly Offence[] =>
  [...groupBy(requests, ({ address, provider }) => `${provider} ${address ?? ''}`)].flatMap(
    ([calendar, calls]) => {
      let open: RequestEntry | undefined
      const offences: Offence[] = []
      for (const call of calls) {
        if (QUESTIONS.has(call.operation)) open = undefined
        if (!WRITES.has(call.operation)) continue
        if (open) {
          offences.push({
            id: calendar,
            what: `${call.operation} again after an answer that was lost, and no question between`,
          })
        }
        open = mayHaveWritten(call) ? call : undefined
      }
      return offences
    },
  )

/** A refusal proves that nothing was written; anything else may have been lost on its way, or have come after the effect. */
const mayHaveWritten = ({ status }: RequestEntry): boolean =>
  status === null || status < 400 || status === 408 || status >= 500
