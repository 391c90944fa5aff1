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

const Call = z.looseObject({
  provider: z.string(),
  operation: z.string(),
  status: z.number().nullish(),
  outcome: z.string(),
  durationMs: z.number(),
})
const common = { at: z.string() }
const action = { actionId: z.string(), action: z.string() }
export const TraceEntry = z.discriminatedUnion('type', [
  z.object({ type: z.literal('action_enqueued'), ...common, ...action }),
  z.object({
    type: z.literal('attempt'),
    ...common,
    ...action,
    attempt: z.number(),
    replicaId: z.string().nullable(),
    outcome: z.string(),
    code: z.string().nullable(),
    calls: z.array(Call),
  }),
  z.looseObject({ type: z.literal('action_ended'), ...common, ...action, outcome: z.string() }),
  z.looseObject({ type: z.literal('evidence'), ...common, participantId: z.string(), known: z.boolean() }),
  z.looseObject({ type: z.literal('proposal'), ...common, start: z.string(), end: z.string() }),
  z.looseObject({ type: z.literal('approval'), ...common, authority: z.string() }),
  z.looseObject({ type: z.literal('event_written'), ...common, provider: z.string(), eventId: z.string() }),
  z.looseObject({ type: z.literal('completion_verified'), ...common, checks: z.array(z.string()) }),
  z.looseObject({ type: z.literal('repair_opened'), ...common, code: z.string(), owner: z.string() }),
])
export type TraceEntry = z.output<typeof TraceEntry>
export const TraceAnswer = z.object({
  entries: z.array(TraceEntry),
  pending: z.array(
    z.looseObject({
      actionId: z.string(),
      action: z.string(),
      state: z.string(),
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
}

export const apiClient = (url: string, apiKey: string): ApiClient => {
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text)
  }
  return {
    create: async (path, body) => Created.parse(await call('POST', path, body)).id,
    approve: async (meetingId, proposalId, approver) => {
      await call('POST', `/v1/meetings/${meetingId}/approve`, { proposalId, approver: { address: approver } })
    },
    meeting: async (id) => MeetingAnswer.parse(await call('GET', `/v1/meetings/${id}`)),
    trace: async (id) => TraceAnswer.parse(await call('GET', `/v1/meetings/${id}/trace`)),
  }
}
