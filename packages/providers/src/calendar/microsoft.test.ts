import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { withServer } from '../server.testing.ts'
import type { Asked, Scripted } from '../server.testing.ts'
import type { Calendar } from './calendar.ts'
import { contractContext, contractDraft, ORGANIZER, WEEK } from './contract.testing.ts'
import { eventOfMicrosoft, MicrosoftEvent, microsoftBodyOf, transactionIdOf } from './microsoft-event.ts'
import { microsoftCalendar } from './microsoft.ts'

type Answering = Parameters<typeof withServer>[0]

/** A Graph that says one thing to everybody. */
const serving = <T>(
  answer: Answering,
  act: (calendar: Calendar, asked: readonly Asked[]) => Promise<T>,
): Promise<T> =>
  withServer(answer, (url, asked) => {
    const tokens = () => Promise.resolve({ type: 'token', accessToken: 'abc' } as const)
    return act(microsoftCalendar({ baseUrl: `${url}/graph/`, tokens }), asked)
  })
const refusing =
  (status: number, code: string, more: Record<string, string> = {}) =>
  (): Scripted => ({
    status,
    body: { error: { code, message: '', ...more } },
  })

const Wall = z.object({ dateTime: z.string() })
const AskedSchedule = z.object({ schedules: z.array(z.string()), startTime: Wall, endTime: Wall })

const PROPERTY = 'String {6f1e6ab5-7f0c-4a53-9d0f-2f4a1d2b7c11} Name aftercommitOperationId'
const live = {
  id: 'AAkALg=',
  '@odata.etag': 'W/"1"',
  iCalUId: '0400',
  subject: 'Roof inspection',
  start: { dateTime: '2026-03-29T08:00:00.0000000', timeZone: 'UTC' },
  end: { dateTime: '2026-03-29T09:00:00.0000000', timeZone: 'UTC' },
  attendees: [],
}
const eventFrom = (changes: Record<string, unknown>) =>
  eventOfMicrosoft(MicrosoftEvent.parse({ ...live, ...changes }), ORGANIZER)

