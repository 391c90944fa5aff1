import { describe, expect, it } from '@jest/globals'
import type { Exchanged } from './exchange.ts'
import { vendorCheck } from './vendor-schemas.testing.ts'
import { googleEvent, graphEvent, idOf, startTestWorld, window } from './world.testing.ts'

const folder = process.env.VENDOR_SCHEMAS
const itWithSchemas = folder ? it : it.skip

const exchanged = (more: Partial<Exchanged>): Exchanged => ({
  provider: 'google',
  operation: 'events.insert',
  query: new URLSearchParams(),
  request: googleEvent(),
  status: 200,
  body: {},
  ...more,
})
const mistakesIn = (more: Partial<Exchanged>): readonly string[] => {
  const check = vendorCheck('ours')
  check.observe(exchanged(more))
  return check.takeMistakes()
}

describe('the vendors’ own schemas (checked where VENDOR_SCHEMAS names a folder that has them)', () => {
  // The test world holds every answer against them, here and in all other tests of the simulator.
  itWithSchemas('are kept by what both providers answer to every operation', async () => {
    const world = await startTestWorld()
    try {
      const google = idOf(await world.google('POST', '/calendars/primary/events', googleEvent()))
      const graph = idOf(await world.graph('POST', '/me/events', graphEvent()))
      const at = (dateTime: string) => ({ dateTime, timeZone: 'UTC' })
      const replies = [
        await world.google('GET', `/calendars/primary/events/${google}`),
        await world.google('GET', '/calendars/primary/events'),
        await world.google('PATCH', `/calendars/primary/events/${google}`, { summary: 'x' }),
        await world.google('DELETE', `/calendars/primary/events/${google}`),
        await world.google('POST', '/freeBusy', {
          timeMin: window.start,
          timeMax: window.end,
          items: [{ id: 'primary' }, { id: 'nobody@google.example' }],
        }),
        await world.graph('GET', `/me/events/${graph}`),
        await world.graph('GET', '/me/events'),
        await world.graph('PATCH', `/me/events/${graph}`, { subject: 'x' }),
        await world.graph('POST', `/me/events/${graph}/cancel`, {}),
        await world.graph('POST', '/me/calendar/getSchedule', {
          schedules: ['mary@microsoft.example', 'nobody@microsoft.example'],
          startTime: at('2026-03-24T00:00:00'),
          endTime: at('2026-03-25T00:00:00'),
        }),
      ]
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 204, 200, 200, 200, 200, 202, 200])
    } finally {
      await world.stop()
    }
  })

  itWithSchemas('find a member that lacks, one that nobody knows, and one of the wrong kind', () => {
    expect(mistakesIn({ body: { id: 'abcde' } }).join()).toMatch(/must have required property 'status'/)
    expect(mistakesIn({ request: { ...googleEvent(), attendes: [] } }).join()).toContain('attendes')
    const schedule = { operation: 'calendar.getSchedule', provider: 'microsoft', request: {} } as const
    expect(mistakesIn({ ...schedule, body: { value: [{ scheduleId: 5 }] } }).join()).toMatch(/must be string/)
    expect(mistakesIn({ status: 404, body: { error: 'gone' } }).join()).toMatch(/refusal\/error/)
    const patch = { operation: 'events.patch', request: googleEvent({ attendees: [], location: null }) }
    expect(mistakesIn({ ...patch, status: 304 })).toEqual([])
    expect(mistakesIn({ ...patch, request: { summary: null }, status: 304 }).join()).toContain('summary')
    expect(mistakesIn({ operation: 'events.delete', body: '' }).join()).toMatch(/should be none/)
    expect(mistakesIn({ operation: 'events.quickAdd' })).toHaveLength(1)
  })

  it('are not needed: without them everything passes', () => {
    const check = vendorCheck('ours', '')
    check.observe(exchanged({ body: 'anything' }))
    expect(check.takeMistakes()).toEqual([])
  })
})
