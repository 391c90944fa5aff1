import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Answered } from '../http.ts'
import { withServer } from '../server.testing.ts'
import type { Asked } from '../server.testing.ts'
import type { Calendar } from './calendar.ts'
import { contractContext, contractDraft, ORGANIZER, WEEK } from './contract.testing.ts'
import { failureOfGoogle } from './google-errors.ts'
import { eventOfGoogle, GoogleEvent, googleBodyOf, googleEventId, googlePatchOf } from './google-event.ts'
import { googleCalendar } from './google.ts'

/** A Google that says one thing to everybody. */
const serving = <T>(
  body: unknown,
  act: (calendar: Calendar, asked: readonly Asked[]) => Promise<T>,
): Promise<T> =>
  withServer(
    () => ({ status: 200, body }),
    (url, asked) => {
      const tokens = () => Promise.resolve({ type: 'token', accessToken: 'abc' } as const)
      return act(googleCalendar({ rootUrl: `${url}/google/`, tokens }), asked)
    },
  )

const live = {
  id: 'abcde',
  status: 'confirmed',
  etag: '"1"',
  iCalUID: 'abcde@google.com',
  start: { dateTime: '2026-03-29T10:00:00+02:00', timeZone: 'Europe/Berlin' },
  end: { dateTime: '2026-03-29T11:00:00+02:00', timeZone: 'Europe/Berlin' },
}
const eventFrom = (changes: Record<string, unknown>) =>
  eventOfGoogle(GoogleEvent.parse({ ...live, ...changes }), ORGANIZER)

describe('a Google event id', () => {
  it('is legal base32hex, and one for each operation and epoch', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat({ max: 5 }), (operationId, epoch) => {
        const id = googleEventId({ operationId, epoch })
        expect(id).toMatch(/^[0-9a-v]{52}$/)
        expect(googleEventId({ operationId, epoch })).toBe(id)
        expect(googleEventId({ operationId, epoch: epoch + 1 })).not.toBe(id)
      }),
    )
  })

  it('never changes from one release to the next, for events already written bear it', () => {
    const operationId = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
    expect(googleEventId({ operationId, epoch: 0 })).toBe(
      'a5j55v3pmocct118nqv832j46njvafo4kt7u57k7jbal2pqlgcc0',
    )
  })
})

describe('what is sent to Google', () => {
  it('is the same body for the same draft', () => {
    const draft = contractDraft({ conference: true })
    expect(JSON.stringify(googleBodyOf(draft))).toBe(JSON.stringify(googleBodyOf({ ...draft })))
  })

  it('names instants in UTC, the organizer’s zone beside them, and asks for invitations', async () => {
    await serving(live, async (calendar, seen) => {
      await calendar.insertEvent(contractDraft(), contractContext())
      const url = new URL(seen[0]?.url ?? '', 'http://google.test')
      expect(url.pathname).toBe('/google/calendar/v3/calendars/ada%40example.com/events')
      expect(Object.fromEntries(url.searchParams)).toEqual({ sendUpdates: 'all' })
      expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
        start: { dateTime: '2026-03-29T08:00:00.000Z', timeZone: 'Europe/Berlin' },
        attendees: [
          { email: 'Bo@example.com', optional: false },
          { email: 'cy@example.com', optional: true },
        ],
      })
      expect(seen[0]?.headers.authorization).toBe('Bearer abc')
    })
  })

  it('asks for conference data only together with a conference', async () => {
    await serving(live, async (calendar, seen) => {
      await calendar.insertEvent(contractDraft({ conference: true }), contractContext())
      expect(seen[0]?.url).toContain('conferenceDataVersion=1')
      expect(seen[0]?.body).toContain('hangoutsMeet')
    })
  })

  it('changes an event under its etag, by what is to be different and no more, and tells everybody', async () => {
    await serving(live, async (calendar, seen) => {
      const ref = { calendarAddress: ORGANIZER, eventId: 'abcde' }
      await calendar.updateEvent(ref, contractDraft({ location: undefined }), '"1"', contractContext())
      const url = new URL(seen[0]?.url ?? '', 'http://google.test')
      expect(`${seen[0]?.method} ${url.pathname}`).toBe(
        'PATCH /google/calendar/v3/calendars/ada%40example.com/events/abcde',
      )
      expect(Object.fromEntries(url.searchParams)).toEqual({ sendUpdates: 'all', conferenceDataVersion: '1' })
      expect(seen[0]?.headers['if-match']).toBe('"1"')
      expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
        summary: 'Roof inspection',
        start: { dateTime: '2026-03-29T08:00:00.000Z', timeZone: 'Europe/Berlin', date: null },
        end: { dateTime: '2026-03-29T09:00:00.000Z', timeZone: 'Europe/Berlin', date: null },
        attendees: [
          { email: 'Bo@example.com', displayName: 'Bo', optional: false },
          { email: 'cy@example.com', displayName: 'Cy', optional: true },
        ],
        location: null,
      })
    })
  })

  it('asks for a missing conference under a name that no earlier request of the event had', () => {
    const draft = contractDraft({ conference: true })
    const ref = { calendarAddress: ORGANIZER, eventId: googleEventId(draft) }
    const requestIdOf = (body: ReturnType<typeof googleBodyOf>) =>
      body.conferenceData?.createRequest?.requestId ?? ''
    const asked = (etag: string | undefined) => requestIdOf(googlePatchOf({ ref, draft, etag }))
    expect(asked('"1"')).toBe(asked('"1"'))
    expect(
      new Set([requestIdOf(googleBodyOf(draft)), asked('"1"'), asked('"2"'), asked(undefined)]).size,
    ).toBe(4)
  })

  it('looks for deleted events too', async () => {
    await serving({ items: [] }, async (calendar, seen) => {
      const operationId = randomUUID()
      await calendar.findEvents(ORGANIZER, operationId, contractContext())
      const query = new URL(seen[0]?.url ?? '', 'http://google.test').searchParams
      expect(query.get('showDeleted')).toBe('true')
      expect(query.get('privateExtendedProperty')).toBe(`aftercommitOperationId=${operationId}`)
    })
  })
})