describe('what is sent to Graph', () => {
  it('asks every time for ids that last and for times in UTC, and bears the token over plain http', async () => {
    await serving(
      () => ({ status: 200, body: { value: [] } }),
      async (calendar, seen) => {
        const ref = { calendarAddress: ORGANIZER, eventId: 'a/b+c=' }
        await calendar.readFreeBusy({ addresses: [ORGANIZER], window: WEEK }, contractContext())
        await calendar.insertEvent(contractDraft(), contractContext())
        await calendar.updateEvent(ref, contractDraft(), 'W/"1"', contractContext())
        await calendar.readEvent(ref, contractContext())
        await calendar.findEvents(ORGANIZER, randomUUID(), contractContext())
        await calendar.cancelEvent(ref, contractContext())
        expect(seen.map(({ method, url }) => `${method} ${url.replace(/\?.*/, '')}`)).toEqual([
          'POST /graph/v1.0/me/calendar/getSchedule',
          'POST /graph/v1.0/users/ada%40example.com/events',
          'PATCH /graph/v1.0/users/ada%40example.com/events/a%2Fb%2Bc%3D',
          'GET /graph/v1.0/users/ada%40example.com/events/a%2Fb%2Bc%3D',
          'GET /graph/v1.0/users/ada%40example.com/events',
          'POST /graph/v1.0/users/ada%40example.com/events/a%2Fb%2Bc%3D/cancel',
        ])
        for (const { headers } of seen) {
          expect(headers.prefer).toBe('IdType="ImmutableId", outlook.timezone="UTC"')
          expect(headers.authorization).toBe('Bearer abc')
        }
      },
    )
  })

  it('changes an event under its etag, by what is to be different and no more', async () => {
    const answer = () => ({ status: 200, body: live })
    await serving(answer, async (calendar, seen) => {
      const ref = { calendarAddress: ORGANIZER, eventId: 'AAkALg=' }
      const draft = contractDraft({ location: undefined })
      await calendar.updateEvent(ref, draft, 'W/"1"', contractContext())
      await calendar.updateEvent(ref, draft, undefined, contractContext())
      expect(seen.map(({ headers }) => headers['if-match'])).toEqual(['W/"1"', undefined])
      expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
        subject: 'Roof inspection',
        start: { dateTime: '2026-03-29T08:00:00.000', timeZone: 'UTC' },
        end: { dateTime: '2026-03-29T09:00:00.000', timeZone: 'UTC' },
        isAllDay: false,
        attendees: [
          { type: 'required', emailAddress: { address: 'Bo@example.com', name: 'Bo' } },
          { type: 'optional', emailAddress: { address: 'cy@example.com', name: 'Cy' } },
        ],
        location: { displayName: '' },
      })
    })
  })

  it('asks for no meeting of an event that has one, and for one where there is none', async () => {
    const asked = async (held: Record<string, unknown>): Promise<unknown> => {
      const answer = () => ({ status: 200, body: { ...live, ...held } })
      return serving(answer, async (calendar, seen) => {
        const ref = { calendarAddress: ORGANIZER, eventId: 'AAkALg=' }
        await calendar.updateEvent(ref, contractDraft({ conference: true }), undefined, contractContext())
        expect(seen.map(({ method }) => method)).toEqual(['GET', 'PATCH'])
        return z.looseObject({}).parse(JSON.parse(seen[1]?.body ?? '')).isOnlineMeeting
      })
    }
    expect(await asked({ isOnlineMeeting: false })).toBe(true)
    expect(await asked({ isOnlineMeeting: true, onlineMeeting: null })).toBeUndefined()
    expect(
      await asked({ isOnlineMeeting: true, onlineMeeting: { joinUrl: 'https://teams/x' } }),
    ).toBeUndefined()
  })

  it('is the same body for the same draft, byte for byte', () => {
    const draft = contractDraft({ conference: true })
    expect(JSON.stringify(microsoftBodyOf(draft))).toBe(JSON.stringify(microsoftBodyOf({ ...draft })))
  })

  it('names instants in UTC without an offset', () => {
    expect(microsoftBodyOf(contractDraft()).start).toEqual({
      dateTime: '2026-03-29T08:00:00.000',
      timeZone: 'UTC',
    })
  })

  it('bears a transactionId of the operation, another for each epoch, all of them UUIDs', () => {
    const operationId = randomUUID()
    const ids = [0, 1, 2].map((epoch) => transactionIdOf({ operationId, epoch }))
    expect(ids[0]).toBe(operationId)
    expect(new Set(ids).size).toBe(3)
    for (const id of ids.slice(1)) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
  })

  it('gives the first and last day of a window a day’s room, and never asks for too much', async () => {
    await serving(
      () => ({ status: 200, body: { value: [] } }),
      async (calendar, seen) => {
        const window = { start: new Date('2026-01-01T00:00:00Z'), end: new Date('2026-12-01T00:00:00Z') }
        const addresses = Array.from({ length: 45 }, (_, index) => `person${index}@example.com`)
        await calendar.readFreeBusy({ addresses, window }, contractContext())
        const asked = seen.map(({ body }) => AskedSchedule.parse(JSON.parse(body)))
        expect(asked[0]?.startTime.dateTime).toBe('2025-12-31T00:00:00.000')
        expect(asked.at(-1)?.endTime.dateTime).toBe('2026-12-02T00:00:00.000')
        for (const { schedules, startTime, endTime } of asked) {
          expect(schedules.length).toBeLessThanOrEqual(20)
          const lengthMs = Date.parse(`${endTime.dateTime}Z`) - Date.parse(`${startTime.dateTime}Z`)
          expect(lengthMs).toBeLessThan(62 * 86_400_000)
        }
      },
    )
  })
})

