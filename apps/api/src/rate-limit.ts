import type { RequestHandler } from 'express'
import { keyHolderOf } from './keys.ts'
import { ProblemError } from './problem.ts'

/**
 * A bucket per tenant and process: `burst` requests at once, `perSecond` in the long run. It protects a process from a
 * client's loop; it is not a quota, for which replicas would have to count together.
 */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

interface Bucket {
  tokens: number
  atMs: number
}

/** More tenants than a process meets within one refill. */
const BUCKETS_MAX = 10_000

/** Answers 0 when a token was taken, else how long until there is one. `nowMs` is monotonic. */
export const tokenBuckets = ({ perSecond, burst }: RateLimit): ((key: string, nowMs: number) => number) => {
  const bucketByKey = new Map<string, Bucket>()
  return (key, nowMs) => {
    const bucket = bucketByKey.get(key) ?? { tokens: burst, atMs: nowMs }
    // Moved to the end, so that the first one is the one that nobody has asked for the longest.
    bucketByKey.delete(key)
    bucketByKey.set(key, bucket)
    const [oldest] = bucketByKey.keys()
    if (bucketByKey.size > BUCKETS_MAX && oldest !== undefined) bucketByKey.delete(oldest)
    bucket.tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond)
    bucket.atMs = nowMs
    if (bucket.tokens < 1) return ((1 - bucket.tokens) / perSecond) * 1000
    bucket.tokens -= 1
    return 0
  }
}

export const limitRate = (limit: RateLimit): RequestHandler => {
  const waitMs = tokenBuckets(limit)
  return (_request, response, next) => {
    const ms = waitMs(keyHolderOf(response).tenantId, performance.now())
    if (ms > 0) {
      throw new ProblemError('rate-limited', {}, { 'retry-after': String(Math.ceil(ms / 1000)) })
    }
    next()
  }
}
