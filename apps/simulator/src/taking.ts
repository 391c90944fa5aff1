/** How a route of the control API takes a request and refuses one. */
import { STATUS_CODES } from 'node:http'
import type { Request, RequestHandler, Response } from 'express'
import { z } from 'zod'

/** A handler whose body has been validated; anything else answers 400 and what is wrong with it. */
export const taking =
  <T>(
    schema: z.ZodType<T>,
    handle: (input: T, request: Request, response: Response) => void | Promise<void>,
  ): RequestHandler =>
  async (request, response) => {
    const input = schema.safeParse(readJson(request.body))
    if (input.success) await handle(input.data, request, response)
    else refuse(response, 400, z.prettifyError(input.error))
  }

const readJson = (text: unknown): unknown => {
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A problem document (RFC 9457). */
export const refuse = (response: Response, status: number, detail: string): void => {
  response
    .status(status)
    .type('application/problem+json')
    .json({ type: 'about:blank', title: STATUS_CODES[status], status, detail })
}
