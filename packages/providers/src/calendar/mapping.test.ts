import fc from 'fast-check'
import type { CallFailure } from '../call.ts'
import type { Answered } from '../http.ts'
import type { CalendarBusy, EventDraft, ProviderEvent } from './calendar.ts'
import { busyOfCalendars } from './google-busy.ts'
import { failureOfGoogle } from './google-errors.ts'
import { eventOfGoogle, GoogleEvent, googleBodyOf } from './google-event.ts'
import { busyOfSchedules } from './microsoft-busy.ts'
import { failureOfGraph, failureOfGraphWrite } from './microsoft-errors.ts'
import { eventOfMicrosoft, MicrosoftEvent, microsoftBodyOf, transactionIdOf } from './microsoft-event.ts'

const address = fc.emailAddress().map((given) => given.toLowerCase())
const instant = fc.date({
  min: new Date('2000-01-01T00:00:00Z'),
  max: new Date('2099-12-31T00:00:00Z'),
  noInvalidDate: true,
})

const draft: fc.Arbitrary<EventDraft> = fc
  .record({
    operationId: fc.uuid(),
    epoch: fc.nat({ max: 4 }),
    calendarAddress: address,
    title: fc.string({ unit: 'grapheme' }),
    start: instant,
    lengthMs: fc.integer({ min: 1, max: 86_400_000 }),
    timeZone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC'),
    attendees: fc.array(
      fc.record({
        address,
        displayName: fc.string(),
        role: fc.constantFrom('required' as const, 'optional' as const),
      }),
      { maxLength: 6 },
    ),
    location: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    conference: fc.boolean(),
  })
  .map(({ lengthMs, ...rest }) => ({ ...rest, end: new Date(rest.start.getTime() + lengthMs) }))

/** What a read-back is compared with, as the draft promises it. */
const promised = (of: EventDraft): Partial<ProviderEvent> => ({
  calendarAddress: of.calendarAddress,
  status: 'confirmed',
  title: of.title,
  start: of.start,
  end: of.end,
  attendees: of.attendees.map(({ address: at, role }) => ({
    address: at,
    role,
    response: 'needs_action',
    organizer: false,
  })),
  location: of.location,
  conference: of.conference ? 'pending' : 'none',
  visibility: 'default',
  operationId: of.operationId,
})

const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('a draft that comes back as it was sent', () => {
  it('reads as what was approved, from Google', () => {
    fc.assert(
      fc.property(draft, (of) => {
        const held = { ...googleBodyOf(of), status: 'confirmed', etag: '"1"', iCalUID: 'x@google.com' }
        const event = eventOfGoogle(GoogleEvent.parse(overTheWire(held)), of.calendarAddress)
        expect(event).toMatchObject({ ...promised(of), timeZone: of.timeZone })
      }),
    )
  })

  it('reads as what was approved, from Microsoft, with fractions of seven digits', () => {
    const widened = (time: { dateTime?: string | null } | null | undefined) => ({
      dateTime: `${time?.dateTime ?? ''}0000`,
      timeZone: 'UTC',
    })
    fc.assert(
      fc.property(draft, (of) => {
        const body = microsoftBodyOf(of)
        const times = { start: widened(body.start), end: widened(body.end) }
        const held = { ...body, ...times, id: 'AAkALg=', '@odata.etag': 'W/"1"', iCalUId: '0400' }
        const event = eventOfMicrosoft(MicrosoftEvent.parse(overTheWire(held)), of.calendarAddress)
        expect(event).toMatchObject(promised(of))
      }),
    )
  })
})

it('a transactionId is a UUID, the operation’s own at first, and another for every epoch', () => {
  fc.assert(
    fc.property(fc.uuid(), (operationId) => {
      const ids = [0, 1, 2, 3].map((epoch) => transactionIdOf({ operationId, epoch }))
      expect(ids[0]).toBe(operationId)
      expect(new Set(ids).size).toBe(4)
      for (const id of ids.slice(1)) {
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      }
    }),
  )
})