describe('what Google answers', () => {
  it('is not taken for ours when it does not carry our identity, whatever was filtered for', async () => {
    const operationId = randomUUID()
    const ours = { ...live, extendedProperties: { private: { aftercommitOperationId: operationId } } }
    const items = [
      live,
      ours,
      { ...live, extendedProperties: { shared: { aftercommitOperationId: operationId } } },
    ]
    await serving({ items }, async (calendar) => {
      const answer = await calendar.findEvents(ORGANIZER, operationId, contractContext())
      expect(answer.type === 'read' && answer.events).toHaveLength(1)
    })
  })

  it('is malformed when its pages never end', async () => {
    await serving({ items: [], nextPageToken: 'again' }, async (calendar) => {
      const answer = await calendar.findEvents(ORGANIZER, randomUUID(), contractContext())
      expect(answer).toEqual({ type: 'malformed', code: 'endless_pages' })
    })
  })

  it.each([
    ['no busy list', {}],
    ['an error without a reason', { errors: [{}], busy: [] }],
    ['an end before its start', { busy: [{ start: '2026-03-30T09:00:00Z', end: '2026-03-30T08:00:00Z' }] }],
    ['a time that is none', { busy: [{ start: 'soon', end: 'later' }] }],
    ['nothing at all', null],
  ])('leaves a calendar unknown with %s, and the next one known', async (_what, entry) => {
    const calendars = { [ORGANIZER]: entry, 'bo@example.com': { busy: [] } }
    await serving({ calendars }, async (calendar) => {
      const query = { addresses: [ORGANIZER, 'bo@example.com'], window: WEEK }
      const answer = await calendar.readFreeBusy(query, contractContext())
      const busy = answer.type === 'read' ? answer.busyByAddress : new Map<string, unknown>()
      expect(busy.get(ORGANIZER)).toMatchObject({ type: 'unknown', reason: 'other' })
      expect(busy.get('bo@example.com')).toEqual({ type: 'known', busy: [] })
    })
  })

  it('may be a tentative event', () => {
    expect(eventFrom({ status: 'tentative' })).toMatchObject({ status: 'tentative' })
  })

  it('has no instants once somebody made the event an all-day one', () => {
    const day = { start: { date: '2026-03-29' }, end: { date: '2026-03-30' } }
    expect(eventFrom(day)).toMatchObject({ status: 'confirmed', start: undefined, end: undefined })
  })

  it('may be no more than an id once the event is deleted', () => {
    const event = eventOfGoogle(GoogleEvent.parse({ id: 'abcde', status: 'cancelled' }), ORGANIZER)
    expect(event).toMatchObject({ eventId: 'abcde', status: 'cancelled', start: undefined })
  })

  it('is refused when it hides attendees, for then nobody can tell who is invited', () => {
    expect(GoogleEvent.safeParse({ ...live, attendeesOmitted: true }).success).toBe(false)
    expect(GoogleEvent.safeParse({ ...live, status: 'confirmed', start: undefined }).success).toBe(false)
  })

  it.each([
    [undefined, 'none'],
    [{ createRequest: { status: { statusCode: 'pending' } } }, 'pending'],
    [{ createRequest: {} }, 'pending'],
    [{ createRequest: { status: { statusCode: 'failure' } } }, 'failed'],
    [{ createRequest: { status: { statusCode: 'success' } } }, 'ready'],
    [{ entryPoints: [{ uri: 'https://meet.google.com/x' }] }, 'ready'],
  ])('tells a conference %j as %s', (conferenceData, conference) => {
    expect(eventFrom({ conferenceData })).toMatchObject({ conference })
  })

  it('tells where to join a conference that is ready, be it not Meet’s own, and no address of another kind', () => {
    const ready = (uri: unknown, hangoutLink?: unknown) =>
      eventFrom({
        hangoutLink,
        conferenceData: {
          createRequest: { status: { statusCode: 'success' } },
          entryPoints: [
            { entryPointType: 'phone', uri: 'tel:+15550100' },
            { entryPointType: 'video', uri },
          ],
        },
      }).conferenceUrl
    expect(ready('https://zoom.us/j/1')).toBe('https://zoom.us/j/1')
    expect(ready('https://zoom.us/j/1', 'https://meet.google.com/abc')).toBe('https://meet.google.com/abc')
    for (const odd of ['javascript:alert(1)', 'http://meet.google.com/x', 'soon', 5, null, undefined]) {
      expect(ready(odd, odd)).toBeUndefined()
    }
    const pending = { createRequest: { status: { statusCode: 'pending' } } }
    const hangoutLink = 'https://meet.google.com/abc'
    expect(eventFrom({ conferenceData: pending, hangoutLink }).conferenceUrl).toBeUndefined()
  })

  it('keeps what was widened beyond the draft visible', () => {
    expect(
      eventFrom({ visibility: 'public', attendees: [{ email: 'Eve@Example.com', organizer: true }] }),
    ).toMatchObject({ visibility: 'public', attendees: [{ address: 'eve@example.com', organizer: true }] })
  })
})

