/**
 * A POST that carries an Idempotency-Key takes effect once. The key's row, the command's effects and the answer are
 * one transaction: wherever a process dies, either all of it is there and the repeated request gets the answer, or
 * none of it is and the repeated request runs.
 *
 * What a command decided is kept, a refusal too, so that a request repeated late cannot succeed after its client was
 * told that it had not. What is thrown undoes everything and keeps nothing: malformed input never was an attempt.
 */
import { createHash } from 'node:crypto'
import type { Db, Tx } from '@aftercommit/platform/db'
import { z } from 'zod'
import { ProblemError } from './problem.ts'
import { claimKey, keepAnswer, readAnswer, sweepKeys, type KeptAnswer, type KeyPlace } from './store.ts'

export interface KeyedRequest {
  readonly place: KeyPlace
  /** Of method, path and body. */
  readonly fingerprint: Buffer
}

export const IdempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')

export const fingerprintOf = (method: string, path: string, body: unknown): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([method, path, body ?? null]))
    .digest()

export const answerOnce = (
  db: Db,
  { place, fingerprint }: KeyedRequest,
  work: (tx: Tx) => Promise<KeptAnswer>,
): Promise<KeptAnswer & { readonly replayed: boolean }> =>
  db.transact(place.tenantId, async (tx) => {
    if (await claimKey(tx.sql, place, fingerprint)) {
      await sweepKeys(tx.sql)
      const answer = await work(tx)
      await keepAnswer(tx.sql, place, answer)
      return { ...answer, replayed: false }
    }
    const kept = await readAnswer(tx.sql, place)
    if (!kept) throw new Error('a key that was taken has no answer')
    if (!kept.fingerprint.equals(fingerprint)) throw new ProblemError('idempotency-key-reused')
    const { status, headers, body } = kept
    return { status, headers, body, replayed: true }
  })

/** The same door, for whoever is inside already: what a command opens through it joins the open transaction. */
export const joined = (db: Db, tx: Tx): Db => ({
  ...db,
  transact: (tenantId, work) => {
    if (tenantId !== tx.tenantId) throw new Error("a command for another tenant than its request's")
    return work(tx)
  },
})
