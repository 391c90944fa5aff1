import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { ada, graphEvent, idOf, joan, mary, requestToken, startTestWorld } from '../world.testing.ts'
import type { Reply, TestWorld } from '../world.testing.ts'

const propertyId = 'String {6f1e6ab5-7f0c-4a53-9d0f-2f4a1d2b7c11} Name aftercommitOperationId'
const immutable = { prefer: 'IdType="ImmutableId"' }
const errorOf = (reply: Reply) =>
  z.object({ error: z.looseObject({ code: z.string(), innerError: z.looseObject({}) }) }).parse(reply.body)
    .error
const codeOf = (reply: Reply) => [reply.status, errorOf(reply).code]

describe('Microsoft', () => {
  let world: TestWorld
  beforeAll(async () => (world = await startTestWorld()))
  afterAll(() => world.stop())

  const create = (more?: Record<string, unknown>, headers?: Record<string, string>) =>
    world.graph('POST', '/me/events', graphEvent(more), headers)
  const createdOf = async () =>
    (await world.control.readLedger()).filter(({ effect }) => effect === 'event_created')

  describe('sign-in', () => {
    const tokenUrl = () => `${world.url}/login/common/oauth2/v2.0/token`

    it('answers invalid_grant with 700082 for a refresh token nobody granted', async () => {
      const response = await requestToken(tokenUrl(), {
        grant_type: 'refresh_token',
        client_id: 'test',
        refresh_token: randomUUID(),
      })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        error: 'invalid_grant',
        suberror: 'bad_token',
        error_codes: [700082],
      })
    })

    it('names a token endpoint in its metadata that answers', async () => {
      const tenant = randomUUID()
      const metadata = await fetch(`${world.url}/login/${tenant}/v2.0/.well-known/openid-configuration`)
      const { token_endpoint: endpoint } = z.object({ token_endpoint: z.url() }).parse(await metadata.json())
      const response = await requestToken(endpoint, { grant_type: 'refresh_token', client_id: 'test' })
      expect(await response.json()).toMatchObject({ error: 'invalid_grant' })
    })

    it('gives an application a token that opens every mailbox but has no /me', async () => {
      const response = await requestToken(tokenUrl(), {
        grant_type: 'client_credentials',
        client_id: 'test',
        client_secret: randomUUID(),
        scope: 'https://graph.microsoft.com/.default',
      })
      const { access_token: token } = z.object({ access_token: z.string() }).parse(await response.json())
      const headers = { authorization: `Bearer ${token}` }
      expect((await world.graph('GET', `/users/${joan}/events`, undefined, headers)).status).toBe(200)
      expect(codeOf(await world.graph('GET', '/me/events', undefined, headers))).toEqual([400, 'BadRequest'])
    })

    it('answers 401 InvalidAuthenticationToken with both request ids', async () => {
      const reply = await world.graph('GET', '/me/events', undefined, {
        authorization: `Bearer ${randomUUID()}`,
        'client-request-id': 'from-the-caller',
      })
      expect(codeOf(reply)).toEqual([401, 'InvalidAuthenticationToken'])
      expect(errorOf(reply).innerError).toMatchObject({
        'request-id': reply.headers.get('request-id'),
        'client-request-id': 'from-the-caller',
      })
    })

    it("denies a delegated token another person's mailbox", async () => {
      expect(codeOf(await world.graph('GET', `/users/${joan}/events`))).toEqual([403, 'ErrorAccessDenied'])
    })
  })

  describe('getSchedule', () => {
    const ask = (more: Record<string, unknown> = {}, headers?: Record<string, string>) =>
      world.graph(
        'POST',
        '/me/calendar/getSchedule',
        {
          schedules: [joan],
          startTime: { dateTime: '2026-03-24T09:00:00', timeZone: 'UTC' },
          endTime: { dateTime: '2026-03-24T12:00:00', timeZone: 'UTC' },
          availabilityViewInterval: 60,
          ...more,
        },
        headers,
      )
    const until = (dateTime: string) => ({ endTime: { dateTime, timeZone: 'UTC' } })

    it('reports a person it cannot resolve inside a 200, with a number in a string', async () => {
      const reply = await ask({ schedules: [joan, 'nobody@microsoft.example', ada] })
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({
        value: [
          { scheduleId: joan, scheduleItems: [] },
          {
            scheduleId: 'nobody@microsoft.example',
            error: {
              message:
                'Unable to resolve e-mail address nobody@microsoft.example to an Active Directory object.',
              responseCode: '5009',
            },
          },
          { scheduleId: ada, error: { responseCode: '5009' } },
        ],
      })
      const { value } = z.object({ value: z.array(z.looseObject({})) }).parse(reply.body)
      expect(value[1]).not.toHaveProperty('scheduleItems')
    })

    it('lists free items too, with seven digits and no offset, in the zone asked for', async () => {
      const address = 'listed@microsoft.example'
      await world.control.putPeople([
        {
          address,
          provider: 'microsoft',
          timeZone: 'UTC',
          busy: [
            { start: '2026-03-24T09:00:00Z', end: '2026-03-24T10:00:00Z', status: 'free' },
            { start: '2026-03-24T10:00:00Z', end: '2026-03-24T10:30:00Z', status: 'oof' },
          ],
        },
      ])
      const reply = await ask(
        { schedules: [address] },
        { prefer: 'outlook.timezone="Eastern Standard Time"' },
      )
      const timeZone = 'Eastern Standard Time'
      expect(reply.body).toMatchObject({
        value: [
          {
            availabilityView: '030',
            scheduleItems: [
              { status: 'free', start: { dateTime: '2026-03-24T05:00:00.0000000', timeZone } },
              { status: 'oof', start: { dateTime: '2026-03-24T06:00:00.0000000', timeZone } },
            ],
          },
        ],
      })
    })

    it('shows an unanswered invitation as tentative and an accepted one as busy', async () => {
      const id = idOf(
        await create({ attendees: [{ type: 'required', emailAddress: { address: joan } }] }, immutable),
      )
      const view = async () => (await ask(until('2026-03-24T17:00:00'))).body
      expect(await view()).toMatchObject({ value: [{ availabilityView: '00000100' }] })
      await world.control.actOnEvent(id, { type: 'respond', address: joan, response: 'accepted' })
      expect(await view()).toMatchObject({ value: [{ availabilityView: '00000200' }] })
      await world.graph('DELETE', `/me/events/${id}`)
    })

    it('refuses what is beyond its limits', async () => {
      const schedules = Array.from({ length: 101 }, (_, index) => `person${index}@microsoft.example`)
      expect(errorOf(await ask({ schedules }))).toMatchObject({
        code: 'ErrorMailboxDataArrayTooBig',
        message:
          'There are too many target users in the EmailAddress array. The allowed size = 100; the actual size = 101.',
      })
      expect(codeOf(await ask(until('2026-05-27T00:00:00')))).toEqual([400, 'ErrorTimeIntervalTooBig'])
      expect(codeOf(await ask(until('2026-03-24T09:00:00')))).toEqual([400, 'ErrorInvalidTimeInterval'])
      expect(codeOf(await ask(until('2026-03-24T09:30:00')))).toEqual([
        400,
        'ErrorInvalidMergedFreeBusyInterval',
      ])
      expect((await ask({ availabilityViewInterval: null })).status).toBe(500)
      expect(codeOf(await ask({}, { prefer: 'outlook.timezone="Nowhere"' }))).toEqual([
        400,
        'TimeZoneNotSupportedException',
      ])
    })
  })

  describe('events', () => {
    it('answers a repeated transactionId with the first event when the content is the same', async () => {
      const transactionId = randomUUID()
      const before = (await createdOf()).length
      const first = await create({ transactionId })
      const second = await create({ transactionId })
      expect([first.status, second.status]).toEqual([201, 201])
      expect(idOf(second)).toBe(idOf(first))
      expect(await createdOf()).toHaveLength(before + 1)
    })

    it('refuses a transactionId that created something else, and names that event', async () => {
      const transactionId = randomUUID()
      const first = await create({ transactionId }, immutable)
      const second = await create({ transactionId, subject: 'Another' }, immutable)
      expect(codeOf(second)).toEqual([400, 'ErrorDuplicateTransactionId'])
      expect(errorOf(second)['@event.existingEventId']).toBe(idOf(first))
    })

    it('says ErrorInvalidRecipients of an event that it created all the same', async () => {
      const operationId = randomUUID()
      const body = {
        transactionId: randomUUID(),
        attendees: [{ type: 'required', emailAddress: { address: 'gone@x.invalid' } }],
        singleValueExtendedProperties: [{ id: propertyId, value: operationId }],
      }
      expect(codeOf(await create(body))).toEqual([400, 'ErrorInvalidRecipients'])
      expect(codeOf(await create(body))).toEqual([400, 'ErrorInvalidRecipients'])
      const held = (await world.control.readEvents(mary)).filter((event) => event.operationId === operationId)
      expect(held).toMatchObject([{ status: 'confirmed', attendees: [{ address: 'gone@x.invalid' }] }])
    })

    it('gives an id of another form when immutable ids are preferred, and answers to both', async () => {
      const created = await create()
      const lasting = await world.graph('GET', `/me/events/${idOf(created)}`, undefined, immutable)
      expect(idOf(lasting)).not.toBe(idOf(created))
      const read = await world.graph('GET', `/users/${mary}/events/${encodeURIComponent(idOf(lasting))}`)
      expect(idOf(read)).toBe(idOf(created))
    })

    it('returns an extended property only when it is expanded', async () => {
      const operationId = randomUUID()
      const id = idOf(
        await create({ singleValueExtendedProperties: [{ id: propertyId, value: operationId }] }),
      )
      const plain = await world.graph('GET', `/me/events/${id}`)
      expect(plain.body).not.toHaveProperty('singleValueExtendedProperties')
      const expand = encodeURIComponent(`singleValueExtendedProperties($filter=id eq '${propertyId}')`)
      const expanded = await world.graph('GET', `/me/events/${id}?$expand=${expand}`)
      expect(expanded.body).toMatchObject({
        singleValueExtendedProperties: [{ id: propertyId, value: operationId }],
      })
    })

    it('changes an event only under the change key it has now', async () => {
      const created = await create()
      const path = `/me/events/${idOf(created)}`
      const etag = z.looseObject({ '@odata.etag': z.string() }).parse(created.body)['@odata.etag']
      expect((await world.graph('PATCH', path, { subject: 'Second' }, { 'if-match': etag })).status).toBe(200)
      const stale = await world.graph('PATCH', path, { subject: 'Third' }, { 'if-match': etag })
      expect(codeOf(stale)).toEqual([412, 'ErrorIrresolvableConflict'])
    })

    it('cancels once: afterwards the event is not to be found', async () => {
      const id = idOf(await create())
      expect((await world.graph('POST', `/me/events/${id}/cancel`, { Comment: 'Off' })).status).toBe(202)
      expect(codeOf(await world.graph('POST', `/me/events/${id}/cancel`, {}))).toEqual([
        404,
        'ErrorItemNotFound',
      ])
      expect(codeOf(await world.graph('GET', `/me/events/${id}`))).toEqual([404, 'ErrorItemNotFound'])
    })

    it('deletes once', async () => {
      const id = idOf(await create())
      expect((await world.graph('DELETE', `/me/events/${id}`)).status).toBe(204)
      expect(codeOf(await world.graph('DELETE', `/me/events/${id}`))).toEqual([404, 'ErrorItemNotFound'])
    })

    it('makes no online meeting, and does not say so, where the mailbox allows none', async () => {
      expect((await create({ isOnlineMeeting: true })).body).toMatchObject({
        isOnlineMeeting: true,
        onlineMeeting: { joinUrl: expect.stringContaining('https://teams.microsoft.com/') },
      })
      const quiet = { address: 'quiet@microsoft.example', refreshToken: randomUUID() }
      await world.control.putPeople([
        { ...quiet, provider: 'microsoft', timeZone: 'UTC', onlineMeetings: false },
      ])
      const response = await requestToken(`${world.url}/login/common/oauth2/v2.0/token`, {
        grant_type: 'refresh_token',
        client_id: 'test',
        refresh_token: quiet.refreshToken,
      })
      const { access_token: token } = z.object({ access_token: z.string() }).parse(await response.json())
      const reply = await create({ isOnlineMeeting: true }, { authorization: `Bearer ${token}` })
      expect(reply.status).toBe(201)
      expect(reply.body).toMatchObject({ isOnlineMeeting: false, onlineMeeting: null })
    })
  })

  describe('lists', () => {
    const byProperty = (value: string, id = propertyId) =>
      new URLSearchParams({
        $filter: `singleValueExtendedProperties/Any(ep: ep/id eq '${id}' and ep/value eq '${value}')`,
        $expand: `singleValueExtendedProperties($filter=id eq '${propertyId}')`,
      }).toString()
    const Page = z.looseObject({
      value: z.array(z.looseObject({ id: z.string() })),
      '@odata.nextLink': z.string().optional(),
    })

    it('finds by extended property: value in any case, name to the letter', async () => {
      const operationId = randomUUID()
      const id = idOf(
        await create({ singleValueExtendedProperties: [{ id: propertyId, value: operationId }] }),
      )
      await world.control.setPaging({ provider: 'microsoft', scannedPerPage: 1000 })
      const find = async (query: string) =>
        Page.parse((await world.graph('GET', `/me/events?${query}&$top=100`)).body).value
      expect(await find(byProperty(operationId.toUpperCase()))).toMatchObject([
        { id, singleValueExtendedProperties: [{ value: operationId }] },
      ])
      expect(await find(byProperty(operationId, propertyId.replace('aftercommit', 'AfterCommit')))).toEqual(
        [],
      )
      await world.control.setPaging({ provider: 'microsoft', scannedPerPage: null })
    })

    it('pages with an absolute next link, over pages that match nothing', async () => {
      await create()
      const operationId = randomUUID()
      const id = idOf(
        await create({ singleValueExtendedProperties: [{ id: propertyId, value: operationId }] }),
      )
      await world.control.setPaging({ provider: 'microsoft', scannedPerPage: 1 })
      let path: string | undefined = `/me/events?${byProperty(operationId)}`
      const pages: z.infer<typeof Page>[] = []
      while (path !== undefined) {
        const page = Page.parse((await world.graph('GET', path)).body)
        pages.push(page)
        path = page['@odata.nextLink']?.replace(`${world.url}/graph/v1.0`, '')
      }
      await world.control.setPaging({ provider: 'microsoft', scannedPerPage: null })
      expect(pages[0]?.value).toEqual([])
      expect(pages[0]?.['@odata.nextLink']).toMatch(new RegExp(`^${world.url}/graph/v1.0/me/events\\?`))
      expect(pages.flatMap(({ value }) => value)).toMatchObject([{ id }])
    })

    it('does not filter by transactionId, nor by the property without Any', async () => {
      const list = (filter: string) =>
        world.graph('GET', `/me/events?${new URLSearchParams({ $filter: filter }).toString()}`)
      expect(codeOf(await list(`transactionId eq '${randomUUID()}'`))).toEqual([
        400,
        'UnsupportedEntityExpression',
      ])
      expect(codeOf(await list(`singleValueExtendedProperties/id eq '${propertyId}'`))).toEqual([
        400,
        'ErrorInvalidProperty',
      ])
    })
  })
})
