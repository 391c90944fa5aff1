import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { ada, googleEvent, grace, mary, startTestWorld, window } from './world.testing.ts'
import type { TestWorld } from './world.testing.ts'

const eventsPath = `/calendars/${encodeURIComponent(ada)}/events`

describe('a scripted fault', () => {
  let world: TestWorld
  beforeAll(async () => (world = await startTestWorld()))
  afterEach(() => world.control.clearFaults())
  afterAll(() => world.stop())

  const insert = (operationId: string) =>
    world.google(
      'POST',
      eventsPath,
      googleEvent({ extendedProperties: { private: { aftercommitOperationId: operationId } } }),
    )
  const onInsert = { provider: 'google', operation: 'events.insert' } as const
  const effectsOf = async (operationId: string) =>
    (await world.control.readLedger()).filter((entry) => entry.operationId === operationId)
  const lastRequest = async () => (await world.control.readRequests()).at(-1)

  it('that drops the answer after the effect leaves the event and no answer', async () => {
    await world.control.addFault({ id: 'lost', ...onInsert, act: { type: 'drop', when: 'after_effect' } })
    const operationId = randomUUID()
    await expect(insert(operationId)).rejects.toThrow()
    expect(await effectsOf(operationId)).toMatchObject([
      { effect: 'event_created', provider: 'google', calendarAddress: ada, by: 'api' },
    ])
    const request = await lastRequest()
    expect(request).toMatchObject({ operation: 'events.insert', address: ada, status: null, fault: 'lost' })
    expect(await world.control.readFaults()).toMatchObject([
      { id: 'lost', fired: [{ operation: 'events.insert', requestId: request?.requestId }] },
    ])
  })

  it('that drops the connection before the effect leaves nothing', async () => {
    await world.control.addFault({ id: 'unheard', ...onInsert, act: { type: 'drop', when: 'before_effect' } })
    const operationId = randomUUID()
    await expect(insert(operationId)).rejects.toThrow()
    expect(await effectsOf(operationId)).toEqual([])
  })

  it('that truncates sends half the body under its full length, and the effect stays', async () => {
    await world.control.addFault({ id: 'cut', ...onInsert, act: { type: 'truncate' } })
    const operationId = randomUUID()
    await expect(insert(operationId)).rejects.toThrow()
    expect(await effectsOf(operationId)).toHaveLength(1)
    expect(await lastRequest()).toMatchObject({ status: 200 })
  })

  it('that answers HTML says 200 although the effect was an event', async () => {
    await world.control.addFault({ id: 'portal', ...onInsert, act: { type: 'html' } })
    const operationId = randomUUID()
    await expect(insert(operationId)).rejects.toThrow(/JSON/)
    expect(await effectsOf(operationId)).toHaveLength(1)
  })

  it('that answers by itself makes no effect and keeps its headers', async () => {
    const body = { error: { code: 429, errors: [{ domain: 'usageLimits', reason: 'rateLimitExceeded' }] } }
    const act = { type: 'answer', status: 429, body, headers: { 'retry-after': '7' } } as const
    await world.control.addFault({ id: 'busy', ...onInsert, act })
    const operationId = randomUUID()
    const reply = await insert(operationId)
    expect([reply.status, reply.headers.get('retry-after'), reply.body]).toEqual([429, '7', body])
    expect(await effectsOf(operationId)).toEqual([])
  })

  it('that holds the answer lets a test see the effect first, and goes on when released', async () => {
    await world.control.addFault({ id: 'gate', ...onInsert, act: { type: 'hold' } })
    const operationId = randomUUID()
    const answer = insert(operationId)
    await world.control.waitForFault('gate')
    expect(await effectsOf(operationId)).toHaveLength(1)
    expect(await lastRequest()).toMatchObject({ status: null })
    await world.control.releaseFault('gate')
    expect((await answer).status).toBe(200)
  })

  it('that holds the effect back makes it when released, as a write that lands late', async () => {
    await world.control.addFault({ id: 'late', ...onInsert, act: { type: 'hold', when: 'before_effect' } })
    const operationId = randomUUID()
    const answer = insert(operationId)
    await world.control.waitForFault('late')
    expect(await effectsOf(operationId)).toEqual([])
    await world.control.releaseFault('late')
    await answer
    expect(await effectsOf(operationId)).toHaveLength(1)
  })

  it('that delays makes the effect at once', async () => {
    await world.control.addFault({ id: 'slow', ...onInsert, act: { type: 'delay', delayMs: 30 } })
    const operationId = randomUUID()
    const answer = insert(operationId)
    await world.control.waitForFault('slow')
    expect(await effectsOf(operationId)).toHaveLength(1)
    expect((await answer).status).toBe(200)
  })

  it('lets calls through first, fires as often as told and then no more', async () => {
    const act = { type: 'answer', status: 503, body: {} } as const
    await world.control.addFault({ id: 'second', ...onInsert, skip: 1, times: 2, act })
    const statuses: number[] = []
    for (const operationId of [1, 2, 3, 4].map(() => randomUUID())) {
      statuses.push((await insert(operationId)).status)
    }
    expect(statuses).toEqual([200, 503, 503, 200])
  })

  it('scripted for a calendar also meets a free/busy query that asks for it', async () => {
    const act = { type: 'answer', status: 500, body: {} } as const
    await world.control.addFault({
      id: 'one',
      provider: 'google',
      operation: 'freebusy.query',
      address: grace,
      act,
    })
    const query = (id: string) =>
      world.google('POST', '/freeBusy', { timeMin: window.start, timeMax: window.end, items: [{ id }] })
    expect((await query(ada)).status).toBe(200)
    expect((await query(grace)).status).toBe(500)
  })

  it('is refused for an operation the provider does not have, and under a taken name', async () => {
    const act = { type: 'truncate' } as const
    const wrong = { id: 'typo', provider: 'google', operation: 'events.create', act } as const
    await expect(world.control.addFault(wrong)).rejects.toThrow(/no such operation/)
    await world.control.addFault({ id: 'twice', ...onInsert, act })
    await expect(world.control.addFault({ id: 'twice', ...onInsert, act })).rejects.toThrow(/409/)
  })

  it('does not keep a stopping simulator alive', async () => {
    const other = await startTestWorld()
    const operation = 'events.list'
    await other.control.addFault({ id: 'gate', provider: 'google', operation, act: { type: 'hold' } })
    await other.control.addFault({
      id: 'slow',
      provider: 'microsoft',
      operation,
      act: { type: 'delay', delayMs: 600_000 },
    })
    const held = [
      other.google('GET', '/calendars/primary/events'),
      other.graph('GET', `/users/${mary}/events`),
    ]
    await Promise.all([other.control.waitForFault('gate'), other.control.waitForFault('slow')])
    const ends = Promise.allSettled(held)
    await other.stop()
    await ends
  })
})
