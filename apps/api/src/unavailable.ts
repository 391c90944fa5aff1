/**
 * Codes that say "the database is away", from sockets, from PostgreSQL (classes 08, 53 and 57P, and 25006 from a standby
 * that is not promoted yet) and from Prisma. What a transaction did before its connection broke is unknown to its client;
 * that is what idempotency keys are for.
 */
const AWAY =
  /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|EPIPE|ETIMEDOUT|08...|25006|53...|57P0[1-5]|P1001|P1002|P1008|P1017|P2024|P2028)$/

/** node-postgres gives these two no code. */
const MESSAGES = new Set([
  'timeout exceeded when trying to connect',
  'Connection terminated due to connection timeout',
  'Connection terminated unexpectedly',
])

/** Whether an error, or one that caused it, says that the database cannot be reached. */
export const isUnavailable = (error: unknown): boolean => {
  if (typeof error !== 'object' || error === null) return false
  const code: unknown = Reflect.get(error, 'code')
  if (typeof code === 'string' && AWAY.test(code)) return true
  const message: unknown = Reflect.get(error, 'message')
  if (typeof message === 'string' && MESSAGES.has(message)) return true
  // A socket that tried several addresses fails with one error for each.
  const each: unknown = Reflect.get(error, 'errors')
  return isUnavailable(Reflect.get(error, 'cause')) || (Array.isArray(each) && each.some(isUnavailable))
}
