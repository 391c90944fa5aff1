/**
 * One HTTP exchange of the simulated world: what an operation sees of a request, what it answers, and how a
 * scripted fault comes between the effect and the answer.
 */
import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { FaultAct, Peer, RequestEntry } from './contract.ts'
import { takeFault } from './faults.ts'
import type { ScriptedFault } from './faults.ts'
import type { World } from './state.ts'

export type HttpPeer = Exclude<Peer, 'mail'>

/** One request as an operation sees it. */
export interface Call {
  readonly requestId: string
  readonly at: Date
  /** e.g. `http://127.0.0.1:4003` */
  readonly origin: string
  /** Path and query as sent. */
  readonly target: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly header: (name: string) => string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly bearer: string | undefined
  readonly text: string
}

export interface Answer {
  readonly status: number
  /** A string goes out as it is, anything else as JSON, undefined as no body. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export interface Operation {
  readonly provider: HttpPeer
  readonly operation: string
  /** The addresses the call is about: first the calendar, then any other a fault may be scripted for. */
  readonly addresses: (call: Call) => readonly (string | undefined)[]
  /**
   * Makes the effect and answers. Synchronous, so that no other call comes between its check and its write.
   */
  readonly answer: (call: Call) => Answer
  /** Headers that every answer of this peer carries, scripted ones too. */
  readonly headers: (call: Call) => Readonly<Record<string, string>>
}

/** The request's JSON, or undefined when it is none. */
export const jsonOf = (call: Call): unknown => {
  try {
    return JSON.parse(call.text)
  } catch {
    return undefined
  }
}

/** The call names an etag that is not the one of today (RFC 9110, If-Match). */
export const failsPrecondition = (call: Call, etag: string): boolean => {
  const expected = call.header('if-match')
  return expected !== undefined && expected !== '*' && expected !== etag
}

/** One exchange as the provider itself made it, before any scripted fault came between. */
export interface Exchanged {
  readonly provider: HttpPeer
  readonly operation: string
  readonly query: URLSearchParams
  /** As JSON; undefined for none. */
  readonly request: unknown
  readonly status: number
  readonly body: unknown
}

/** The operation, with the world's observer told of what it did. */
const observed = (world: World, operation: Operation): Operation => ({
  ...operation,
  answer: (call) => {
    const answer = operation.answer(call)
    world.observe({
      provider: operation.provider,
      operation: operation.operation,
      query: call.query,
      request: jsonOf(call),
      status: answer.status,
      body: answer.body,
    })
    return answer
  },
})

export const serve = (world: World, stopping: AbortSignal, asked: Operation): RequestHandler => {
  const operation = observed(world, asked)
  return async (request, response) => {
    const call = callOf(request)
    const [calendar, ...others] = operation.addresses(call).map((address) => address?.toLowerCase())
    const addresses = [calendar, ...others].filter((address) => address !== undefined)
    const { provider, operation: name } = operation
    const { requestId, at } = call
    const fault = takeFault(world, { provider, operation: name, requestId, addresses, at })
    const traceparent = call.header('traceparent')
    const entry: RequestEntry = {
      at: at.toISOString(),
      requestId,
      provider,
      operation: name,
      address: calendar ?? null,
      status: null,
      ...(traceparent ? { traceparent } : {}),
      ...(fault ? { fault: fault.spec.id } : {}),
    }
    world.requests.push(entry)
    const exchange = { call, operation, response, entry, stopping }
    if (fault) await performWith(fault, exchange)
    else send(exchange, operation.answer(call))
  }
}

interface Exchange {
  readonly call: Call
  readonly operation: Operation
  readonly response: Response
  readonly entry: RequestEntry
  readonly stopping: AbortSignal
}

const performWith = async (fault: ScriptedFault, exchange: Exchange): Promise<void> => {
  const act: FaultAct = fault.spec.act
  const effect = () => exchange.operation.answer(exchange.call)
  switch (act.type) {
    case 'delay': {
      const early = act.when === 'after_effect' ? effect() : undefined
      await pause(act.delayMs, exchange.stopping)
      send(exchange, early ?? effect())
      return
    }
    case 'hold': {
      const early = act.when === 'after_effect' ? effect() : undefined
      await fault.gate.opened
      send(exchange, early ?? effect())
      return
    }
    case 'drop':
      if (act.when === 'after_effect') effect()
      exchange.response.destroy()
      return
    case 'answer':
      if (act.when === 'after_effect') effect()
      send(exchange, act)
      return
    case 'truncate':
      sendHalf(exchange, effect())
      return
    case 'html':
      send(exchange, htmlInsteadOf(effect()))
  }
}

const contentOf = (answer: Answer): { type: string; bytes: Buffer } => {
  if (answer.body === undefined) return { type: '', bytes: Buffer.alloc(0) }
  if (typeof answer.body === 'string')
    return { type: 'text/plain; charset=utf-8', bytes: Buffer.from(answer.body) }
  return { type: 'application/json; charset=utf-8', bytes: Buffer.from(JSON.stringify(answer.body)) }
}

const writeHead = (
  { call, operation, response, entry }: Exchange,
  answer: Answer,
  bytes: Buffer,
  type: string,
) => {
  entry.status = answer.status
  const noBody = answer.status === 204 || answer.status === 304
  response.writeHead(answer.status, {
    ...operation.headers(call),
    ...(noBody ? {} : { 'content-length': bytes.length }),
    ...(type ? { 'content-type': type } : {}),
    ...answer.headers,
  })
}

const send = (exchange: Exchange, answer: Answer): void => {
  // The caller may have given up while a fault held the answer back; the log then shows no status.
  if (exchange.response.destroyed) return
  const { type, bytes } = contentOf(answer)
  writeHead(exchange, answer, bytes, type)
  exchange.response.end(bytes)
}

const sendHalf = (exchange: Exchange, answer: Answer): void => {
  const { response } = exchange
  const { type, bytes } = contentOf(answer)
  if (answer.status >= 300) {
    send(exchange, answer)
  } else if (bytes.length === 0) {
    // An answer without a body has nothing to cut: the connection is all that can break.
    response.destroy()
  } else {
    writeHead(exchange, answer, bytes, type)
    response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => response.destroy())
  }
}

const htmlInsteadOf = (answer: Answer): Answer =>
  answer.status >= 300
    ? answer
    : {
        status: 200,
        body: '<!DOCTYPE html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>',
        headers: { 'content-type': 'text/html; charset=utf-8' },
      }

const pause = (durationMs: number, stopping: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', finish)
      resolve()
    }
    const timer = setTimeout(finish, durationMs)
    stopping.addEventListener('abort', finish)
    if (stopping.aborted) finish()
  })

const callOf = (request: Request): Call => {
  const origin = `${request.protocol}://${request.get('host') ?? '127.0.0.1'}`
  const authorization = /^Bearer (.+)$/i.exec(request.get('authorization') ?? '')
  return {
    requestId: randomUUID(),
    at: new Date(),
    origin,
    target: request.originalUrl,
    params: flatten(request.params),
    query: new URL(request.originalUrl, origin).searchParams,
    header: (name) => request.get(name),
    headers: flatten(request.headers),
    bearer: authorization?.[1],
    text: typeof request.body === 'string' ? request.body : '',
  }
}

const flatten = (values: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
