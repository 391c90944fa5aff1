/**
 * A route as data: what comes in, what goes out, and what answers. The Express route, the OpenAPI document and the
 * reference page are made from it, so they cannot disagree.
 */
import type { Db } from '@aftercommit/platform/db'
import { z } from 'zod'
import { fieldErrorsOf, ProblemError, type FieldError, type ProblemMore } from './problem.ts'
import type { ProblemName } from './problems.ts'

/** On whose behalf a route works, and through which door. */
export interface Caller {
  /** For a POST already inside the transaction that also keeps its answer; see idempotency.ts. */
  readonly db: Db
  readonly tenantId: string
  readonly traceParent: string
}

/** A body as its schema takes it, before defaults; read-only, as the domain hands it out. */
export type Wire<T> = T extends readonly (infer Item)[]
  ? readonly Wire<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Wire<T[Key]> }
    : T

export interface Answered<Body> {
  readonly type: 'answered'
  readonly body: Body
  readonly location?: string
  readonly etag?: string
  /** What the request would have made was there, and is answered under the route's other status. */
  readonly again?: boolean
}

/** A decision against the request. It is an answer: it commits, and is kept under an Idempotency-Key. */
export interface Refused<Name extends ProblemName> {
  readonly type: 'refused'
  readonly name: Name
  readonly more: ProblemMore
}

export const answered = <Body>(
  body: Body,
  more: Pick<Answered<Body>, 'location' | 'etag' | 'again'> = {},
): Answered<Body> => ({ type: 'answered', body, ...more })

export const refused = <Name extends ProblemName>(name: Name, more: ProblemMore = {}): Refused<Name> => ({
  type: 'refused',
  name,
  more,
})

export type Reply = Answered<unknown> | Refused<ProblemName>

/** Each part of a request as it arrived. */
export interface RawRequest {
  readonly params: unknown
  readonly query: unknown
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: unknown
}

/** Headers of an answer that its operation declares. */
export type AnswerHeader = 'etag' | 'location'

export type BodyMedia = 'application/json' | 'message/rfc822'

export interface Route {
  readonly method: 'get' | 'post'
  /** As OpenAPI writes it: `/v1/meetings/{meetingId}`. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  /** By lower-case name. Headers that every route knows are not among them. */
  readonly headers: z.ZodObject
  readonly body: z.ZodType | undefined
  /** What the body arrives as: JSON, unless it is a mail as its server received it. */
  readonly media: BodyMedia
  readonly answer: {
    readonly status: number
    readonly description: string
    readonly schema: z.ZodType
    /** The same body when nothing new was made. */
    readonly again?: { readonly status: number; readonly description: string } | undefined
    /** The same body for a person to read, sent to whoever prefers text. */
    readonly text?: { readonly description: string; readonly render: (body: unknown) => string } | undefined
    /** What every such answer carries; a test holds the answers against it. */
    readonly headers?: readonly AnswerHeader[] | undefined
  }
  /** A body that this server takes on the given day. Without one, it is put together from its fields' examples. */
  readonly example: ((now: Date) => unknown) | undefined
  readonly problems: readonly ProblemName[]
  /** Throws when the address names nothing; else tells all that its parts have wrong, or the work that is left. */
  readonly read: (raw: RawRequest) => Read
  /** What is wrong with a body of a broken shape besides, by the request's address; see `Declaration`. */
  readonly judge: Judge | undefined
}

export type Read =
  | { readonly type: 'read'; readonly work: (caller: Caller) => Promise<Reply> }
  | { readonly type: 'malformed'; readonly errors: readonly FieldError[] }

/** Faults of a body that only the domain can tell, by where in the body they are. */
export type Judge<Params = unknown> = (
  body: unknown,
  caller: Pick<Caller, 'db' | 'tenantId'>,
  params: Params,
) => Promise<readonly { readonly path: readonly PropertyKey[]; readonly reason: string }[]>

const nothing = z.strictObject({})
const noHeaders = z.object({})
type Nothing = typeof nothing
type NoHeaders = typeof noHeaders

interface Declaration<
  Params extends z.ZodObject,
  Query extends z.ZodObject,
  Headers extends z.ZodObject,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Name extends ProblemName,
