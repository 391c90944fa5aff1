/** The product team's side: a small client of the REST API. */
import { z } from 'zod'

export const MeetingAnswer = z.object({
  id: z.string(),
  state: z.looseObject({ type: z.string() }),
  proposal: z.object({ id: z.string(), start: z.iso.datetime(), end: z.iso.datetime() }).optional(),
  participants: z.array(z.object({ id: z.string(), displayName: z.string(), address: z.string() })),
  event: z.object({ provider: z.string(), calendarAddress: z.string(), eventId: z.string() }).optional(),
  completion: z.object({ verifiedAt: z.string(), checks: z.array(z.string()) }).optional(),
  repairs: z.array(z.object({ code: z.string(), owner: z.string() })),
})
export type MeetingAnswer = z.output<typeof MeetingAnswer>

/** An entry of the trace. A client lives with kinds and fields that it does not know: there will be more. */
export const TraceEntry = z.looseObject({ type: z.string(), at: z.string() })
export type TraceEntry = z.output<typeof TraceEntry>

const Call = z.looseObject({
  provider: z.string(),
  operation: z.string(),
  status: z.number().nullish(),
  outcome: z.string(),
  durationMs: z.number(),
  requestId: z.string().nullish(),
})
const action = {
  actionId: z.string(),
  action: z.string(),
  kind: z.string(),
  about: z.looseObject({ participantId: z.string().optional() }),
}

/** The kinds that this client looks into. */
const schemas = {
  attempt: z.looseObject({
    ...action,
    at: z.string(),
    startedAt: z.string().optional(),
    attempt: z.number(),
    replicaId: z.string().nullable(),
    outcome: z.string(),
    code: z.string().nullable(),
    calls: z.array(Call),
  }),
  unknown_resolved: z.looseObject({ ...action, outcome: z.string(), code: z.string().nullable() }),
  action_ended: z.looseObject({ ...action, outcome: z.string(), owner: z.string().optional() }),
  evidence: z.looseObject({ participantId: z.string(), learned: z.string() }),
  proposal: z.looseObject({ start: z.string(), end: z.string() }),
  approval: z.looseObject({ authority: z.string() }),
  event_written: z.looseObject({ provider: z.string(), eventId: z.string() }),
  completion_verified: z.looseObject({ checks: z.array(z.string()) }),
  repair_opened: z.looseObject({ code: z.string(), owner: z.string() }),
}
export type KnownEntries = { readonly [Type in keyof typeof schemas]: z.output<(typeof schemas)[Type]> }
export const knownEntries: { readonly [Type in keyof KnownEntries]: z.ZodType<KnownEntries[Type]> } = schemas
export type Attempt = KnownEntries['attempt']

/** The attempts of a trace. One that is not told as this client knows it is left out. */
export const attemptsIn = ({ entries }: Pick<TraceAnswer, 'entries'>): readonly Attempt[] =>
  entries.flatMap((entry) => {
    if (entry.type !== 'attempt') return []
    const attempt = knownEntries.attempt.safeParse(entry)
    return attempt.success ? [attempt.data] : []
  })

export const TraceAnswer = z.object({
  entries: z.array(TraceEntry),
  pending: z.array(
    z.looseObject({
      actionId: z.string(),
      action: z.string(),
      state: z.string(),
      dueAt: z.string().optional(),
      heldBy: z.string().optional(),
    }),
  ),
})
export type TraceAnswer = z.output<typeof TraceAnswer>

const Created = z.object({ id: z.string() })

export interface ApiClient {
  create(path: string, body: unknown): Promise<string>
  approve(meetingId: string, proposalId: string, approver: string): Promise<void>
  meeting(id: string): Promise<MeetingAnswer>
  trace(id: string): Promise<TraceAnswer>
  /** The same as a page to read. */
  tracePage(id: string): Promise<string>
}

export const apiClient = (url: string, apiKey: string): ApiClient => {
  const ask = async (method: string, path: string, accept: string, body?: unknown): Promise<string> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, accept, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return text
  }
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> =>
    JSON.parse(await ask(method, path, 'application/json', body))
  return {
    create: async (path, body) => Created.parse(await call('POST', path, body)).id,
    approve: async (meetingId, proposalId, approver) => {
      await call('POST', `/v1/meetings/${meetingId}/approve`, { proposalId, approver: { address: approver } })
    },
    meeting: async (id) => MeetingAnswer.parse(await call('GET', `/v1/meetings/${id}`)),
    trace: async (id) => TraceAnswer.parse(await call('GET', `/v1/meetings/${id}/trace`)),
    tracePage: (id) => ask('GET', `/v1/meetings/${id}/trace`, 'text/plain'),
  }
}
