/** How patient the outbox is. Seconds where a product has minutes, because somebody is watching. */
const SECOND = 1_000

export const makeEventPolicy = {
  payloadVersion: 1,
  policyVersion: 1,
  lane: 'calendar',
  onPredecessorDead: 'run',
  leaseMs: 3 * SECOND,
  attemptsMax: 10,
  elapsedMaxMs: 60 * SECOND,
  backoff: { baseMs: 100, maxMs: SECOND },
  repairOwner: 'operations',
  // How long the provider may still hide an effect that exists: a call may land after its caller has died.
  reconcile: {
    graceMs: 3 * SECOND,
    attemptsMax: 20,
    elapsedMaxMs: 60 * SECOND,
    backoff: { baseMs: 100, maxMs: SECOND },
  },
} as const
