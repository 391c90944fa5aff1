/**
 * The contract of the calendar port: what every adapter must be able to tell apart, told once and run by each of them
 * against the simulator over HTTP. What only one provider can do stands in that adapter's own tests.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { FaultAct, SimulatorControl } from '@aftercommit/simulator'
import type { CallContext, CallFailure, ProviderCall } from '../call.ts'
import type { Calendar, EventDraft, EventRef, ProviderEvent, UnknownCalendarReason } from './calendar.ts'

/** One provider as the contract sees it. */
export interface ContractSubject {
  readonly provider: Calendar['provider']
  /** The simulator's names for what the port's methods call. */
  readonly operations: Readonly<Record<'busy' | 'insert' | 'update' | 'get' | 'list' | 'cancel', string>>
  /** The most days and addresses one free/busy request takes. */
  readonly limits: { readonly days: number; readonly addresses: number }
  /** What is learned of a calendar that cannot be read, by the simulator's word for why. */
  readonly unknownReasons: Readonly<Record<Unreadable, UnknownCalendarReason>>
  /** Refusals in this provider's own words, and what each must come to, whichever method meets it. */
  readonly refusals: readonly BrokenCall[]
  /** A new connection, without a token of its own yet. `url` is the simulator's. */
  readonly connect: (url: string, refreshToken: string) => Calendar
}

export const UNREADABLE = [
  'no_access',
  'unknown_person',
  'no_mailbox',
  'internal_error',
  'too_many_entries',
  'left_out',
] as const
export type Unreadable = (typeof UNREADABLE)[number]

/** One way to break a call, and what it must come to. */
export interface BrokenCall {
  readonly when: string
  readonly act: FaultAct
  readonly failure: CallFailure
}

/** A fresh world for each test. */
export interface ContractWorld {
  readonly url: string
  readonly control: SimulatorControl
}

type PersonInput = Parameters<SimulatorControl['putPeople']>[0][number]

export const ORGANIZER = 'ada@example.com'

export const contractContext = (
  overrides: Partial<CallContext> = {},
): CallContext & { readonly calls: ProviderCall[] } => {
  const calls: ProviderCall[] = []
  return {
    signal: new AbortController().signal,
    timeoutMs: 5_000,
    record: (call) => calls.push(call),
    calls,
    ...overrides,
  }
}

export const contractDraft = (changes: Partial<EventDraft> = {}): EventDraft => ({
  operationId: randomUUID(),
  epoch: 0,
  calendarAddress: ORGANIZER,
  title: 'Roof inspection',
  // The last Sunday of March: clocks change in Berlin on this very day.
  start: new Date('2026-03-29T08:00:00Z'),
  end: new Date('2026-03-29T09:00:00Z'),
  timeZone: 'Europe/Berlin',
  attendees: [
    { address: 'Bo@example.com', displayName: 'Bo', role: 'required' },
    { address: 'cy@example.com', displayName: 'Cy', role: 'optional' },
  ],
  location: 'Hall 3',
  conference: false,
  ...changes,
})

export type PortMethod = keyof ContractSubject['operations']

/** Every method of the port once, on one event. */
export const portCalls = (
  calendar: Calendar,
  ref: EventRef,
): Readonly<Record<PortMethod, (context: CallContext) => Promise<{ readonly type: string }>>> => ({
  busy: (context) => calendar.readFreeBusy({ addresses: [ORGANIZER], window: WEEK }, context),
  insert: (context) => calendar.insertEvent(contractDraft(), context),
  update: (context) => calendar.updateEvent(ref, contractDraft(), undefined, context),
  get: (context) => calendar.readEvent(ref, context),
  list: (context) => calendar.findEvents(ORGANIZER, randomUUID(), context),
  cancel: (context) => calendar.cancelEvent(ref, context),
})

export const PORT_METHODS: readonly PortMethod[] = ['busy', 'insert', 'update', 'get', 'list', 'cancel']

export const WEEK = { start: new Date('2026-03-27T00:00:00Z'), end: new Date('2026-04-03T00:00:00Z') }

