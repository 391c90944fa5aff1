import { z } from 'zod'

/**
 * An address to join a conference at, as a person may be shown it: over https, or none at all. What else a calendar may
 * hold there (a telephone number, a script) is no reason to refuse the event.
 */
export const JoinUrl = z
  .url({ protocol: /^https$/ })
  .optional()
  .catch(undefined)