> extends Pick<Route, 'method' | 'path' | 'operationId' | 'summary'> {
  readonly params?: Params
  readonly query?: Query
  readonly headers?: Headers
  /** Named with `named`, as is the answer's schema. */
  readonly body?: Body
  readonly media?: BodyMedia
  readonly answer: {
    readonly status: 200 | 201
    readonly description: string
    readonly schema: Answer
    readonly again?: { readonly status: 200; readonly description: string }
    readonly headers?: readonly AnswerHeader[]
    readonly text?: {
      readonly description: string
      readonly render: (body: z.output<NoInfer<Answer>>) => string
    }
  }
  /** Typed loosely, because its literals would widen before the body's type is known; a test parses it. */
  readonly example?: (now: Date) => unknown
  /**
   * What the domain finds wrong in the well-formed parts of a body whose shape is broken. The handler never sees such a
   * body, and its sender shall learn everything from one answer.
   */
  readonly judge?: Judge<z.output<Params>>
  /** What the handler may refuse with; what every route can meet is added by itself. */
  readonly problems: readonly Name[]
  readonly handle: (
    input: {
      readonly params: z.output<Params>
      readonly query: z.output<Query>
      readonly headers: z.output<Headers>
      readonly body: z.output<Body>
    },
    caller: Caller,
  ) => Promise<Answered<Wire<z.input<NoInfer<Answer>>>> | Refused<NoInfer<Name>>>
}

export const route = <
  Answer extends z.ZodType,
  Name extends ProblemName,
  Params extends z.ZodObject = Nothing,
  Query extends z.ZodObject = Nothing,
  Headers extends z.ZodObject = NoHeaders,
  Body extends z.ZodType = z.ZodUndefined,
>(
  declaration: Declaration<Params, Query, Headers, Body, Answer, Name>,
): Route => {
  const { handle, body, example, answer, judge, media = 'application/json', ...rest } = declaration
  const { text } = answer
  const parts = {
    params: declared(declaration.params, nothing),
    query: declared(declaration.query, nothing),
    headers: declared(declaration.headers, noHeaders),
    body: declared(body, z.undefined({ error: 'no body is taken here' })),
  }
  return {
    ...rest,
    ...parts,
    body,
    media,
    example,
    judge: judge && ((given, caller, address) => judge(given, caller, parts.params.parse(address))),
    answer: {
      ...answer,
      text: text && { ...text, render: (given) => text.render(answer.schema.parse(given)) },
    },
    read: (raw) => {
      const input = readParts(parts, raw)
      if (input.type === 'malformed') return input
      return { type: 'read', work: (caller) => handle(input, caller) }
    },
  }
}

/**
 * A part that is not declared has its default type exactly when it has its default value: the type parameter has
 * nothing else to be inferred from. The compiler cannot see that, so it is said here, once.
 */
const declared = <Schema extends z.ZodType>(schema: Schema | undefined, absent: z.ZodType): Schema =>
  schema ?? (absent as Schema)

/** Every part is read before anything is refused, so that one answer names all that is wrong. */
const readParts = <
  Params extends z.ZodType,
  Query extends z.ZodType,
  Headers extends z.ZodType,
  Body extends z.ZodType,
>(
  parts: {
    readonly params: Params
    readonly query: Query
    readonly headers: Headers
    readonly body: Body
  },
  raw: RawRequest,
) => {
  const params = parts.params.safeParse(raw.params)
  // An id that cannot exist names nothing that exists.
  if (!params.success) throw new ProblemError('not-found')
  const query = parts.query.safeParse(raw.query)
  const headers = parts.headers.safeParse(raw.headers)
  // Where a body is taken, none is an object without fields: each that it needs is then named.
  const takesBody = !(parts.body instanceof z.ZodUndefined)
  const body = parts.body.safeParse(takesBody && raw.body === undefined ? {} : raw.body)
  if (query.success && headers.success && body.success) {
    return {
      type: 'read',
      params: params.data,
      query: query.data,
      headers: headers.data,
      body: body.data,
    } as const
  }
  const errors: readonly FieldError[] = [
    ...(query.error ? fieldErrorsOf('query', query.error) : []),
    ...(headers.error ? fieldErrorsOf('header', headers.error) : []),
    ...(body.error ? fieldErrorsOf('body', body.error) : []),
  ]
  return { type: 'malformed', errors } as const
}