/** A connected organizer in a world of its own, and the few things every test asks of it. */
export const contractScene = async (subject: ContractSubject, world: ContractWorld) => {
  const { control, url } = world
  const { provider, operations } = subject
  const refreshToken = randomBytes(24).toString('base64url')
  const person = (address: string, more: Partial<PersonInput> = {}): PersonInput => ({
    address,
    provider,
    timeZone: 'Europe/Berlin',
    ...more,
  })
  await control.reset()
  await control.putPeople([person(ORGANIZER, { refreshToken })])
  const calendar = subject.connect(url, refreshToken)

  const written = async (draft: EventDraft): Promise<ProviderEvent> => {
    const answer = await calendar.insertEvent(draft, contractContext())
    if (answer.type !== 'written') throw new Error(`the scene could not write its event: ${answer.type}`)
    return answer.event
  }
  return {
    calendar,
    refreshToken,
    control,
    putPeople: (people: readonly PersonInput[]) => control.putPeople([...people]),
    person,
    written,
    refTo: async (draft: EventDraft): Promise<EventRef> => ({
      calendarAddress: draft.calendarAddress,
      eventId: (await written(draft)).eventId,
    }),
    /** Scripts what becomes of the next call of one method, or of the token request. */
    breakNext: (method: PortMethod | 'token', act: FaultAct, skip = 0) =>
      control.addFault({
        id: randomUUID(),
        provider,
        operation: method === 'token' ? 'token' : operations[method],
        skip,
        act,
      }),
    requestsOf: async (method: PortMethod | 'token'): Promise<number> => {
      const operation = method === 'token' ? 'token' : operations[method]
      return (await control.readRequests()).filter((request) => request.operation === operation).length
    },
    createdEvents: async (): Promise<number> =>
      (await control.readLedger()).filter(({ effect }) => effect === 'event_created').length,
  }
}
export type ContractScene = Awaited<ReturnType<typeof contractScene>>

/** What each way to break a call must come to, for every method of the port alike. */
export const FAILURES: readonly BrokenCall[] = [
  {
    when: 'a 429 that says how long to wait',
    act: { type: 'answer', status: 429, body: {}, headers: { 'retry-after': '7' } },
    failure: { type: 'throttled', code: 'http_429', retryAfterMs: 7_000 },
  },
  {
    when: 'a 429 that does not',
    act: { type: 'answer', status: 429, body: 'slow down' },
    failure: { type: 'throttled', code: 'http_429', retryAfterMs: undefined },
  },
  {
    when: 'a 503 with a Retry-After',
    act: { type: 'answer', status: 503, body: {}, headers: { 'retry-after': '1' } },
    failure: { type: 'uncertain', code: 'http_503' },
  },
  {
    when: 'a 500 with a page of HTML',
    act: { type: 'answer', status: 500, body: '<html></html>', headers: { 'content-type': 'text/html' } },
    failure: { type: 'uncertain', code: 'http_500' },
  },
  {
    when: 'a 408',
    act: { type: 'answer', status: 408, body: '' },
    failure: { type: 'uncertain', code: 'http_408' },
  },
  {
    when: 'a redirect',
    act: { type: 'answer', status: 302, body: '', headers: { location: 'http://127.0.0.1:1/' } },
    failure: { type: 'uncertain', code: 'http_302' },
  },
  {
    when: 'a 401 in nobody’s envelope',
    act: { type: 'answer', status: 401, body: {} },
    failure: { type: 'refused', reason: 'unauthenticated', code: 'http_401', status: 401 },
  },
  {
    when: 'a 404 page of something on the way',
    act: { type: 'answer', status: 404, body: 'no route' },
    failure: { type: 'refused', reason: 'not_found', code: 'http_404', status: 404 },
  },
  {
    when: 'a 403 page of something on the way',
    act: { type: 'answer', status: 403, body: 'blocked' },
    failure: { type: 'refused', reason: 'forbidden', code: 'http_403', status: 403 },
  },
  {
    when: 'a 400 in nobody’s envelope',
    act: { type: 'answer', status: 400, body: {} },
    failure: { type: 'refused', reason: 'invalid', code: 'http_400', status: 400 },
  },
  {
    when: 'a 423',
    act: { type: 'answer', status: 423, body: {} },
    failure: { type: 'refused', reason: 'conflict', code: 'http_423', status: 423 },
  },
  {
    when: 'a 412',
    act: { type: 'answer', status: 412, body: {} },
    failure: { type: 'refused', reason: 'stale', code: 'http_412', status: 412 },
  },
]
