import { createHash } from 'node:crypto'
import type { Sql } from '@aftercommit/platform/db'
import type { RequestHandler, Response } from 'express'
import { problem, ProblemError } from './problem.ts'

/** Finds the tenant of `Authorization: Bearer <key>` and keeps it for the routes behind. */
export const requireApiKey =
  (sql: Sql): RequestHandler =>
  async (request, response, next) => {
    const [scheme, key] = (request.get('authorization') ?? '').split(' ')
    const tenantId = scheme?.toLowerCase() === 'bearer' && key ? await tenantOf(sql, key) : undefined
    if (tenantId === undefined) {
      response.set('www-authenticate', 'Bearer')
      throw new ProblemError(problem(401, 'unauthenticated', 'A valid API key is required.'))
    }
    setTenantId(response, tenantId)
    next()
  }

const tenantOf = async (sql: Sql, key: string): Promise<string | undefined> => {
  const hash = createHash('sha256').update(key, 'utf8').digest()
  const { rows } = await sql.query<{ tenant_id: string | null }>(
    'select tenant_of_api_key($1) as tenant_id',
    [hash],
  )
  return rows[0]?.tenant_id ?? undefined
}

const TENANT = 'aftercommit.tenantId'

const setTenantId = (response: Response, tenantId: string): void => {
  response.locals[TENANT] = tenantId
}

/** The tenant of this request. Throws when the route was mounted without `requireApiKey`: that is a defect. */
export const tenantIdOf = (response: Response): string => {
  const tenantId: unknown = response.locals[TENANT]
  if (typeof tenantId !== 'string') throw new Error('a route without an API key check')
  return tenantId
}
