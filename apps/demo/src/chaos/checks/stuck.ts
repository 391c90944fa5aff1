/** There, and going nowhere although everything is healed. */
import type { Seen } from '../seen.ts'
import type { Offence } from './offence.ts'

export const stuck = ({ rows }: Seen): readonly Offence[] =>
  rows.flatMap(({ id, action, state, code, isForLater }) =>
    state === null || isForLater
      ? []
      : [{ id, what: `${action} is ${state.replaceAll('_', ' ')}${code === null ? '' : ` (${code})`}` }],
  )
