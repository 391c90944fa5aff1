/** The product team's side: a client that repeats a request under its Idempotency-Key until it has an answer. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'

export interface Answer {
  readonly status: number
  readonly body: unknown
}

/** One request as the client remembers it. */
export interface Asked {
  readonly key: string
  readonly path: string
  /** Whom it is about, in the client's own words. */
  readonly about: string
  /** What was sent without an answer that says what happened. */
  readonly unanswered: number
  readonly answer: Answer | undefined
}

export interface ChaosClient {
  /** Resolves with the first answer that tells what happened; undefined when the run ended before there was one. */
  post(path: string, body: unknown, about: string): Promise<Answer | undefined>
  /** The state of a meeting, or undefined while nobody answers. */
  stateOf(meetingId: string): Promise<string | undefined>
  readonly asked: readonly Asked[]
  /** How often so far something was sent and no answer said what came of it, those under way included. */
  unanswered(): number
  /** No new request is begun; what is under way is repeated until it is answered, or until `giveUp`. */
  giveUp(): void
}

const AGAIN_MS = 150
const PATIENCE_MS = 10_000
const Viewed = z.looseObject({ state: z.looseObject({ type: z.string() }) })

export const chaosClient = (url: string, apiKey: string): ChaosClient => {
  const asked: Asked[] = []
  let over = false
  let sentInVain = 0
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  /** Undefined: nobody knows what came of it. */
  const call = async (path: string, init: RequestInit): Promise<Answer | undefined> => {
    try {
      const response = await fetch(`${url}${path}`, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) })
      const text = await response.text()
      if (response.status >= 500) return undefined
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
    } catch {
      // Refused, reset, cut off, or no answer in time: the request may have been carried out.
      return undefined
    }
  }
  return {
    asked,
    unanswered: () => sentInVain,
    giveUp: () => (over = true),
    post: async (path, body, about) => {
      const key = randomUUID()
      const init = {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': key },
        body: JSON.stringify(body),
      }
      for (let unanswered = 0; ; unanswered++) {
        const answer = await call(path, init)
        if (answer !== undefined || over) {
          asked.push({ key, path, about, unanswered, answer })
          return answer
        }
        sentInVain++
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
      }
    },
    stateOf: async (meetingId) => {
      const answer = await call(`/v1/meetings/${meetingId}`, { headers })
      const viewed = Viewed.safeParse(answer?.body)
      return viewed.success ? viewed.data.state.type : undefined
    },
  }
}
