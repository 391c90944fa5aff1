import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { contractContext, contractDraft, ORGANIZER, WEEK } from './contract.testing.ts'
import { busyOfSchedules, Schedules } from './microsoft-busy.ts'
import { eventOfMicrosoft, MicrosoftEvent, microsoftBodyOf, transactionIdOf } from './microsoft-event.ts'
import { microsoftRefreshTokenSource } from './microsoft-tokens.ts'
import { microsoftCalendar } from './microsoft.ts'

interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}
interface Scripted {
  readonly status: number
  readonly body: unknown
}

/** A Graph that says one thing to everybody and remembers what it was asked. */
const serving = async <T>(
  answer: (seen: Seen, url: string) => Scripted,
  act: (calendar: ReturnType<typeof microsoftCalendar>, seen: readonly Seen[], url: string) => Promise<T>,
): Promise<T> => {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const asked = { method, url, headers, body: Buffer.concat(chunks).toString() }
      seen.push(asked)
      const { status, body } = answer(asked, `http://${headers.host ?? ''}`)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  const tokens = () => Promise.resolve({ type: 'token', accessToken: 'abc' } as const)
  try {
    return await act(microsoftCalendar({ baseUrl: `${url}/graph/`, tokens }), seen, url)
  } finally {
    server.close()
  }
}
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
        await calendar.readEvent(ref, contractContext())
        await calendar.findEvents(ORGANIZER, randomUUID(), contractContext())
        await calendar.cancelEvent(ref, contractContext())
        expect(seen.map(({ method, url }) => `${method} ${url.replace(/\?.*/, '')}`)).toEqual([
          'POST /graph/v1.0/me/calendar/getSchedule',
          'POST /graph/v1.0/users/ada%40example.com/events',
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
      expect(await calendar.insertEvent(contractDraft(), contractContext())).toMatchObject({
        ...failure,
        code,
      })
      expect(seen).toHaveLength(3)
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
    const again = (_seen: Seen, url: string): Scripted => ({
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

  it('tells sensitivity as visibility, and a normal one as the default', () => {
    expect(eventFrom({ sensitivity: 'normal' }).visibility).toBe('default')
    expect(eventFrom({ sensitivity: 'private' }).visibility).toBe('private')
    expect(eventFrom({ isCancelled: true }).status).toBe('cancelled')
  })
})

describe('a schedule', () => {
  const busyOf = (entry: Record<string, unknown>) =>
    busyOfSchedules(
      ['bo@example.com'],
      Schedules.parse({ value: [{ scheduleId: 'Bo@Example.com', ...entry }] }),
    ).get('bo@example.com')
  const item = (status: string, start: string, end: string) => ({
    status,
    start: { dateTime: `${start}.0000000`, timeZone: 'UTC' },
    end: { dateTime: `${end}.0000000`, timeZone: 'UTC' },
  })
  const known = (start: string, end: string) => ({
    type: 'known',
    busy: [{ start: new Date(start), end: new Date(end) }],
  })

  it.each([
    ['an error', { error: { responseCode: '5009' } }, { reason: 'not_found', code: '5009' }],
    [
      'an error beside its items',
      { error: { responseCode: '5006' }, scheduleItems: [] },
      { reason: 'too_many_entries' },
    ],
    [
      'an error without a code',
      { error: { message: 'for bo@example.com' } },
      { reason: 'other', code: 'other' },
    ],
    ['no items', {}, { reason: 'other' }],
    ['null for items', { scheduleItems: null }, { reason: 'other' }],
    ['an item without a status', { scheduleItems: [{}] }, { reason: 'other' }],
  ])('with %s is unknown', (_what, entry, unknown) => {
    expect(busyOf(entry)).toMatchObject({ type: 'unknown', ...unknown })
  })

  it('counts statuses in any case, and one that is unknown as busy', () => {
    const scheduleItems = [
      item('Free', '2026-03-30T06:00:00', '2026-03-30T07:00:00'),
      item('WorkingElsewhere', '2026-03-30T07:00:00', '2026-03-30T08:00:00'),
      item('unknown', '2026-03-30T08:00:00', '2026-03-30T09:00:00'),
    ]
    expect(busyOf({ error: null, scheduleItems })).toEqual(
      known('2026-03-30T08:00:00Z', '2026-03-30T09:00:00Z'),
    )
  })

  it.each([
    ['a Windows name', { name: 'Pacific Standard Time' }, '2026-03-31T07:00:00Z', '2026-04-01T07:00:00Z'],
    ['an IANA name', { name: 'Europe/Berlin' }, '2026-03-30T22:00:00Z', '2026-03-31T22:00:00Z'],
    ['UTC', { name: 'UTC' }, '2026-03-31T00:00:00Z', '2026-04-01T00:00:00Z'],
    [
      'a custom zone’s rules, in either of its seasons',
      { name: 'Customized Time Zone', bias: 480, daylightOffset: { daylightBias: -60 } },
      '2026-03-31T07:00:00Z',
      '2026-04-01T08:00:00Z',
    ],
    ['no zone, anywhere on earth', undefined, '2026-03-30T10:00:00Z', '2026-04-01T12:00:00Z'],
    [
      'a name nobody knows, anywhere on earth',
      { name: 'Customized' },
      '2026-03-30T10:00:00Z',
      '2026-04-01T12:00:00Z',
    ],
  ])('places an all-day item by %s', (_what, timeZone, start, end) => {
    const scheduleItems = [item('oof', '2026-03-31T00:00:00', '2026-04-01T00:00:00')]
    expect(busyOf({ scheduleItems, workingHours: { timeZone } })).toEqual(known(start, end))
  })

  it('leaves an item alone that only begins at midnight', () => {
    const scheduleItems = [item('busy', '2026-03-31T00:00:00', '2026-03-31T01:00:00')]
    expect(busyOf({ scheduleItems, workingHours: { timeZone: { name: 'Tokyo Standard Time' } } })).toEqual(
      known('2026-03-31T00:00:00Z', '2026-03-31T01:00:00Z'),
    )
  })
})

describe('Microsoft’s sign-in', () => {
  const client = { clientId: 'client', clientSecret: randomUUID(), tenant: 'organizations' }

  it('is not spoken to over plain http, except on this machine', () => {
    const at = (loginUrl: string) => () =>
      microsoftRefreshTokenSource({ ...client, refreshToken: 'r', loginUrl })
    expect(at('http://login.example.com')).toThrow(TypeError)
    expect(at('http://127.0.0.1.example.com')).toThrow(TypeError)
    expect(at('https://login.example.com')).not.toThrow()
    expect(at('http://localhost:4003/login')).not.toThrow()
  })

  it('replaces the refresh token, which is told and used from then on', async () => {
    let issued = 0
    const rotating = (): Scripted => {
      issued += 1
      return {
        status: 200,
        body: {
          token_type: 'Bearer',
          access_token: `a${issued}`,
          expires_in: 3600,
          refresh_token: `r${issued}`,
        },
      }
    }
    await serving(rotating, async (_calendar, seen, url) => {
      const told: string[] = []
      let now = new Date('2026-03-24T10:00:00Z')
      const tokens = microsoftRefreshTokenSource({
        ...client,
        refreshToken: 'r0',
        loginUrl: `${url}/login`,
        now: () => now,
        onRotated: (refreshToken) => {
          told.push(refreshToken)
        },
      })
      expect(await tokens(contractContext())).toEqual({ type: 'token', accessToken: 'a1' })
      now = new Date('2026-03-24T12:00:00Z')
      expect(await tokens(contractContext())).toEqual({ type: 'token', accessToken: 'a2' })
      expect(told).toEqual(['r1', 'r2'])
      expect(seen.map(({ body }) => new URLSearchParams(body).get('refresh_token'))).toEqual(['r0', 'r1'])
      expect(seen[0]?.url).toMatch(/^\/login\/organizations\/oauth2\/v2.0\/token(\?|$)/)
    })
  })
})
