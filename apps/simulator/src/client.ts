import type { z } from 'zod'
import type { Consistency, EventAct, FaultSpec, Paging, People, WebhookSettings } from './contract.ts'
import { EventView, EventViews, Fault, Faults, Ledger, Requests, WebhookInbox } from './contract.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'DELETE'

export type SimulatorControl = ReturnType<typeof simulatorControl>

/**
 * The control API of a running simulator as functions. Every answer is validated; a refusal rejects with the
 * control API's own words, for a test that scripts the world wrongly is itself wrong.
 */
export const simulatorControl = (url: string) => {
  const send = async (method: Method, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(new URL(`/control/${path}`, url), {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`simulator refused ${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const ask = async <T>(answer: z.ZodType<T>, method: Method, path: string, body?: unknown): Promise<T> =>
    answer.parse(await send(method, path, body))
  const tell = async (method: Method, path: string, body?: unknown): Promise<void> => {
    await send(method, path, body)
  }
  const segment = encodeURIComponent

  return {
    /** Adds people, or replaces those of the same address. */
    putPeople: (people: z.input<typeof People>) => tell('PUT', 'people', people),
    addFault: (fault: z.input<typeof FaultSpec>) => ask(Fault, 'POST', 'faults', fault),
    readFaults: () => ask(Faults, 'GET', 'faults'),
    /**
     * Resolves once the fault has fired that often; rejects after 20 seconds. A gate for tests, instead of
     * sleeping.
     */
    waitForFault: (id: string, firedAtLeast = 1) =>
      ask(Fault, 'GET', `faults/${segment(id)}?firedAtLeast=${firedAtLeast}`),
    /** Lets every call held by this fault go on, now and later. */
    releaseFault: (id: string) => ask(Fault, 'POST', `faults/${segment(id)}/release`),
    /** Forgets all faults and releases what they hold. */
    clearFaults: () => tell('DELETE', 'faults'),
    readLedger: () => ask(Ledger, 'GET', 'ledger'),
    readRequests: () => ask(Requests, 'GET', 'requests'),
    /** Live and cancelled events of one calendar. */
    readEvents: (address: string) => ask(EventViews, 'GET', `calendars/${segment(address)}/events`),
    actOnEvent: (eventId: string, act: z.input<typeof EventAct>) =>
      ask(EventView, 'POST', `events/${segment(eventId)}`, act),
    putWebhookSettings: (name: string, settings: z.input<typeof WebhookSettings>) =>
      tell('PUT', `webhooks/${segment(name)}`, settings),
    readWebhooks: (name: string) => ask(WebhookInbox, 'GET', `webhooks/${segment(name)}`),
    setConsistency: (setting: z.input<typeof Consistency>) => tell('PUT', 'consistency', setting),
    setPaging: (setting: z.input<typeof Paging>) => tell('PUT', 'paging', setting),
    /** An empty world: no people, events, faults, webhooks or logs. */
    reset: () => tell('POST', 'reset'),
  }
}
