import { randomUUID } from 'node:crypto'
import { test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, operationsOf } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)

test('x', async () => {
  const story = await openStory(world, database)
  await world.control.addFault({
    id: randomUUID(),
    provider: 'google',
    operation: operationsOf.google.insert,
    address: story.cast.ada.address,
    act: { type: 'drop', when: 'after_effect' },
  })
  await story.drainUntil('awaiting_approval')
  await story.approve()
  await story.drainUntil('confirmed')
  const { text } = await story.client.get(`/v1/meetings/${story.meetingId}/trace`).set('accept', 'text/plain')
  console.log(text)
})