describe('what Graph answers', () => {
  it.each([400, 409])('with %i that the transactionId is taken is an event that exists', async (status) => {
    const answer = refusing(status, 'ErrorDuplicateTransactionId', { '@event.existingEventId': 'AAkALg=' })
    await serving(answer, async (calendar) => {
      expect(await calendar.insertEvent(contractDraft(), contractContext())).toEqual({
        type: 'already_exists',
        eventId: 'AAkALg=',
      })
    })
  })

  it.each([
    [404, 'MailboxNotEnabledForRESTAPI', { type: 'refused', reason: 'not_found' }],
    [404, 'ErrorInvalidUser', { type: 'refused', reason: 'not_found' }],
    [403, 'ErrorAccessDenied', { type: 'refused', reason: 'forbidden' }],
    [401, 'InvalidAuthenticationToken', { type: 'refused', reason: 'unauthenticated' }],
    [412, 'ErrorIrresolvableConflict', { type: 'refused', reason: 'stale' }],
    [400, 'ErrorInvalidRequest', { type: 'refused', reason: 'invalid' }],
    [429, 'ApplicationThrottled', { type: 'throttled' }],
    [503, 'serviceNotAvailable', { type: 'uncertain' }],
    [504, 'UnknownError', { type: 'uncertain' }],
  ])('with %i %s is about the call, and says nothing about the event', async (status, code, failure) => {
    await serving(refusing(status, code), async (calendar, seen) => {
      const ref = { calendarAddress: ORGANIZER, eventId: 'x' }
      expect(await calendar.readEvent(ref, contractContext())).toMatchObject({ ...failure, code })
      expect(await calendar.cancelEvent(ref, contractContext())).toMatchObject({ ...failure, code })
      const update = calendar.updateEvent(ref, contractDraft(), undefined, contractContext())
      expect(await update).toMatchObject({ ...failure, code })
      expect(await calendar.insertEvent(contractDraft(), contractContext())).toMatchObject({
        ...failure,
        code,
      })
      expect(seen).toHaveLength(4)
    })
  })

  it('with a next link to another host is not followed there with our token', async () => {
    const elsewhere = { value: [], '@odata.nextLink': 'http://127.0.0.1:1/graph/v1.0/users/x/events?$skip=1' }
    await serving(
      () => ({ status: 200, body: elsewhere }),
      async (calendar, seen) => {
        const answer = await calendar.findEvents(ORGANIZER, randomUUID(), contractContext())
        expect(answer).toEqual({ type: 'malformed', code: 'foreign_next_link' })
        expect(seen).toHaveLength(1)
      },
    )
  })

  it('with pages that never end is malformed', async () => {
    const again = (_asked: Asked, url: string): Scripted => ({
      status: 200,
      body: { value: [], '@odata.nextLink': `${url}/graph/v1.0/users/x/events?$skip=1` },
    })
    await serving(again, async (calendar) => {
      const answer = await calendar.findEvents(ORGANIZER, randomUUID(), contractContext())
      expect(answer).toEqual({ type: 'malformed', code: 'endless_pages' })
    })
  })

  it('is not taken for ours when it does not carry our identity, whatever was filtered for', async () => {
    const operationId = randomUUID()
    const carrying = (id: string) => ({
      ...live,
      singleValueExtendedProperties: [{ id, value: operationId.toUpperCase() }],
    })
    const value = [live, carrying(PROPERTY), carrying(PROPERTY.toLowerCase())]
    await serving(
      () => ({ status: 200, body: { value } }),
      async (calendar) => {
        const answer = await calendar.findEvents(ORGANIZER, operationId, contractContext())
        expect(answer.type === 'read' && answer.events).toHaveLength(1)
      },
    )
  })

  it('in another zone than asked for is not read', () => {
    const start = { dateTime: '2026-03-29T08:00:00.0000000', timeZone: 'Pacific Standard Time' }
    expect(MicrosoftEvent.safeParse({ ...live, start }).success).toBe(false)
  })

  it('has no instants once somebody made the event an all-day one', () => {
    expect(eventFrom({ isAllDay: true })).toMatchObject({ start: undefined, end: undefined })
  })

  it('passes a legacy Exchange name through as it is, and other addresses in lower case', () => {
    const legacy = '/o=ExchangeLabs/ou=Exchange Administrative Group/cn=Recipients/cn=Ada'
    const attendees = [legacy, 'Bo@Example.com'].map((address) => ({
      type: 'required',
      emailAddress: { address },
    }))
    expect(eventFrom({ attendees }).attendees.map(({ address }) => address)).toEqual([
      legacy,
      'bo@example.com',
    ])
  })

  it.each([
    [{ isOnlineMeeting: false }, 'none'],
    [{ isOnlineMeeting: true, onlineMeeting: null, onlineMeetingProvider: 'teamsForBusiness' }, 'pending'],
    [{ isOnlineMeeting: true, onlineMeeting: null, onlineMeetingProvider: 'unknown' }, 'failed'],
    [{ isOnlineMeeting: true, onlineMeeting: { joinUrl: 'https://teams.microsoft.com/x' } }, 'ready'],
  ])('tells a meeting %j as %s', (fields, conference) => {
    expect(eventFrom(fields)).toMatchObject({ conference })
  })

  it('tells where to join, and no address of another kind', () => {
    const at = (joinUrl: unknown) =>
      eventFrom({ isOnlineMeeting: true, onlineMeeting: { joinUrl } }).conferenceUrl
    expect(at('https://teams.microsoft.com/x')).toBe('https://teams.microsoft.com/x')
    for (const odd of ['javascript:alert(1)', 'http://teams.microsoft.com/x', '', 5, null]) {
      expect(at(odd)).toBeUndefined()
    }
  })

  it('tells sensitivity as visibility, and a normal one as the default', () => {
    expect(eventFrom({ sensitivity: 'normal' }).visibility).toBe('default')
    expect(eventFrom({ sensitivity: 'private' }).visibility).toBe('private')
    expect(eventFrom({ isCancelled: true }).status).toBe('cancelled')
  })
})
