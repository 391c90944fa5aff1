import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { ada, googleEvent, grace, idOf, startTestWorld } from '../world.testing.ts'
import type { TestWorld } from '../world.testing.ts'

const eventsPath = '/calendars/primary/events'

describe('what Google Calendar shows of an event', () => {
  let world: TestWorld
  beforeAll(async () => (world = await startTestWorld()))
  afterAll(() => world.stop())

  const insert = (more?: Record<string, unknown>) => world.google('POST', eventsPath, googleEvent(more))
  const get = (id: string, query = '', headers?: Record<string, string>) =>
    world.google('GET', `${eventsPath}/${id}${query}`, undefined, headers)

  it('are dates for whole days, which every calendar counts from its own midnight', async () => {
    const day = { start: { date: '2026-07-01' }, end: { date: '2026-07-02' } }
    const created = await insert({ ...day, attendees: [{ email: grace }] })
    expect(created.body).toMatchObject(day)
    expect((await get(idOf(created), '?timeZone=Asia/Kolkata')).body).toMatchObject(day)
    const query = { timeMin: '2026-06-30T00:00:00Z', timeMax: '2026-07-03T00:00:00Z' }
    const items = [{ id: ada }, { id: grace }]
    expect((await world.google('POST', '/freeBusy', { ...query, items })).body).toMatchObject({
      calendars: {
        [ada]: { busy: [{ start: '2026-07-01T04:00:00Z', end: '2026-07-02T04:00:00Z' }] },
        [grace]: { busy: [{ start: '2026-06-30T22:00:00Z', end: '2026-07-01T22:00:00Z' }] },
      },
    })
  })

  it('is nothing new to a client that has the current etag', async () => {
    const created = await insert()
    const { etag } = z.looseObject({ etag: z.string() }).parse(created.body)
    expect(await get(idOf(created), '', { 'if-none-match': etag })).toMatchObject({
      status: 304,
      body: undefined,
    })
    await world.control.actOnEvent(idOf(created), { type: 'set_visibility', visibility: 'public' })
    expect(await get(idOf(created), '', { 'if-none-match': etag })).toMatchObject({
      status: 200,
      body: { visibility: 'public' },
    })
  })

  it('leaves out everybody but oneself when there are more attendees than asked for', async () => {
    const attendees = [{ email: ada }, { email: grace }]
    const id = idOf(await insert({ attendees }))
    expect((await get(id, '?maxAttendees=2')).body).not.toHaveProperty('attendeesOmitted')
    expect((await get(id, '?maxAttendees=1')).body).toMatchObject({
      attendees: [{ email: ada, organizer: true }],
      attendeesOmitted: true,
    })
  })

  it('are the answers of its attendees, in the order in which they came', async () => {
    const id = idOf(await insert({ attendees: [{ email: grace }, { email: 'bo@elsewhere.example' }] }))
    for (const response of ['accepted', 'tentative', 'declined', 'needs_action'] as const) {
      await world.control.actOnEvent(id, { type: 'respond', address: grace, response })
      const responseStatus = response === 'needs_action' ? 'needsAction' : response
      expect((await get(id)).body).toMatchObject({
        attendees: [{ email: grace, responseStatus }, { responseStatus: 'needsAction' }],
      })
    }
  })

  it('forgets the answers of those whom a patch invites again without them', async () => {
    const id = idOf(await insert({ attendees: [{ email: grace }] }))
    await world.control.actOnEvent(id, { type: 'respond', address: grace, response: 'accepted' })
    const patch = (attendees: unknown) => world.google('PATCH', `${eventsPath}/${id}`, { attendees })
    const accepted = [{ email: grace, responseStatus: 'accepted' }]
    expect((await patch(accepted)).body).toMatchObject({ attendees: accepted })
    expect((await patch([{ email: grace }])).body).toMatchObject({
      attendees: [{ responseStatus: 'needsAction' }],
    })
  })

  it('is a whole day once somebody made it one', async () => {
    const id = idOf(await insert())
    await world.control.actOnEvent(id, { type: 'make_all_day', start: '2026-07-03', end: '2026-07-04' })
    const { body } = await get(id)
    expect(body).toMatchObject({ start: { date: '2026-07-03' }, sequence: 1 })
    expect(z.object({ start: z.looseObject({}) }).parse(body).start).not.toHaveProperty('dateTime')
  })

  it('asks for no second conference under the request id of the first', async () => {
    const conferenceData = { createRequest: { requestId: randomUUID() } }
    const path = `${eventsPath}?conferenceDataVersion=1`
    const id = idOf(await world.google('POST', path, googleEvent({ conferenceData })))
    const before = (await get(id)).body
    await world.google('PATCH', `${eventsPath}/${id}?conferenceDataVersion=1`, { conferenceData })
    const { hangoutLink } = z.looseObject({ hangoutLink: z.string() }).parse(before)
    expect((await get(id)).body).toMatchObject({ hangoutLink })
  })
})
