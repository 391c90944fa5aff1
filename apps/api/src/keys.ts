import { createHash } from 'node:crypto'
import type { Sql } from '@aftercommit/platform/db'
import type { RequestHandler, Response } from 'express'
import { z } from 'zod'
import { ProblemError } from './problem.ts'
import { factsOf } from './request.ts'
import { readKeyHolder } from './store.ts'

export const Scope = z.enum(['read', 'write'])
export type Scope = z.output<typeof Scope>

/** Whose key a request came with, and what it may do. */
export interface KeyHolder {
  readonly tenantId: string
  readonly scopes: readonly Scope[]
}

const holderByResponse = new WeakMap<Response, KeyHolder>()

/** Finds the holder of `Authorization: Bearer <key>` and keeps it for the routes behind. */
export const requireApiKey =
  (sql: Sql): RequestHandler =>
  async (request, response, next) => {
    const [scheme, key] = (request.get('authorization') ?? '').split(' ')
    const holder = scheme?.toLowerCase() === 'bearer' && key ? await holderOf(sql, key) : undefined
    if (!holder) throw new ProblemError('unauthenticated', {}, { 'www-authenticate': 'Bearer' })
    holderByResponse.set(response, holder)
    factsOf(response).tenantId = holder.tenantId
    next()
  }

const holderOf = async (sql: Sql, key: string): Promise<KeyHolder | undefined> => {
  const row = await readKeyHolder(sql, createHash('sha256').update(key, 'utf8').digest())
  return row && { tenantId: row.tenantId, scopes: z.array(Scope).parse(row.scopes) }
}

/** Throws when the route was mounted without `requireApiKey`: that is a defect. */
export const keyHolderOf = (response: Response): KeyHolder => {
  const holder = holderByResponse.get(response)
  if (!holder) throw new Error('a route without an API key check')
  return holder
}

export const requireScope = (holder: KeyHolder, scope: Scope): void => {
  if (holder.scopes.includes(scope)) return
  const challenge = `Bearer error="insufficient_scope", scope="${scope}"`
  const detail = `It lacks the scope \`${scope}\`.`
  throw new ProblemError('insufficient-scope', { detail }, { 'www-authenticate': challenge })
}
