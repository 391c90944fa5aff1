/** The product team's side: the REST API, as a scenario uses it, and the pages that people get links to. */
import { z } from 'zod'

export const MeetingAnswer = z.looseObject({
  id: z.string(),
  revision: z.int(),
  state: z.looseObject({ type: z.string(), code: z.string().optional() }),
  proposal: z.looseObject({ id: z.string(), start: z.string(), end: z.string() }).optional(),
  participants: z.array(z.looseObject({ id: z.string(), displayName: z.string(), address: z.string() })),
  completion: z.looseObject({ verifiedAt: z.string(), checks: z.array(z.string()) }).optional(),
  repairs: z.array(
    z.looseObject({
      id: z.string(),
      code: z.string(),
      owner: z.string(),
      choices: z.array(z.string()),
      facts: z.record(z.string(), z.unknown()),
    }),
  ),
})
export type MeetingAnswer = z.output<typeof MeetingAnswer>

const Step = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('person'),
    owner: z.string(),
    code: z.string(),
    participantId: z.string().optional(),
    until: z.string().optional(),
  }),
  z.looseObject({
    type: z.literal('action'),
    action: z.string(),
    state: z.string(),
    about: z.looseObject({ participantId: z.string().optional() }),
    dueAt: z.string().optional(),
    heldBy: z.string().optional(),
  }),
])
export const TraceAnswer = z.looseObject({
  entries: z.array(z.looseObject({ type: z.string(), at: z.string() })),
  next: z.array(Step),
})
export type TraceAnswer = z.output<typeof TraceAnswer>

export interface Answer {
  readonly status: number
  readonly body: string
}

const Created = z.object({ id: z.string() })

export interface Client {
  /** Answers the id of what was made. Rejects on any other answer. */
  create(path: string, body: unknown): Promise<string>
  post(path: string, body: unknown): Promise<Answer>
  meeting(id: string): Promise<MeetingAnswer>
  trace(id: string): Promise<TraceAnswer>
  /** The same as a page to read. */
  tracePage(id: string): Promise<string>
  /** Opens a page by a link from a mail, and sends its form, as a person's browser does. */
  sendForm(link: string, fields: Readonly<Record<string, string>>): Promise<Answer>
}

export const clientOf = (url: string, apiKey: string): Client => {
  const call = async (method: string, path: string, body?: unknown, accept = 'application/json') => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, accept, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.text() }
  }
  const must = async (...request: Parameters<typeof call>): Promise<string> => {
    const { status, body } = await call(...request)
    if (status >= 300) throw new Error(`${request[0]} ${request[1]} answered ${status}: ${body}`)
    return body
  }
  return {
    create: async (path, body) => Created.parse(JSON.parse(await must('POST', path, body))).id,
    post: (path, body) => call('POST', path, body),
    meeting: async (id) => MeetingAnswer.parse(JSON.parse(await must('GET', `/v1/meetings/${id}`))),
    trace: async (id) => TraceAnswer.parse(JSON.parse(await must('GET', `/v1/meetings/${id}/trace`))),
    tracePage: (id) => must('GET', `/v1/meetings/${id}/trace`, undefined, 'text/plain'),
    sendForm: async (link, fields) => {
      const opened = await fetch(link)
      if (!opened.ok) return { status: opened.status, body: await opened.text() }
      await opened.text()
      const sent = await fetch(link, { method: 'POST', body: new URLSearchParams(fields) })
      return { status: sent.status, body: await sent.text() }
    },
  }
}
