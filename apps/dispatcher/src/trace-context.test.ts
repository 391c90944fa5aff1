import { expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)

test('every call to a provider carries the trace of the request that caused it', async () => {
  const story = await openStory(world, database)
  await story.drainUntil('awaiting_approval')
  const requests = await world.control.readRequests()
  const calls = requests.filter(({ operation }) => operation !== 'token')
  expect(calls.length).toBeGreaterThanOrEqual(3)
  const traces = new Set(calls.map(({ traceparent }) => traceparent?.split('-')[1]))
  expect(traces.size).toBe(1)
  expect([...traces][0]).toMatch(/^[0-9a-f]{32}$/)
})
