/** What the page says of whom was waited for, of what stands at the provider, and of each endpoint, from real meetings. */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { z } from 'zod'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, proposeStory, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())

const outreach = { messagesMax: 2, spacingHours: 24 }

const textOf = async (story: Story): Promise<string> =>
  (await story.client.get(`/v1/meetings/${story.meetingId}/trace`).set('accept', 'text/plain').expect(200))
    .text
const stagesOf = async (story: Story) =>
  z
    .object({ stages: z.array(z.object({ stage: z.string(), durationMs: z.number() })) })
    .parse((await story.client.get(`/v1/meetings/${story.meetingId}/trace`).expect(200)).body).stages

/** What was asked at one time has no order. */
const missing = '(a time zone; who may approve|who may approve; a time zone)'

const tellWhatIsMissing = async (story: Story): Promise<void> => {
  const answers: Readonly<Record<string, unknown>> = {
    zone_missing: { timeZone: 'Europe/Berlin' },
    authority_missing: { approval: { type: 'named_approver', address: story.cast.ada.address } },
  }
  for (const { id, code } of (await story.view()).exceptions) {
    await story.client.post(`/v1/exceptions/${id}/resolve`, answers[code]).expect(200)
  }
}

test('an event that the provider made although it refused it is denied nowhere, from its find to its end', async () => {
  const story = await proposeStory(world, database, { organizer: 'microsoft', intent: { outreach } })
  const { connectionId: _, ...chen } = story.cast.chen
  await world.control.putPeople([{ ...chen, invitable: false }])
  await story.approve()
  await story.drainUntil('in_repair')
  expect(await story.created()).toBe(1)
  const broken = await textOf(story)
  expect(broken).toMatch(/^STANDS .*; an event of proposal 1 stands at microsoft, to be taken away$/m)
  expect(broken).toMatch(/^PROOF +none yet; an event of proposal 1 stands at microsoft, to be taken away$/m)
  expect(broken).toMatch(/^WRITTEN .*; 1 event made as far as is known, 0 taken away again$/m)
  expect(broken).toMatch(
    /^WENT WRONG .*; DEAD at .* after 1 attempt; repair invalid_attendee \(class uncertain: .*\), still open: the organizer must act$/m,
  )
  expect(broken).toMatch(
    /^ +the organizer still, since .*: repair invalid_attendee$|^WAITED FOR +the organizer still, since .*: repair invalid_attendee$/m,
  )

  const participantId = await story.participantId(story.cast.chen)
  const address = `new-${randomUUID().slice(0, 6)}@google.example`
  await story.resolve({ type: 'correct_address', participantId, address })
  await story.dispatcher.drain()
  const cleared = await textOf(story)
  expect(cleared).toMatch(/^WRITTEN .*; 1 event made as far as is known, 1 taken away again$/m)
  expect(cleared).toMatch(/^ +an event of proposal 1 stood at microsoft all the same \(.*\); taken away at /m)
  expect(cleared).toMatch(/for which the organizer chose at .* to correct the address$/m)
  expect(cleared).toMatch(/p4 still, since .*, in round 2: an answer by mail$/m)
  expect(cleared).toMatch(/^PEOPLE[^]*p3 .*\(takes part no longer: p4 has this place\)$/m)
  expect(cleared).toMatch(/^ +p4 .*\(takes the place of p3, the same person: address corrected\)$/m)
  expect(cleared).not.toContain('to be taken away')

  await story.cancel().expect(200)
  await story.drainUntil('cancelled')
  expect(await textOf(story)).toMatch(
    /^PROOF +taken away at the provider, at .*: microsoft events\.cancel → 202; this was answered and not read back$/m,
  )
})

test('the requester and the approver are waited for, and while something is missing nobody’s calendar is', async () => {
  const story = await openStory(world, database, { intent: { approval: undefined, timeZone: undefined } })
  expect(await textOf(story)).toMatch(
    new RegExp(`^WAITED FOR +the requester still, since .*: ${missing}$`, 'm'),
  )
  await database.advanceClock(470_000)
  await tellWhatIsMissing(story)
  await story.drainUntil('awaiting_approval')
  expect(await textOf(story)).toMatch(/^WAITED FOR +the approver still, since .*: approval$/m)
  await database.advanceClock(16_000)
  await story.approve()
  await story.drainUntil('confirmed')
  const text = await textOf(story)
  expect(text).toMatch(new RegExp(`^WAITED FOR +the requester 7 min 5\\d s: ${missing}$`, 'm'))
  expect(text).toMatch(/^ +the approver 1\d\.\d s: approval$/m)
  expect(text).toMatch(/^ +(and shorter )?p\d [\d.]+ m?s: calendar read/m)
  expect(text).toMatch(/: incomplete \(waiting for knowledge\) 7 min 5\d s, availability /)
  const [incomplete, availability] = await stagesOf(story)
  expect(incomplete).toMatchObject({ stage: 'incomplete' })
  expect(availability?.durationMs).toBeLessThan(400_000)
})

test('each endpoint has its line and its id, kinds are counted, and a disabled one asks nothing of anybody', async () => {
  const client = await world.createClient()
  const second = {
    url: 'https://receiver.example/hook?key=a-secret-of-theirs',
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  }
  const made = await client.post('/v1/webhook-endpoints', second).expect(201)
  const { id } = z.object({ id: z.string() }).parse(made.body)
  const intent = { approval: undefined, timeZone: undefined }
  const story = await openStory(world, database, { client, intent })
  await client.post(`/v1/webhook-endpoints/${id}/disable`, undefined).expect(200)
  await story.drainUntil('incomplete')
  await tellWhatIsMissing(story)
  await story.drainUntil('awaiting_approval')
  const text = await textOf(story)
  expect(text).toMatch(
    /^CLIENT +webhook endpoint 1 accepted \d+ messages: exception\.opened ×2 \(something is missing\)/m,
  )
  expect(text).toMatch(
    /asked for: tell the client \[something is missing, webhook endpoint 1\] \(told [\d:.]+, 204 in \d+ ms, d1\)/,
  )
  expect(text).toMatch(
    /^ +webhook endpoint 2 \(disabled: nothing is sent to it any more\) accepted 0 messages$/m,
  )
  expect(text).toMatch(/^ +not told there: exception\.opened ×2 .*, for the endpoint is switched off$/m)
  expect(text).toContain(`webhook endpoint 2 ${id} (disabled)`)
  expect(text).toMatch(/^ENDPOINTS +webhook endpoint 1 [\da-f-]{36}$/m)
  expect(text).not.toMatch(/a-secret|receiver\.example/)
  expect(text).not.toMatch(/client’s webhooks must act/)
})
