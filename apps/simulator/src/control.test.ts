import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ada, googleEvent, grace, idOf, slot, startTestWorld } from './world.testing.ts'
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
