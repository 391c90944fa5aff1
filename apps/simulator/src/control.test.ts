import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ada, googleEvent, graphEvent, grace, idOf, slot, startTestWorld, window } from './world.testing.ts'
import type { TestWorld } from './world.testing.ts'

describe('the control API', () => {
  const worlds: TestWorld[] = []
  let world: TestWorld
  beforeEach(async () => {
    world = await startTestWorld()
    worlds.push(world)
  })
  afterAll(async () => {
    await Promise.all(worlds.map(({ stop }) => stop()))
  })

  it('tells the same of an event whatever its provider', async () => {
    const operationId = randomUUID()
    const attendees = [{ email: grace }, { email: 'guest@elsewhere.example', optional: true }]
    const extendedProperties = { private: { aftercommitOperationId: operationId } }
    await world.google('POST', '/calendars/primary/events', googleEvent({ attendees, extendedProperties }))
    expect(await world.control.readEvents(ada.toUpperCase())).toMatchObject([
      {
        provider: 'google',
        status: 'confirmed',
        title: 'Review',
        start: new Date(slot.start).toISOString(),
        timeZone: 'America/New_York',
        attendees: [
          { address: grace, optional: false, response: 'needs_action' },
          { address: 'guest@elsewhere.example', optional: true },
        ],
        operationId,
      },
    ])
  })

  it("does what a calendar's user does, and the ledger says who did it", async () => {
    const created = await world.google('POST', '/calendars/primary/events', googleEvent())
    const id = idOf(created)
    await world.control.actOnEvent(id, { type: 'add_attendee', address: 'extra@elsewhere.example' })
    await world.control.actOnEvent(id, {
      type: 'move',
      start: '2026-03-25T14:00:00Z',
      end: '2026-03-25T15:00:00Z',
    })
    const moved = await world.google('GET', `/calendars/primary/events/${id}`)
    expect(moved.body).toMatchObject({
      start: { dateTime: '2026-03-25T10:00:00-04:00' },
      attendees: [{ email: 'extra@elsewhere.example' }],
    })
    expect(moved.body).not.toMatchObject({ etag: created.headers.get('etag') })
    await world.control.actOnEvent(id, { type: 'delete' })
    const ledger = await world.control.readLedger()
    expect(ledger.map(({ sequence, effect, by }) => [sequence, effect, by])).toEqual([
      [1, 'event_created', 'api'],
      [2, 'event_patched', 'person'],
      [3, 'event_patched', 'person'],
      [4, 'event_cancelled', 'person'],
    ])
  })

  it("does to a title, a place and a guest list what a calendar's user does, and the ledger tells the times", async () => {
    const attendees = [{ email: grace }, { email: 'guest@elsewhere.example' }]
    const id = idOf(
      await world.google('POST', '/calendars/primary/events', googleEvent({ attendees, location: 'Hall 3' })),
    )
    await world.control.actOnEvent(id, { type: 'rename', title: 'Party' })
    await world.control.actOnEvent(id, { type: 'set_location', location: null })
    await world.control.actOnEvent(id, { type: 'remove_attendee', address: grace })
    const days = { start: '2026-03-25', end: '2026-03-26' }
    await world.control.actOnEvent(id, { type: 'make_all_day', ...days })
    const left = [{ address: 'guest@elsewhere.example' }]
    expect(await world.control.readEvents(ada)).toMatchObject([
      { title: 'Party', location: null, attendees: left, ...days },
    ])
    const span = { start: new Date(slot.start).toISOString(), end: new Date(slot.end).toISOString() }
    const ledger = await world.control.readLedger()
    expect(ledger.map(({ effect, start, end }) => [effect, start, end])).toEqual([
      ['event_created', span.start, span.end],
      ...[1, 2, 3].map(() => ['event_patched', span.start, span.end]),
      ['event_patched', days.start, days.end],
    ])
  })

  it('does nothing that nobody could do by hand', async () => {
    const id = idOf(await world.google('POST', '/calendars/primary/events', googleEvent()))
    const graph = idOf(await world.graph('POST', '/me/events', graphEvent()))
    const { actOnEvent } = world.control
    await expect(actOnEvent(id, { type: 'restore' })).rejects.toThrow(/409.*not deleted/)
    await expect(actOnEvent(id, { type: 'remove_attendee', address: grace })).rejects.toThrow(/not invited/)
    await actOnEvent(id, { type: 'delete' })
    await expect(actOnEvent(id, { type: 'rename', title: 'x' })).rejects.toThrow(/The event is deleted/)
    expect(await actOnEvent(id, { type: 'restore' })).toMatchObject({ status: 'confirmed' })
    await actOnEvent(graph, { type: 'delete' })
    await expect(actOnEvent(graph, { type: 'restore' })).rejects.toThrow(/409/)
    expect(await world.control.readLedger()).toHaveLength(5)
  })

  it('makes a person busy beside what they have, for both providers', async () => {
    await world.google('POST', '/calendars/primary/events', googleEvent())
    const block = { start: '2026-03-24T17:00:00Z', end: '2026-03-24T18:00:00Z' }
    await world.control.addBusy(ada.toUpperCase(), block)
    const query = { timeMin: window.start, timeMax: window.end, items: [{ id: ada }] }
    expect((await world.google('POST', '/freeBusy', query)).body).toMatchObject({
      calendars: { [ada]: { busy: [slot, block] } },
    })
    // The grant stands: nothing of the person was replaced.
    expect((await world.google('GET', '/calendars/primary/events')).status).toBe(200)
    await expect(world.control.addBusy('nobody@google.example', block)).rejects.toThrow(/no such person/)
  })

  it.each([
    ['GET', 'ledgers'],
    ['DELETE', 'people'],
  ])('answers %s %s, which it does not have, with a problem document', async (method, path) => {
    const response = await fetch(`${world.url}/control/${path}`, { method })
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(await response.json()).toEqual({
      type: 'about:blank',
      title: 'Not Found',
      status: 404,
      detail: `The control API has no ${method} /${path}.`,
    })
  })

  it('refuses a zone that is no zone, and a body that is no JSON', async () => {
    const person = { address: 'x@google.example', provider: 'google', timeZone: 'PST' } as const
    await expect(world.control.putPeople([person])).rejects.toThrow(/no IANA time zone/)
    const response = await fetch(`${world.url}/control/faults`, { method: 'POST', body: '{"id":' })
    expect(response.status).toBe(400)
  })

  it('forgets everything on reset', async () => {
    await world.google('POST', '/calendars/primary/events', googleEvent())
    await world.control.reset()
    expect(await world.control.readLedger()).toEqual([])
    expect(await world.control.readRequests()).toEqual([])
    expect(await world.control.readEvents(ada)).toEqual([])
    expect((await world.google('GET', '/calendars/primary/events')).status).toBe(401)
  })
})
