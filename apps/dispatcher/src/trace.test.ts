import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { z } from 'zod'
import { mortalDb } from './mortal-db.testing.ts'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, operationsOf, proposeStory, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const Entry = z.looseObject({
  type: z.string(),
  at: z.string(),
  actionId: z.string().optional(),
  action: z.string().optional(),
  kind: z.string().optional(),
  outcome: z.string().optional(),
  replicaId: z.string().nullish(),
  participantId: z.string().optional(),
})
const Trace = z.object({
  entries: z.array(Entry),
  people: z.array(z.object({ id: z.string(), label: z.string() })),
  waits: z.array(
    z.object({ what: z.string(), durationMs: z.number().optional(), because: z.array(z.string()) }),
  ),
  stages: z.array(z.object({ stage: z.string(), durationMs: z.number() })),
  next: z.array(z.looseObject({ type: z.string() })),
})

const traceOf = async (story: Story) =>
  Trace.parse((await story.client.get(`/v1/meetings/${story.meetingId}/trace`).expect(200)).body)
const textOf = async (story: Story): Promise<string> =>
  (await story.client.get(`/v1/meetings/${story.meetingId}/trace`).set('accept', 'text/plain').expect(200))
    .text

/** A confirmed meeting whose write was made, and whose answer was lost. */
const uncertainStory = async (): Promise<Story> => {
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
  return story
}

describe('the trace of a meeting', () => {
  test('puts nothing before what it followed', async () => {
    const { entries } = await traceOf(await uncertainStory())
    const place = (found: (entry: z.output<typeof Entry>) => boolean): number => {
      const index = entries.findIndex(found)
      expect(index).toBeGreaterThanOrEqual(0)
      return index
    }
    for (const [index, entry] of entries.entries()) {
      if (entry.type !== 'evidence') continue
      const read = entries.findLastIndex(
        ({ type, about }, at) =>
          at < index && type === 'action_ended' && JSON.stringify(about).includes(entry.participantId ?? '-'),
      )
      expect(read).toBeGreaterThanOrEqual(0)
    }
    const asked = (action: string) => (entry: z.output<typeof Entry>) =>
      entry.type === 'action_enqueued' && entry.action === `scheduling.${action}`
    const steps = [
      place(({ type }) => type === 'meeting_opened'),
      entries.findLastIndex(({ type }) => type === 'evidence'),
      place(asked('find_time')),
      place(({ type }) => type === 'proposal'),
      place(({ type }) => type === 'approval'),
      place(asked('write_event')),
      place(({ type, outcome }) => type === 'attempt' && outcome === 'unknown'),
      place(asked('write_event#reconcile')),
      place(({ type, kind }) => type === 'attempt' && kind === 'reconcile'),
      place(({ type }) => type === 'unknown_resolved'),
      place(({ type }) => type === 'event_written'),
      place(asked('read_back_event')),
      place(({ type }) => type === 'completion_verified'),
    ]
    expect(steps).toEqual([...steps].sort((a, b) => a - b))
  })

  test('tells one attempt at a write, one question about it, and how that was resolved', async () => {
    const { entries } = await traceOf(await uncertainStory())
    const ofWrite = entries.filter(({ action }) => action?.startsWith('scheduling.write_event'))
    expect(ofWrite.map(({ type, kind, outcome }) => [type, kind, outcome])).toEqual([
      ['action_enqueued', 'effect', undefined],
      ['attempt', 'effect', 'unknown'],
      ['action_enqueued', 'reconcile', undefined],
      ['attempt', 'reconcile', 'succeeded'],
      ['unknown_resolved', 'effect', 'succeeded'],
      ['action_ended', 'effect', 'succeeded'],
      ['action_ended', 'reconcile', 'succeeded'],
    ])
  })

  test('says whose lease was lost, and that this person was waited for because of it', async () => {
    const story = await openStory(world, database)
    const leaseMs = 2_000
    const mortal = mortalDb(database.dispatcher, 'scheduling.read_availability', 'performed')
    const doomed = world.createDispatcher({ db: mortal.db, leaseMs })
    await expect(doomed.drain()).rejects.toThrow('dead')
    await database.advanceClock(leaseMs + 500)
    await story.drainUntil('awaiting_approval')
    const { entries, waits } = await traceOf(story)
    const lost = entries.filter(({ outcome }) => outcome === 'lease_lost')
    expect(new Set(lost.map(({ replicaId }) => replicaId))).toEqual(new Set([doomed.replicaId]))
    expect(waits.flatMap(({ because }) => because)).toContain('lease_lost')
    expect(await textOf(story)).toMatch(
      /^ +p\d .*: calendar read, longer because its dispatcher went silent/m,
    )
  })

  test('answers from its text alone, on one page, and names nobody', async () => {
    const story = await uncertainStory()
    const text = await textOf(story)
    expect(text.split('\n').length).toBeLessThanOrEqual(80)
    expect(text).toMatch(/^STANDS +confirmed since /m)
    expect(text).toMatch(/^KNOWN +for proposal 1, Mon 2027-03-29 13:00Z to 14:00Z, chosen at /m)
    expect(text).toMatch(
      /^WRITTEN +1 writing call, asked 1 time what became of one; 1 event made as far as is known, 0 taken away again$/m,
    )
    expect(text).toMatch(/^WENT WRONG .* write event .*nothing is written again before/m)
    expect(text).toMatch(/^PROOF +event .* agrees with what was approved in \d+ points/m)
    expect(text).toMatch(/^NEXT +nobody must act; by itself:$/m)
    for (const { address } of Object.values(story.cast)) expect(text).not.toContain(address)
    expect(text).not.toMatch(/@|Lovelace|Contract review/)
  })

  test('names who must approve, until when, and how long each stage took', async () => {
    const story = await proposeStory(world, database)
    const { next, stages } = await traceOf(story)
    expect(next[0]).toEqual({
      type: 'person',
      owner: 'named_approver',
      code: 'approval',
      until: '2027-03-24T12:00:00.000Z',
      subject: { type: 'proposal', id: (await story.view()).proposal?.id },
    })
    expect(stages.map(({ stage }) => stage)).toEqual(['availability', 'choice'])
    expect(await textOf(story)).toMatch(
      /^NEXT +the approver whom the meeting names must act: approve proposal 1, or not, until Wed 2027-03-24 12:00Z$/m,
    )
  })
})
