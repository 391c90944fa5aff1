import type { EventView, LedgerEntry } from './contract.ts'
import type { HeldEvent, World } from './state.ts'

/** The private property by which the product marks its events, as each provider names it. */
const operationIdProperty = {
  google: 'aftercommitOperationId',
  microsoft: 'String {6f1e6ab5-7f0c-4a53-9d0f-2f4a1d2b7c11} Name aftercommitOperationId',
} as const

const operationIdOf = ({ provider, properties }: HeldEvent): string | undefined =>
  properties.get(operationIdProperty[provider])

/** Notes an effect. The ledger is what a check compares the product's database with. */
export const record = (world: World, entry: Omit<LedgerEntry, 'sequence' | 'at'>): void => {
  world.ledger.push({ sequence: world.ledger.length + 1, at: new Date().toISOString(), ...entry })
}

type EventEffect = Exclude<LedgerEntry['effect'], 'webhook_received' | 'mail_received'>

export const recordEvent = (
  world: World,
  effect: EventEffect,
  event: HeldEvent,
  by: LedgerEntry['by'],
): void =>
  record(world, {
    provider: event.provider,
    effect,
    by,
    calendarAddress: event.calendarAddress,
    eventId: event.id,
    operationId: operationIdOf(event),
    attendees: event.attendees.map(({ address }) => address),
    ...spanOf(event),
  })

const spanOf = ({ time }: HeldEvent): { readonly start: string; readonly end: string } =>
  time.type === 'timed'
    ? { start: time.start.toISOString(), end: time.end.toISOString() }
    : { start: time.start, end: time.end }

export const eventView = (event: HeldEvent): EventView => ({
  provider: event.provider,
  id: event.id,
  status: event.status,
  title: event.title,
  ...spanOf(event),
  timeZone: event.time.type === 'timed' ? event.time.timeZone : 'floating',
  location: event.location ?? null,
  attendees: event.attendees.map(({ address, kind, response }) => ({
    address,
    optional: kind === 'optional',
    response,
  })),
  conference: event.conference.type,
  operationId: operationIdOf(event) ?? null,
  createdAt: event.createdAt.toISOString(),
})
