/** Answers by mail: read, asked back about, and never acted upon before they are confirmed. */
import { useDatabase } from '@aftercommit/testing'
import { afterEach, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { mortalDb } from './mortal-db.testing.ts'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, throttled, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
afterEach(() => world.control.clearFaults())
const HOUR_MS = 60 * 60_000
const aDay = { ms: 6 * HOUR_MS, max: 8 }

/** A meeting whose third person was asked by mail. */
const asked = async (): Promise<Story> => {
  const story = await openStory(world, database, { outreach: { messagesMax: 2 } })
  await story.untilMailed(story.cast.chen.address, 1)
  return story
}

const mailsOf = async (story: Story) => (await world.control.readMailbox(story.cast.chen.address)).received

const Raw = z.object({ raw: z.string() })

/** The mail that a person's program, or a server, would send back, given to the API. */
const comeBack = async (
  story: Story,
  reply: {
    readonly kind?: 'reply' | 'out_of_office' | 'bounce'
    readonly text?: string
    readonly from?: string
    readonly status?: string
  },
) => {
  const { chen } = story.cast
  const [first] = await mailsOf(story)
  const { raw } = Raw.parse(
    await world.control.replyToMail(chen.address, {
      inReplyTo: first?.messageId ?? '',
      to: world.sink,
      ...reply,
    }),
  )
  return { raw, answer: await story.client.postMail(raw).expect(200) }
}

describe('a mail that answers ours', () => {
  test('is read, confirmed on the page, and only then counts', async () => {
    const story = await asked()
    const { answer } = await comeBack(story, { text: 'On 30 March from 16:00 to 17:00 I can.' })
    expect(answer.body).toMatchObject({ type: 'read', isClear: true })
    await story.untilMailed(story.cast.chen.address, 2)
    expect((await story.view()).state.type).toBe('gathering')
    const confirm = (await mailsOf(story)).at(-1)
    expect(confirm?.subject).toContain('confirm')
    const link = await story.replyLink(story.cast.chen.address)
    const page = await story.client.page(link).expect(200)
    expect(page.text).toContain('2027-03-30')
    await story.client
      .sendForm(link, {
        answer: 'times',
        do: 'send',
        zone: 'Europe/Berlin',
        'date-0': '2027-03-30',
        'from-0': '16:00',
        'to-0': '17:00',
      })
      .expect(200)
    const proposed = await story.drainUntil('awaiting_approval', aDay)
    expect(proposed.proposal?.start).toBe('2027-03-30T14:00:00.000Z')
  })

  test('that cannot be understood is asked about, once for each mail, however often it is delivered', async () => {
    const story = await asked()
    const { raw, answer } = await comeBack(story, { text: 'Some time next week, I suppose.' })
    expect(answer.body).toMatchObject({ type: 'read', isClear: false })
    expect((await story.client.postMail(raw).expect(200)).body).toEqual({
      type: 'ignored',
      reason: 'read_before',
    })
    await story.untilMailed(story.cast.chen.address, 2)
    expect(await story.rows('scheduling.send_notice')).toHaveLength(1)
  })

  test('of a machine is no answer', async () => {
    const story = await asked()
    const { answer } = await comeBack(story, { kind: 'out_of_office', text: 'I am away until Monday.' })
    expect(answer.body).toEqual({ type: 'ignored', reason: 'no_answer' })
  })

  test('of somebody else is not this person', async () => {
    const story = await asked()
    const { answer } = await comeBack(story, { text: '30 March 16:00-17:00', from: 'mallory@example.com' })
    expect(answer.body).toEqual({ type: 'ignored', reason: 'other_sender' })
  })

  test('that says the address does not exist is a repair which names the person', async () => {
    const story = await asked()
    const { answer } = await comeBack(story, { kind: 'bounce' })
    expect(answer.body).toMatchObject({ type: 'bounced' })
    expect((await story.view()).repairs).toMatchObject([
      { code: 'address_refused', facts: { participantIds: [await story.participantId(story.cast.chen)] } },
    ])
  })

  test('that says it is still being tried changes nothing', async () => {
    const story = await asked()
    await comeBack(story, { kind: 'bounce', status: '4.4.1' })
    expect((await story.view()).state.type).toBe('gathering')
  })
})

// Long enough for a busy machine to have written its mail; it is the clock of the database that is moved past it.
const LEASE_MS = 30_000
const atAnyHour = { startsAt: '00:00', endsAt: '00:00' }

/** The same, but whoever wrote to the third person died before anybody knew that it had. */
const askedByTheDead = async (): Promise<Story> => {
  const story = await openStory(world, database, { outreach: { messagesMax: 2, quietHours: atAnyHour } })
  const mortal = mortalDb(database.dispatcher, 'scheduling.ask_participant', 'performed')
  const doomed = world.createDispatcher({ db: mortal.db, leaseMs: LEASE_MS })
  await expect(doomed.drain()).rejects.toThrow('dead')
  // What it had begun is on its way still.
  while ((await mailsOf(story)).length === 0) await new Promise((resolve) => setImmediate(resolve))
  return story
}

describe('while the dispatcher that wrote to somebody is dead', () => {
  test('their answer by mail is read all the same', async () => {
    const story = await askedByTheDead()
    const { raw, answer } = await comeBack(story, { text: 'On 30 March from 16:00 to 17:00 I can.' })
    expect(answer.body).toMatchObject({ type: 'read', isClear: true })
    expect((await story.client.postMail(raw).expect(200)).body).toMatchObject({ reason: 'read_before' })
    await database.advanceClock(LEASE_MS + 500)
    await story.dispatcher.drain()
    expect((await mailsOf(story)).at(-1)?.subject).toContain('confirm')
  })

  test('the answer to a message that comes back is a repair, and no reminder follows', async () => {
    const story = await askedByTheDead()
    expect((await comeBack(story, { kind: 'bounce' })).answer.body).toMatchObject({ type: 'bounced' })
    expect((await story.view()).repairs).toMatchObject([{ code: 'address_refused' }])
    for (let day = 0; day < 3; day++) {
      await database.advanceClock(24 * HOUR_MS)
      await story.dispatcher.drain()
    }
    expect(await mailsOf(story)).toHaveLength(1)
  })

  test('a meeting that is cancelled lets them know as soon as it is known that they were asked', async () => {
    const story = await askedByTheDead()
    expect((await story.cancel().expect(200)).body).toMatchObject({ state: { type: 'cancelled' } })
    await database.advanceClock(LEASE_MS + 500)
    await story.dispatcher.drain()
    expect((await mailsOf(story)).map(({ subject }) => subject)).toEqual([
      expect.stringContaining('asks for'),
      expect.stringContaining('No answer needed'),
    ])
  })
})

test('a message that comes back late takes nothing from what its person has told meanwhile', async () => {
  const story = await openStory(world, database, { outreach: { messagesMax: 2, quietHours: atAnyHour } })
  // So that the meeting still gathers when the bounce comes.
  await world.control.addFault(throttled(story.cast.ben, 'freeBusy', 60))
  await story.untilMailed(story.cast.chen.address, 1)
  const times = { 'date-0': '2027-03-30', 'from-0': '16:00', 'to-0': '17:00' }
  const link = await story.replyLink(story.cast.chen.address)
  await story.client
    .sendForm(link, { answer: 'times', do: 'send', zone: 'Europe/Berlin', ...times })
    .expect(200)
  expect((await comeBack(story, { kind: 'bounce' })).answer.body).toMatchObject({ type: 'bounced' })
  expect((await story.view()).state.type).toBe('gathering')
  await story.drainUntil('awaiting_approval', { ms: 60_000, max: 5 })
})

test('a mail that answers nothing of ours is told from one that is no mail', async () => {
  const story = await asked()
  const stray = 'From: a@example.com\r\nTo: b@example.com\r\nSubject: hello\r\n\r\nHello.'
  expect((await story.client.postMail(stray).expect(200)).body).toEqual({
    type: 'ignored',
    reason: 'unknown_message',
  })
  await story.client.postMail('').expect(400)
})

test('the words of a mail are kept nowhere', async () => {
  const story = await asked()
  await comeBack(story, { text: 'My aunt Euphemia is ill; 30 March 16:00-17:00 then.' })
  await story.untilMailed(story.cast.chen.address, 2)
  const { rows } = await database.owner.query<{ kept: string }>(
    `select to_jsonb(d)::text as kept from reply_draft d
     union all select payload::text from outbox
     union all select calls::text from outbox_attempt`,
  )
  expect(rows.map(({ kept }) => kept).join()).not.toContain('Euphemia')
})