describe('a refusal by Google', () => {
  const refusal = (status: number, reason: string, message = '', domain = 'global'): Answered => ({
    type: 'answered',
    status,
    headers: new Headers(),
    body: JSON.stringify({ error: { code: status, message, errors: [{ domain, reason, message }] } }),
    startedAt: new Date(0),
    durationMs: 0,
  })

  it.each([
    [403, 'userRateLimitExceeded', { type: 'throttled' }],
    [403, 'rateLimitExceeded', { type: 'throttled' }],
    [429, 'rateLimitExceeded', { type: 'throttled' }],
    [403, 'quotaExceeded', { type: 'refused', reason: 'quota_exhausted' }],
    [403, 'forbiddenForServiceAccounts', { type: 'refused', reason: 'forbidden' }],
    [403, 'forbiddenForNonOrganizer', { type: 'refused', reason: 'forbidden' }],
    [403, 'insufficientPermissions', { type: 'refused', reason: 'forbidden' }],
    [403, 'somethingNew', { type: 'refused', reason: 'forbidden' }],
    [401, 'authError', { type: 'refused', reason: 'unauthenticated' }],
    [400, 'badRequest', { type: 'refused', reason: 'invalid' }],
    [400, 'timeRangeEmpty', { type: 'refused', reason: 'invalid' }],
    [404, 'notFound', { type: 'refused', reason: 'not_found' }],
    [412, 'conditionNotMet', { type: 'refused', reason: 'stale' }],
    [500, 'backendError', { type: 'uncertain' }],
  ])('with %i %s is %j', (status, reason, failure) => {
    expect(failureOfGoogle(refusal(status, reason))).toMatchObject({ ...failure, code: reason })
  })

  it('under a usage limit of a new name is an allowance used up', () => {
    const unknown = refusal(403, 'someNewLimit', '', 'usageLimits')
    expect(failureOfGoogle(unknown)).toMatchObject({ type: 'refused', reason: 'quota_exhausted' })
    const notEnabled = refusal(403, 'accessNotConfigured', '', 'usageLimits')
    expect(failureOfGoogle(notEnabled)).toMatchObject({ type: 'refused', reason: 'forbidden' })
  })

  it.each([
    ['invalid', 'Invalid attendee email.'],
    ['required', 'Missing attendee email.'],
  ])('names an attendee only by its sentence: %s, %s', (reason, message) => {
    expect(failureOfGoogle(refusal(400, reason, message))).toMatchObject({ reason: 'invalid_attendee' })
    expect(failureOfGoogle(refusal(400, reason, 'Invalid resource id value.'))).toMatchObject({
      reason: 'invalid',
    })
  })
})