describe('free/busy, whatever the provider says of a calendar', () => {
  const isKnown = (busy: CalendarBusy | undefined): boolean => busy?.type === 'known'
  const present = fc.anything().filter((value) => value !== undefined && value !== null)

  it('is known from Google only of an entry without errors and with a list', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (entry) => {
        const known = isKnown(
          busyOfCalendars(['a@x.example'], { calendars: { 'a@x.example': entry } }).get('a@x.example'),
        )
        const looksKnown =
          typeof entry === 'object' && entry !== null && 'busy' in entry && Array.isArray(entry.busy)
        expect(known && !looksKnown).toBe(false)
      }),
    )
    fc.assert(
      fc.property(fc.array(present, { minLength: 1 }), (errors) => {
        const calendars = { 'a@x.example': { errors, busy: [] } }
        expect(isKnown(busyOfCalendars(['a@x.example'], { calendars }).get('a@x.example'))).toBe(false)
      }),
    )
  })

  it('is known from Microsoft only of an entry without an error and with a list', () => {
    const busyOf = (entry: Record<string, unknown>) =>
      busyOfSchedules(['a@x.example'], { value: [{ ...entry, scheduleId: 'A@x.example' }] }).get(
        'a@x.example',
      )
    fc.assert(
      fc.property(present, (error) => {
        expect(isKnown(busyOf({ error, scheduleItems: [] }))).toBe(false)
      }),
    )
    fc.assert(
      fc.property(fc.jsonValue(), (scheduleItems) => {
        expect(isKnown(busyOf({ scheduleItems })) && !Array.isArray(scheduleItems)).toBe(false)
      }),
    )
    expect(busyOf({ error: null, scheduleItems: [] })).toEqual({ type: 'known', busy: [] })
  })

  it('has an entry for every address that was asked for, and for no other', () => {
    fc.assert(
      fc.property(fc.uniqueArray(address), fc.dictionary(address, fc.jsonValue()), (asked, calendars) => {
        expect([...busyOfCalendars(asked, { calendars }).keys()]).toEqual(asked)
      }),
    )
  })
})

describe('a refusal, whatever its status and body', () => {
  const answered = (status: number, body: string): Answered => ({
    type: 'answered',
    status,
    headers: new Headers(),
    body,
    startedAt: new Date(0),
    durationMs: 0,
  })
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('notFound', 'rateLimitExceeded', 'quotaExceeded', 'ErrorInvalidRecipients', 'authError'),
  )
  const body = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .tuple(word, word, word)
      .map(([domain, reason, message]) =>
        JSON.stringify({ error: { code: reason, message, errors: [{ domain, reason, message }] } }),
      ),
  )
  const status = fc.oneof(
    fc.integer({ min: 300, max: 599 }),
    fc.constantFrom(400, 401, 403, 404, 408, 409, 412, 429, 500, 503),
  )

  it.each<[string, (of: Answered) => CallFailure]>([
    ['Google', failureOfGoogle],
    ['Graph', failureOfGraph],
    ['Graph, of a write', failureOfGraphWrite],
  ])('of %s proves nothing where the call may have taken effect, and tells no sentence', (_who, judge) => {
    fc.assert(
      fc.property(status, body, (code, text) => {
        const failure = judge(answered(code, text))
        expect(failure.code).toMatch(/^[\w.:-]{1,64}$/)
        if (code < 400 || code === 408 || code >= 500) expect(failure.type).toBe('uncertain')
        if (code === 429) expect(failure.type).toBe('throttled')
        expect(['not_sent', 'malformed']).not.toContain(failure.type)
      }),
    )
  })

  it.each([400, 403, 409])('of Graph with %i names a full mailbox by its word', (code) => {
    const full = answered(code, JSON.stringify({ error: { code: 'ErrorQuotaExceeded' } }))
    expect(failureOfGraph(full)).toMatchObject({ type: 'refused', reason: 'quota_exhausted' })
  })

  it('of Graph about recipients is an attendee’s, but of a write it proves nothing', () => {
    const refused = answered(400, JSON.stringify({ error: { code: 'ErrorInvalidRecipients' } }))
    expect(failureOfGraph(refused)).toMatchObject({ type: 'refused', reason: 'invalid_attendee' })
    expect(failureOfGraphWrite(refused)).toMatchObject({ type: 'uncertain', claimed: 'invalid_attendee' })
  })
})
