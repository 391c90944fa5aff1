/**
 * A running simulator with two people at each provider, and their access tokens, for this package's tests.
 */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { simulatorControl, startSimulator } from './index.ts'
import type { SimulatorControl } from './index.ts'
import { vendorCheck } from './vendor-schemas.testing.ts'

export const ada = 'ada@google.example'
export const grace = 'grace@google.example'
export const mary = 'mary@microsoft.example'
export const joan = 'joan@microsoft.example'

export const slot = { start: '2026-03-24T14:00:00Z', end: '2026-03-24T15:00:00Z' }
export const window = { start: '2026-03-24T00:00:00Z', end: '2026-03-25T00:00:00Z' }

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

export interface TestWorld {
  readonly url: string
  readonly control: SimulatorControl
  readonly stop: () => Promise<void>
  /** Calls Google Calendar as ada unless another token is given. */
  readonly google: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Reply>
  /** Calls Graph as mary unless another token is given. */
  readonly graph: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Reply>
}

export const startTestWorld = async (): Promise<TestWorld> => {
  const check = vendorCheck('anybody')
  const simulator = await startSimulator({ observe: check.observe })
  const control = simulatorControl(simulator.url)
  const refreshTokens = { ada: randomUUID(), mary: randomUUID() }
  await control.putPeople([
    { address: ada, provider: 'google', timeZone: 'America/New_York', refreshToken: refreshTokens.ada },
    { address: grace, provider: 'google', timeZone: 'Europe/Berlin' },
    { address: mary, provider: 'microsoft', timeZone: 'Europe/London', refreshToken: refreshTokens.mary },
    { address: joan, provider: 'microsoft', timeZone: 'America/Los_Angeles' },
  ])
  const { url } = simulator
  const googleToken = await accessToken(`${url}/google/token`, refreshTokens.ada)
  const graphToken = await accessToken(`${url}/login/common/oauth2/v2.0/token`, refreshTokens.mary)
  const calling =
    (root: string, token: string): TestWorld['google'] =>
    async (method, path, body, headers) => {
      const response = await fetch(`${url}${root}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      const mistakes = check.takeMistakes()
      if (mistakes.length > 0) throw new Error(mistakes.join('\n'))
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' ? undefined : JSON.parse(text),
      }
    }
  return {
    url,
    control,
    stop: simulator.stop,
    google: calling('/google/calendar/v3', googleToken),
    graph: calling('/graph/v1.0', graphToken),
  }
}

export const requestToken = (tokenUrl: string, form: Record<string, string>): Promise<Response> =>
  fetch(tokenUrl, { method: 'POST', body: new URLSearchParams(form) })

const accessToken = async (tokenUrl: string, refreshToken: string): Promise<string> => {
  const response = await requestToken(tokenUrl, {
    grant_type: 'refresh_token',
    client_id: 'test',
    client_secret: randomUUID(),
    refresh_token: refreshToken,
  })
  return z.object({ access_token: z.string() }).parse(await response.json()).access_token
}

/** A Google event body; further members replace these. */
export const googleEvent = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  summary: 'Review',
  start: { dateTime: slot.start, timeZone: 'America/New_York' },
  end: { dateTime: slot.end, timeZone: 'America/New_York' },
  ...more,
})

/** A Graph event body; further members replace these. */
export const graphEvent = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  subject: 'Review',
  start: { dateTime: '2026-03-24T14:00:00', timeZone: 'UTC' },
  end: { dateTime: '2026-03-24T15:00:00', timeZone: 'UTC' },
  ...more,
})

const Identified = z.looseObject({ id: z.string() })
export const idOf = (reply: Reply): string => Identified.parse(reply.body).id
