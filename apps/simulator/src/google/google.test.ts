import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import {
  ada,
  googleEvent,
  grace,
  idOf,
  mary,
  requestToken,
  slot,
  startTestWorld,
  window,
} from '../world.testing.ts'
import type { Reply, TestWorld } from '../world.testing.ts'

const eventsPath = `/calendars/${encodeURIComponent(ada)}/events`
const freshId = () => randomUUID().replaceAll('-', '')
const reasonOf = (reply: Reply) =>
  z
    .object({ error: z.object({ code: z.number(), errors: z.array(z.looseObject({ reason: z.string() })) }) })
    .parse(reply.body).error.errors[0]?.reason
const Page = z.looseObject({
  items: z.array(z.looseObject({ id: z.string(), status: z.string() })),
  nextPageToken: z.string().optional(),
})

describe('Google Calendar', () => {
  let world: TestWorld
  beforeAll(async () => (world = await startTestWorld()))
  afterAll(() => world.stop())

  const insert = (more?: Record<string, unknown>, query = '') =>
    world.google('POST', `${eventsPath}${query}`, googleEvent(more))

  describe('sign-in', () => {
    it('answers invalid_grant for a refresh token nobody granted', async () => {
      const response = await requestToken(`${world.url}/google/token`, {
        grant_type: 'refresh_token',
        client_id: 'test',
        refresh_token: randomUUID(),
      })
      expect(response.status).toBe(400)
      expect(await response.json()).toEqual({
        error: 'invalid_grant',
        error_description: 'Token has been expired or revoked.',
      })
    })

    it('answers 401 authError to an unknown access token', async () => {
      const reply = await world.google('GET', eventsPath, undefined, {
        authorization: `Bearer ${randomUUID()}`,
      })
      expect(reply.status).toBe(401)
      expect(reply.body).toEqual({
        error: {
          errors: [
            {
              domain: 'global',
              reason: 'authError',
              message: 'Invalid Credentials',
              locationType: 'header',
              location: 'Authorization',
            },
          ],
          code: 401,
          message: 'Invalid Credentials',
        },
      })
    })

    it('ends a grant and its access tokens when the person takes it back', async () => {
      const address = 'revoked@google.example'
      const refreshToken = randomUUID()
      const person = { address, provider: 'google', timeZone: 'UTC' } as const
      await world.control.putPeople([{ ...person, refreshToken }])
      const form = { grant_type: 'refresh_token', client_id: 'test', refresh_token: refreshToken }
      const granted = await requestToken(`${world.url}/google/token`, form)
      const { access_token: token } = z.object({ access_token: z.string() }).parse(await granted.json())
      const headers = { authorization: `Bearer ${token}` }
      expect((await world.google('GET', '/calendars/primary/events', undefined, headers)).status).toBe(200)

      await world.control.putPeople([{ ...person, refreshToken: null }])
      expect((await world.google('GET', '/calendars/primary/events', undefined, headers)).status).toBe(401)
      expect((await requestToken(`${world.url}/google/token`, form)).status).toBe(400)
    })
  })

  describe('free/busy', () => {
    const query = (more: Record<string, unknown> = {}) =>
      world.google('POST', '/freeBusy', {
        timeMin: window.start,
        timeMax: window.end,
        items: [{ id: ada }],
        ...more,
      })

    it('reports a calendar it cannot read as an error beside an empty busy list, inside a 200', async () => {
      await world.control.putPeople([
        { address: 'closed@google.example', provider: 'google', timeZone: 'UTC', readable: 'no_access' },
        { address: 'broken@google.example', provider: 'google', timeZone: 'UTC', readable: 'internal_error' },
      ])
      const items = ['closed@google.example', 'broken@google.example', 'nobody@google.example', mary, grace]
      const reply = await query({ items: items.map((id) => ({ id })) })
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({
        kind: 'calendar#freeBusy',
        calendars: {
          'closed@google.example': { errors: [{ domain: 'global', reason: 'notFound' }], busy: [] },
          'broken@google.example': { errors: [{ domain: 'global', reason: 'internalError' }], busy: [] },
          'nobody@google.example': { errors: [{ domain: 'global', reason: 'notFound' }], busy: [] },
          [mary]: { errors: [{ domain: 'global', reason: 'notFound' }], busy: [] },
          [grace]: { busy: [] },
        },
      })
    })

    it('merges what touches, and leaves out what is shown as available', async () => {
      const at = (time: string) => `2026-03-24T${time}:00Z`
      const address = 'merged@google.example'
      await world.control.putPeople([
        {
          address,
          provider: 'google',
          timeZone: 'UTC',
          busy: [
            { start: at('09:00'), end: at('10:00') },
            { start: at('10:00'), end: at('11:00'), status: 'tentative' },
            { start: at('12:00'), end: at('13:00'), status: 'free' },
          ],
        },
      ])
      const reply = await query({ items: [{ id: address }], timeZone: 'America/New_York' })
      expect(reply.body).toMatchObject({
        calendars: {
          [address]: { busy: [{ start: '2026-03-24T05:00:00-04:00', end: '2026-03-24T07:00:00-04:00' }] },
        },
      })
    })

    it("expands a whole day in the calendar's own zone", async () => {
      const address = 'away@google.example'
      const busy = [{ start: '2026-03-24', end: '2026-03-25' }]
      await world.control.putPeople([{ address, provider: 'google', timeZone: 'America/New_York', busy }])
      const reply = await query({ items: [{ id: address }], timeMax: '2026-03-26T00:00:00Z' })
      expect(reply.body).toMatchObject({
        calendars: { [address]: { busy: [{ start: '2026-03-24T04:00:00Z', end: '2026-03-25T04:00:00Z' }] } },
      })
    })

    it('refuses a missing bound, an empty range and one of more than three months', async () => {
      expect(reasonOf(await query({ timeMin: undefined }))).toBe('required')
      expect(reasonOf(await query({ timeMax: window.start }))).toBe('timeRangeEmpty')
      expect(reasonOf(await query({ timeMax: '2026-07-01T00:00:00Z' }))).toBe('timeRangeTooLong')
    })

    it('shows an invited person as busy until the invitation is declined', async () => {
      const id = freshId()
      await insert({ id, attendees: [{ email: grace }] })
      const busyOfGrace = async () => (await query({ items: [{ id: grace }] })).body
      expect(await busyOfGrace()).toMatchObject({ calendars: { [grace]: { busy: [slot] } } })
      await world.control.actOnEvent(id, { type: 'respond', address: grace, response: 'declined' })
      expect(await busyOfGrace()).toMatchObject({ calendars: { [grace]: { busy: [] } } })
      await world.google('DELETE', `${eventsPath}/${id}`)
    })
  })

  describe('events', () => {
    it('keeps a deleted id taken, and still shows the event as cancelled', async () => {
      const id = freshId()
      expect((await insert({ id })).status).toBe(200)
      const again = await insert({ id })
      expect(again.status).toBe(409)
      expect(again.body).toMatchObject({
        error: { code: 409, errors: [{ domain: 'global', reason: 'duplicate' }] },
      })

      expect((await world.google('DELETE', `${eventsPath}/${id}`)).status).toBe(204)
      const twice = await world.google('DELETE', `${eventsPath}/${id}`)
      expect([twice.status, reasonOf(twice)]).toEqual([410, 'deleted'])
      expect((await world.google('GET', `${eventsPath}/${id}`)).body).toMatchObject({ status: 'cancelled' })
      expect((await insert({ id })).status).toBe(409)
      expect((await world.google('PATCH', `${eventsPath}/${id}`, { summary: 'x' })).status).toBe(403)
    })

    it.each(['abcd', 'ABCDE', 'wxyz0', 'with-dash', 'a'.repeat(1025)])('refuses the id %s', async (id) => {
      const reply = await insert({ id })
      expect([reply.status, reasonOf(reply)]).toEqual([400, 'invalid'])
    })

    it.each(['', ' padded@x.example', "'quoted@x.example'", 'no-at-sign', 'gone@x.invalid'])(
      'refuses the attendee address "%s" without saying which one it was, and writes nothing',
      async (email) => {
        const before = await world.control.readLedger()
        const reply = await insert({ attendees: [{ email: grace }, { email }] })
        expect(reply.body).toEqual({
          error: {
            errors: [{ domain: 'global', reason: 'invalid', message: 'Invalid attendee email.' }],
            code: 400,
            message: 'Invalid attendee email.',
          },
        })
        expect(await world.control.readLedger()).toEqual(before)
      },
    )

    it('answers times with the offset of the calendar and the zone of the event', async () => {
      const reply = await insert({
        start: { dateTime: '2026-03-24T15:00:00', timeZone: 'Europe/Berlin' },
        end: { dateTime: '2026-03-24T15:00:00Z' },
      })
      expect(reply.body).toMatchObject({
        start: { dateTime: '2026-03-24T10:00:00-04:00', timeZone: 'Europe/Berlin' },
        end: { dateTime: '2026-03-24T11:00:00-04:00' },
      })
    })

    it('refuses a wall time without a zone and a reversed range', async () => {
      expect(reasonOf(await insert({ start: { dateTime: '2026-03-24T10:00:00' } }))).toBe('required')
      expect(reasonOf(await insert({ end: { dateTime: '2026-03-24T13:00:00Z' } }))).toBe('timeRangeEmpty')
      expect(reasonOf(await insert({ start: { dateTime: 'tomorrow' } }))).toBe('badRequest')
    })

    it('makes a conference later than the event, and only when asked in the right version', async () => {
      const conferenceData = { createRequest: { requestId: randomUUID() } }
      expect((await insert({ conferenceData })).body).not.toHaveProperty('conferenceData')

      const created = await insert({ conferenceData }, '?conferenceDataVersion=1')
      expect(created.body).toMatchObject({
        conferenceData: { createRequest: { status: { statusCode: 'pending' } } },
      })
      const read = await world.google('GET', `${eventsPath}/${idOf(created)}`)
      expect(read.body).toMatchObject({
        conferenceData: {
          createRequest: { status: { statusCode: 'success' } },
          entryPoints: [{ entryPointType: 'video' }],
        },
      })
    })

    it('changes an event only under the etag it has now', async () => {
      const created = await insert()
      const path = `${eventsPath}/${idOf(created)}`
      const { etag } = z.looseObject({ etag: z.string() }).parse(created.body)
      expect((await world.google('PATCH', path, { summary: 'Second' }, { 'if-match': etag })).status).toBe(
        200,
      )
      const stale = await world.google('PATCH', path, { summary: 'Third' }, { 'if-match': etag })
      expect(stale.status).toBe(412)
      expect(stale.body).toMatchObject({
        error: {
          code: 412,
          errors: [{ reason: 'conditionNotMet', locationType: 'header', location: 'If-Match' }],
        },
      })
      expect((await world.google('GET', path)).body).toMatchObject({ summary: 'Second' })
    })

    it("answers notFound for another person's calendar", async () => {
      const reply = await world.google('GET', `/calendars/${grace}/events`)
      expect([reply.status, reasonOf(reply)]).toEqual([404, 'notFound'])
    })
  })

  describe('lists', () => {
    const list = async (parameters: [string, string][]) => {
      const reply = await world.google('GET', `${eventsPath}?${new URLSearchParams(parameters).toString()}`)
      return Page.parse(reply.body)
    }
    const marked = (operationId: string, more: Record<string, unknown> = {}) =>
      insert({
        extendedProperties: { private: { aftercommitOperationId: operationId, colour: 'blue' } },
        ...more,
      })

    it('needs every private extended property that is asked for', async () => {
      const operationId = randomUUID()
      const id = idOf(await marked(operationId))
      const mine: [string, string] = ['privateExtendedProperty', `aftercommitOperationId=${operationId}`]
      expect((await list([mine, ['privateExtendedProperty', 'colour=blue']])).items).toMatchObject([{ id }])
      expect((await list([mine, ['privateExtendedProperty', 'colour=red']])).items).toEqual([])
    })

    it('shows a deleted event only when asked', async () => {
      const operationId = randomUUID()
      const id = idOf(await marked(operationId))
      await world.google('DELETE', `${eventsPath}/${id}`)
      const mine: [string, string] = ['privateExtendedProperty', `aftercommitOperationId=${operationId}`]
      expect((await list([mine])).items).toEqual([])
      expect((await list([mine, ['showDeleted', 'true']])).items).toMatchObject([{ id, status: 'cancelled' }])
    })

    it('may answer an empty page that still has a next one', async () => {
      await insert()
      const operationId = randomUUID()
      const id = idOf(await marked(operationId))
      await world.control.setPaging({ provider: 'google', scannedPerPage: 1 })
      const pages: z.infer<typeof Page>[] = []
      let pageToken: string | undefined
      do {
        const page = await list([
          ['privateExtendedProperty', `aftercommitOperationId=${operationId}`],
          ...(pageToken === undefined ? [] : ([['pageToken', pageToken]] satisfies [string, string][])),
        ])
        pages.push(page)
        pageToken = page.nextPageToken
      } while (pageToken !== undefined)
      await world.control.setPaging({ provider: 'google', scannedPerPage: null })

      expect(pages[0]?.items).toEqual([])
      expect(pages[0]?.nextPageToken).toBeDefined()
      expect(pages.flatMap(({ items }) => items)).toMatchObject([{ id }])
    })

    it('misses a just-created event for as many reads as it was told to', async () => {
      await world.control.setConsistency({ provider: 'google', readsMissFor: 2 })
      const operationId = randomUUID()
      const id = idOf(await marked(operationId))
      await world.control.setConsistency({ provider: 'google', readsMissFor: 0 })
      const mine: [string, string] = ['privateExtendedProperty', `aftercommitOperationId=${operationId}`]
      expect((await world.google('GET', `${eventsPath}/${id}`)).status).toBe(404)
      expect((await list([mine])).items).toEqual([])
      expect((await list([mine])).items).toMatchObject([{ id }])
      expect((await world.google('GET', `${eventsPath}/${id}`)).status).toBe(200)
    })
  })
})
