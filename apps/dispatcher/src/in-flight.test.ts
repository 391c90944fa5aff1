/** What people do while a call of ours is on its way to the provider, and takes its effect only after that. */
import { randomUUID } from 'node:crypto'
import type { FaultSpec } from '@aftercommit/simulator'
import { useDatabase } from '@aftercommit/testing'
import { describe, expect, test } from '@jest/globals'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { operationsOf, providers, proposeStory, secondSlot, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const MINUTE_MS = 60_000
const patience = { ms: 5 * MINUTE_MS, max: 6 }
const later = { window: { from: '2027-04-05T00:00', to: '2027-04-09T00:00' }, bookBy: '2027-04-04T12:00:00Z' }

const live = async (story: Story) => (await story.events()).filter(({ status }) => status !== 'cancelled')

/** Works until the call is on its way, does the deed, and only then lets the call take its effect. */
const whileUnderWay = async (
  story: Story,
  call: Pick<FaultSpec, 'provider' | 'operation'>,
  deed: () => Promise<unknown>,
): Promise<void> => {
  const id = randomUUID()
  const { address } = story.cast.ada
  await world.control.addFault({ id, ...call, address, act: { type: 'hold', when: 'before_effect' } })
  const working = world.createDispatcher().drain()
  await world.control.waitForFault(id)
  await deed()
  await world.control.releaseFault(id)
  await working
}

describe.each(providers)('at %s', (provider) => {
  test('an event that its organizer moves under our change of it stays there, and is a repair', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    await story.approve()
    await story.drainUntil('confirmed')
    await story.reschedule(later).expect(200)
    await story.drainUntil('awaiting_approval')
    await story.approve()
    const [event] = await live(story)
    await whileUnderWay(story, { provider, operation: 'events.patch' }, () =>
      world.control.actOnEvent(event?.id ?? '', { type: 'move', ...secondSlot }),
    )
    const view = await story.drainUntil('in_repair', patience)
    expect(view.repairs).toMatchObject([{ code: 'event_changed', owner: 'organizer' }])
    const [after, ...more] = await live(story)
    expect(new Date(after?.start ?? '').toISOString()).toBe(secondSlot.start)
    expect(more).toEqual([])
  })

  test('a write that takes its effect long after its meeting was cancelled is swept away', async () => {
    const story = await proposeStory(world, database, { organizer: provider })
    await story.approve()
    await whileUnderWay(story, { provider, operation: operationsOf[provider].insert }, async () => {
      await story.cancel().expect(200)
      // The lease runs out, and nothing is found for as long as a late effect is waited for.
      await story.drainUntil('cancelled', patience)
      expect(await live(story)).toEqual([])
    })
    expect(await live(story)).toHaveLength(1)
    await database.advanceClock(20 * MINUTE_MS)
    await story.dispatcher.drain()
    expect(await live(story)).toEqual([])
    expect(await story.created()).toBe(1)
    expect((await story.view()).state.type).toBe('cancelled')
    expect((await story.told()).filter((type) => type === 'meeting.cancelled')).toHaveLength(1)
  })
})
