import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { newSealingKey, sealingOf } from '@aftercommit/platform/sealing'
import { useDatabase } from '@aftercommit/testing'
import { z } from 'zod'
import { useSchedulingWorld, type ConnectedPerson } from './scheduling-world.testing.ts'
import {
  firstSlot,
  intentFor,
  openStory,
  operationsOf,
  proposeStory,
  providers,
  type Cast,
  type Story,
} from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const soon = { ms: 10_000, max: 3 }
afterEach(() => world.control.clearFaults())

const change = (
  { connectionId: _, ...person }: ConnectedPerson,
  more: Partial<Parameters<typeof world.control.putPeople>[0][number]>,
) => world.control.putPeople([{ ...person, ...more }])
/** The person signs in elsewhere, and with that takes back what was granted to us. */
const revoke = (person: ConnectedPerson) =>
  change(person, { refreshToken: randomBytes(24).toString('base64url') })

const evidenceOf = async (story: Story, person: ConnectedPerson) => {
  const { rows } = await database.owner.query<{ type: string; code: string | null }>(
    'select type, code from evidence where participant_id = $1',
    [await story.participantId(person)],
  )
  return rows
}
const deadRows = async (story: Story) => (await story.rows()).filter(({ state }) => state === 'dead')

const withOptional = (cast: Cast) => {
  const intent = intentFor(cast, 'named_approver')
  const [ada, ben, chen] = z.array(z.record(z.string(), z.unknown())).parse(intent.participants)
  return { ...intent, participants: [ada, ben, { ...chen, role: 'optional' }] }
}

describe('a grant that was taken back', () => {
  test.each(['ben', 'chen'] as const)('before the read is never read as free: %s', async (who) => {
    const story = await openStory(world, database)
    const person = story.cast[who]
    await revoke(person)
    const view = await story.drainUntil('in_repair', soon)
    const participantId = await story.participantId(person)
    expect(view.repairs).toEqual([
      expect.objectContaining({
        code: 'availability_unknown',
        owner: 'calendar_owner',
        facts: {
          participantIds: [participantId],
          reasons: [{ participantId, code: 'grant_revoked' }],
        },
      }),
    ])
    expect(view.proposal).toBeUndefined()
    expect(await evidenceOf(story, person)).toEqual([{ type: 'unknown', code: 'grant_revoked' }])
    expect(await deadRows(story)).toMatchObject([
      { action: 'scheduling.read_availability', code: 'grant_revoked' },
    ])
    expect(await story.told()).toEqual(['repair.opened'])
  })

  test('of an optional person lets the others meet without them', async () => {
    const earlier = await openStory(world, database)
    await earlier.drainUntil('awaiting_approval')
    await revoke(earlier.cast.chen)
    const answer = await earlier.client.post('/v1/meetings', withOptional(earlier.cast)).expect(201)
    const { id } = answer.body as { id: string }
    for (let step = 0; step < 3; step++) {
      await earlier.dispatcher.drain()
      await database.advanceClock(soon.ms)
    }
    const answered = await earlier.client.get(`/v1/meetings/${id}`).expect(200)
    expect(answered.body).toMatchObject({
      state: { type: 'awaiting_approval' },
      proposal: { ...firstSlot, optionalAttending: [], optionalMissing: [{ because: 'unknown' }] },
    })
  })

  test.each(providers)(
    'of the organizer before the write is a repair, and %s holds nothing',
    async (organizer) => {
      const story = await proposeStory(world, database, { organizer })
      await revoke(story.cast.ada)
      await story.approve()
      const { repairs } = await story.drainUntil('in_repair', soon)
      const participantIds = [await story.participantId(story.cast.ada)]
      expect(repairs).toMatchObject([
        { code: 'grant_revoked', owner: 'calendar_owner', facts: { class: 'permission', participantIds } },
      ])
      expect(await story.created()).toBe(0)
      expect(await story.told()).toContain('repair.opened')
    },
  )

  test('of a required guest before the write is a repair that names the guest', async () => {
    const story = await proposeStory(world, database)
    await revoke(story.cast.chen)
    await story.approve()
    const { repairs } = await story.drainUntil('in_repair', soon)
    const participantIds = [await story.participantId(story.cast.chen)]
    expect(repairs).toMatchObject([
      { code: 'grant_revoked', owner: 'calendar_owner', facts: { participantIds } },
    ])
    expect(await story.created()).toBe(0)
  })

  test.each(providers)(
    'while the fate of a write is unknown is a repair, not a guess: %s',
    async (organizer) => {
      const story = await proposeStory(world, database, { organizer })
      const { ada } = story.cast
      await world.control.addFault({
        id: randomUUID(),
        provider: organizer,
        operation: operationsOf[organizer].insert,
        address: ada.address,
        act: { type: 'drop', when: 'after_effect' },
      })
      await story.approve()
      await story.dispatcher.tick()
      expect((await story.view()).state.type).toBe('write_uncertain')
      await revoke(ada)
      const { repairs } = await story.drainUntil('in_repair', soon)
      expect(repairs).toMatchObject([{ code: 'grant_revoked', facts: { class: 'uncertain' } }])
      expect(await story.created()).toBe(1)
    },
  )
})

