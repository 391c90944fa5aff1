import { useDatabase } from '@aftercommit/testing'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { intentFor, openStory, operationsOf, providers } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)

const MEETINGS = 6

/** How many reads of an account are in which state, with the reason why they are. */
const readsOf = async (account: string): Promise<Readonly<Record<string, number>>> => {
  const { rows } = await database.owner.query(
    `select concat_ws(':', state, case when started_at is not null then 'started' end, last_code) as state, count(*)::int as count from outbox
     where account = $1 and action = 'scheduling.read_availability' group by 1`,
    [account],
  )
  const counted = z.array(z.object({ state: z.string(), count: z.int() })).parse(rows)
  return Object.fromEntries(counted.map(({ state, count }) => [state, count]))
}

test.each(providers)(
  '%s is never asked more than two things of one calendar at a time, by two dispatchers together',
  async (provider) => {
    const story = await openStory(world, database, { organizer: provider })
    const { client, cast } = story
    for (let n = 1; n < MEETINGS; n++) {
      await client.post('/v1/meetings', intentFor(cast, 'named_approver')).expect(201)
    }
    const fault = `held ${provider}`
    await world.control.addFault({
      id: fault,
      provider,
      operation: operationsOf[provider].freeBusy,
      address: cast.ada.address,
      times: MEETINGS,
      act: { type: 'hold', when: 'before_effect' },
    })
    const dispatchers = [world.createDispatcher(), world.createDispatcher()]
    const working = Promise.all(dispatchers.map((dispatcher) => dispatcher.tick()))
    const called = async (): Promise<number> =>
      (await world.control.readFaults()).find(({ id }) => id === fault)?.fired.length ?? 0
    const { connectionId } = cast.ada
    const settled = async (): Promise<boolean> => {
      const { ready, leased } = await readsOf(connectionId)
      return ready === undefined && leased === undefined && (await called()) >= 2
    }
    while (!(await settled())) await new Promise((resolve) => setImmediate(resolve))
    expect(await readsOf(connectionId)).toEqual({ 'leased:started': 2, 'paused:account_busy': MEETINGS - 2 })
    expect(await called()).toBe(2)

    await world.control.clearFaults()
    await working
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.drain()))
    expect(await readsOf(connectionId)).toEqual({})
    expect((await story.view()).state.type).toBe('awaiting_approval')
  },
)
