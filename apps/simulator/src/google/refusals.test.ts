import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { ada, googleEvent, grace, idOf, requestToken, startTestWorld, window } from '../world.testing.ts'
import type { TestWorld } from '../world.testing.ts'

const eventsPath = `/calendars/${encodeURIComponent(ada)}/events`
const freshId = () => randomUUID().replaceAll('-', '')

/** The envelope of the guide to errors, to the letter. */
const envelope = (code: number, reason: string, message: string, more: Record<string, string> = {}) => ({
  error: { errors: [{ domain: 'global', reason, message, ...more }], code, message },
})
const duplicate = envelope(409, 'duplicate', 'The requested identifier already exists.')
const notFound = envelope(404, 'notFound', 'Not Found')

describe('a refusal of Google Calendar', () => {
  let world: TestWorld
  beforeAll(async () => (world = await startTestWorld()))
  afterAll(() => world.stop())

  const insert = (more?: Record<string, unknown>) => world.google('POST', eventsPath, googleEvent(more))

  it('says duplicate of an id in use, and goes on saying it after the event is deleted', async () => {
    const id = freshId()
    await insert({ id })
    expect(await insert({ id })).toMatchObject({ status: 409, body: duplicate })
    await world.google('DELETE', `${eventsPath}/${id}`)
    expect(await insert({ id, summary: 'Another' })).toMatchObject({ status: 409, body: duplicate })
  })

  it('says duplicate even while reads do not show the event yet', async () => {
    await world.control.setConsistency({ provider: 'google', readsMissFor: 1 })
    const id = freshId()
    await insert({ id })
    await world.control.setConsistency({ provider: 'google', readsMissFor: 0 })
    expect(await insert({ id })).toMatchObject({ status: 409, body: duplicate })
    expect(await world.google('GET', `${eventsPath}/${id}`)).toMatchObject({ status: 404, body: notFound })
    expect((await world.google('GET', `${eventsPath}/${id}`)).status).toBe(200)
  })

  it('takes an id again in another calendar, for ids are unique in one only', async () => {
    const id = freshId()
    await insert({ id })
    const refreshToken = randomUUID()
    await world.control.putPeople([
      { address: grace, provider: 'google', timeZone: 'Europe/Berlin', refreshToken },
    ])
    const headers = { authorization: `Bearer ${await tokenFor(refreshToken)}` }
    const reply = await world.google(
      'POST',
      '/calendars/primary/events',
      { ...googleEvent(), id, start: { date: '2026-05-01' }, end: { date: '2026-05-02' } },
      headers,
    )
    expect(reply.status).toBe(200)
  })

  it('is of the start when a patch leaves an event with a date beside a time, which null takes away', async () => {
    const id = idOf(await insert())
    await world.control.actOnEvent(id, { type: 'make_all_day', start: '2026-07-03', end: '2026-07-04' })
    const { start, end } = googleEvent()
    const path = `${eventsPath}/${id}`
    expect(await world.google('PATCH', path, { start, end })).toMatchObject({
      status: 400,
      body: envelope(400, 'invalid', 'Invalid start time.'),
    })
    const timed = (time: unknown) => ({ ...z.looseObject({}).parse(time), date: null })
    const patched = await world.google('PATCH', path, { start: timed(start), end: timed(end) })
    expect(patched).toMatchObject({ status: 200, body: { start: { dateTime: '2026-03-24T10:00:00-04:00' } } })
  })

  it('says forbidden of a change to a deleted event, and changes nothing', async () => {
    const path = `${eventsPath}/${idOf(await insert())}`
    await world.google('DELETE', path)
    expect(await world.google('PATCH', path, { summary: 'x' })).toMatchObject({
      status: 403,
      body: envelope(403, 'forbidden', 'Forbidden'),
    })
    expect((await world.google('GET', path)).body).toMatchObject({ status: 'cancelled', summary: 'Review' })
  })

  it('says deleted of a second delete', async () => {
    const id = idOf(await insert())
    await world.google('DELETE', `${eventsPath}/${id}`)
    expect(await world.google('DELETE', `${eventsPath}/${id}`)).toMatchObject({
      status: 410,
      body: envelope(410, 'deleted', 'Resource has been deleted'),
    })
  })

  it('names the header of a precondition that fails, for a delete as well', async () => {
    const id = idOf(await insert())
    const stale = { 'if-match': '"1"' }
    const body = envelope(412, 'conditionNotMet', 'Precondition Failed', {
      locationType: 'header',
      location: 'If-Match',
    })
    expect(await world.google('PATCH', `${eventsPath}/${id}`, { summary: 'x' }, stale)).toMatchObject({
      status: 412,
      body,
    })
    expect(await world.google('DELETE', `${eventsPath}/${id}`, undefined, stale)).toMatchObject({
      status: 412,
      body,
    })
    expect((await world.google('GET', `${eventsPath}/${id}`)).body).toMatchObject({ status: 'confirmed' })
  })

  it('tells an attendee without an address from one with a wrong one', async () => {
    const missing = await insert({ attendees: [{ displayName: 'Bo' }] })
    expect(missing).toMatchObject({
      status: 400,
      body: envelope(400, 'required', 'Missing attendee email.'),
    })
    const wrong = await insert({ attendees: [{ email: '/o=ExchangeLabs/cn=Recipients/cn=bo' }] })
    expect(wrong).toMatchObject({ status: 400, body: envelope(400, 'invalid', 'Invalid attendee email.') })
  })

  it('is of scopes when the person consented to free/busy alone, which still answers', async () => {
    const address = 'careful@google.example'
    const refreshToken = randomUUID()
    await world.control.putPeople([
      { address, provider: 'google', timeZone: 'UTC', refreshToken, granted: 'free_busy' },
    ])
    const headers = { authorization: `Bearer ${await tokenFor(refreshToken)}` }
    const events = await world.google('GET', '/calendars/primary/events', undefined, headers)
    expect(events).toMatchObject({
      status: 403,
      body: envelope(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.'),
    })
    const query = { timeMin: window.start, timeMax: window.end, items: [{ id: address }] }
    expect((await world.google('POST', '/freeBusy', query, headers)).status).toBe(200)
  })

  const tokenFor = async (refreshToken: string): Promise<string> => {
    const form = { grant_type: 'refresh_token', client_id: 'test', refresh_token: refreshToken }
    const response = await requestToken(`${world.url}/google/token`, form)
    return z.object({ access_token: z.string() }).parse(await response.json()).access_token
  }
})