describe('a calendar that cannot be read, inside an answer that looks like success', () => {
  test.each([
    ['ben', 'no_access'],
    ['ben', 'unknown_person'],
    ['chen', 'no_access'],
    ['chen', 'unknown_person'],
    ['chen', 'too_many_entries'],
  ] as const)('is a repair for good: %s %s', async (who, readable) => {
    const story = await openStory(world, database, { [who]: { readable } })
    const view = await story.drainUntil('in_repair', soon)
    const participantIds = [await story.participantId(story.cast[who])]
    expect(view.repairs).toMatchObject([
      { code: 'availability_unknown', owner: 'calendar_owner', facts: { participantIds } },
    ])
    expect(view.proposal).toBeUndefined()
    expect(await evidenceOf(story, story.cast[who])).toMatchObject([{ type: 'unknown' }])
  })

  test.each([
    ['ben', 'internal_error'],
    ['ben', 'left_out'],
    ['chen', 'left_out'],
  ] as const)('is asked again while that may help: %s %s', async (who, readable) => {
    const story = await openStory(world, database, { [who]: { readable } })
    await story.drainUntil('gathering')
    expect(await evidenceOf(story, story.cast[who])).toEqual([])
    await change(story.cast[who], { readable: 'yes' })
    await story.drainUntil('awaiting_approval', soon)
  })

  test('ends in a repair when it does not pass', async () => {
    const story = await openStory(world, database, { ben: { readable: 'internal_error' } })
    const { repairs } = await story.drainUntil('in_repair', { ms: 10 * 60_000, max: 12 })
    const participantId = await story.participantId(story.cast.ben)
    // By then the others' evidence has expired, too; only what stands in the way is named.
    const reasons = [{ participantId, code: 'calendar_internal' }]
    expect(repairs).toMatchObject([{ code: 'availability_unknown', facts: { reasons } }])
  })

  test('stops the write as well: nothing is written on the strength of an old answer', async () => {
    const story = await proposeStory(world, database)
    await change(story.cast.ben, { readable: 'no_access' })
    await story.approve()
    const { repairs } = await story.drainUntil('in_repair', soon)
    const participantIds = [await story.participantId(story.cast.ben)]
    expect(repairs).toMatchObject([
      { code: 'availability_unknown', owner: 'calendar_owner', facts: { participantIds } },
    ])
    expect(await story.created()).toBe(0)
  })
})

describe('a credential that cannot be opened', () => {
  const withoutKey = () => {
    const errors: string[] = []
    const dispatcher = world.createDispatcher({
      unseal: sealingOf(newSealingKey('test')).unseal,
      report: (event) => {
        if (event.type === 'error') errors.push(event.where)
      },
    })
    return { dispatcher, errors }
  }

  test('ends a read at once, and a person is asked who keeps the keys', async () => {
    const { dispatcher, errors } = withoutKey()
    const story = await openStory(world, database, { dispatcher })
    const { repairs } = await story.drainUntil('in_repair')
    expect(repairs).toMatchObject([{ code: 'availability_unknown', owner: 'operations' }])
    expect(JSON.stringify(repairs)).toContain('credential_unreadable')
    const dead = await deadRows(story)
    expect(dead.filter(({ action }) => action === 'scheduling.read_availability')).toHaveLength(3)
    expect(new Set(dead.map(({ code }) => code))).toEqual(new Set(['credential_unreadable']))
    expect(dead.every(({ attempts }) => attempts <= 1)).toBe(true)
    expect(errors).toEqual([])
    expect(await story.told()).toEqual([])
  })

  test('ends a write before anything is written', async () => {
    const story = await proposeStory(world, database)
    await story.approve()
    await withoutKey().dispatcher.drain()
    expect((await story.view()).repairs).toMatchObject([
      { code: 'credential_unreadable', owner: 'operations' },
    ])
    expect(await story.created()).toBe(0)
  })

  test('ends the question about a write as an uncertain one', async () => {
    const story = await proposeStory(world, database)
    await world.control.addFault({
      id: randomUUID(),
      provider: 'google',
      operation: 'events.insert',
      address: story.cast.ada.address,
      act: { type: 'drop', when: 'after_effect' },
    })
    await story.approve()
    await story.dispatcher.tick()
    const { dispatcher, errors } = withoutKey()
    await dispatcher.drain()
    expect((await story.view()).repairs).toMatchObject([
      { code: 'credential_unreadable', facts: { class: 'uncertain' } },
    ])
    expect(errors).toEqual([])
  })

  test('ends a read-back, and the event is not taken for confirmed', async () => {
    const story = await proposeStory(world, database)
    await story.approve()
    await story.dispatcher.tick()
    expect((await story.view()).state.type).toBe('verifying')
    await withoutKey().dispatcher.drain()
    const view = await story.view()
    expect(view.repairs).toMatchObject([{ code: 'credential_unreadable', owner: 'operations' }])
    expect(view.completion).toBeUndefined()
  })
})
