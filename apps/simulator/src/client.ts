import type { z } from 'zod'
import type {
  BusyBlock,
  Consistency,
  EventAct,
  FaultSpec,
  Paging,
  People,
  WebhookSettings,
} from './contract.ts'
import { EventView, EventViews, Fault, Faults, Ledger, Requests, WebhookInbox } from './contract.ts'
import { Mailbox, MailLinks, MailReplyAnswer } from './mail/contract.ts'
import type { MailboxSettings, MailReply } from './mail/contract.ts'

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
    /** One more thing in a person's calendar, beside what is there already. */
    addBusy: (address: string, block: z.input<typeof BusyBlock>) =>
      tell('POST', `people/${segment(address)}/busy`, block),
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
    putMailboxSettings: (address: string, settings: z.input<typeof MailboxSettings>) =>
      tell('PUT', `mailboxes/${segment(address)}`, settings),
    readMailbox: (address: string) => ask(Mailbox, 'GET', `mailboxes/${segment(address)}`),
    readMailLinks: (address: string) => ask(MailLinks, 'GET', `mailboxes/${segment(address)}/links`),
    /** Answers a mail of this mailbox: writes the answer and POSTs it, and tells what the URL said. */
    replyToMail: (address: string, reply: z.input<typeof MailReply>) =>
      ask(MailReplyAnswer, 'POST', `mailboxes/${segment(address)}/reply`, reply),
    setConsistency: (setting: z.input<typeof Consistency>) => tell('PUT', 'consistency', setting),
    setPaging: (setting: z.input<typeof Paging>) => tell('PUT', 'paging', setting),
    /** An empty world: no people, events, faults, webhooks, mails or logs. */
    reset: () => tell('POST', 'reset'),
  }
}
