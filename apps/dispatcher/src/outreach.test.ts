/** People without a connected calendar: asked by mail, heard on a page, and never asked too much. */
import { useDatabase } from '@aftercommit/testing'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { mortalDb } from './mortal-db.testing.ts'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, type Story } from './story.testing.ts'

const database = useDatabase()
const Raw = z.object({ raw: z.string() })
const world = useSchedulingWorld(database)
const HOUR_MS = 60 * 60_000
/** Past any night, and any spacing of a day. */
const aDay = { ms: 6 * HOUR_MS, max: 8 }
const outreach = { messagesMax: 2, spacingHours: 24 }

const openAsking = (more: Parameters<typeof openStory>[2] = {}): Promise<Story> =>
  openStory(world, database, { outreach, ...more })

/** Fills the reply page: on these days, from and to, by the clock of the zone. */
const state = (story: Story, link: string, date: string, from: string, to: string) =>
  story.client.sendForm(link, {
    answer: 'times',
    do: 'send',
    zone: 'Europe/Berlin',
    'date-0': date,
    'from-0': from,
    'to-0': to,
  })

describe('a person without a connected calendar', () => {
  test('is asked by mail, states windows on the page, and the meeting is booked within them', async () => {
    const story = await openAsking()
    const { chen } = story.cast
    await story.untilMailed(chen.address, 1)
    const [mail] = (await world.control.readMailbox(chen.address)).received
    expect(mail?.messageId).toMatch(/^<[0-9a-f-]{36}@aftercommit\.example>$/)
    // Nothing was said of a disclosure, so the purpose is not told.
    expect(mail?.text).not.toContain('Contract review')
    expect(mail?.text).not.toContain('Ben')
    expect((await story.view()).state.type).toBe('gathering')

    const link = await story.replyLink(chen.address)
    await story.client.page(link).expect(200)
    await state(story, link, '2027-03-30', '16:00', '17:00').expect(200)
    const proposed = await story.drainUntil('awaiting_approval', aDay)
    expect(proposed.proposal?.start).toBe('2027-03-30T14:00:00.000Z')
    await story.approve()
    await story.drainUntil('confirmed')
    const [event] = await story.events()
    expect(event?.attendees.map(({ address }) => address)).toContain(chen.address)
    expect((await world.control.readMailbox(chen.address)).received).toHaveLength(1)
  })

  test('is reminded as often as allowed and not more; then somebody is told that nobody answers', async () => {
    const story = await openAsking()
    const { chen } = story.cast
    const repaired = await story.drainUntil('in_repair', { ms: 6 * HOUR_MS, max: 20 })
    expect(repaired.repairs).toMatchObject([
      { code: 'availability_unknown', facts: { reasons: [{ code: 'no_reply' }] } },
    ])
    const { received } = await world.control.readMailbox(chen.address)
    expect(received).toHaveLength(2)
    const [first, second] = received
    expect(new Set(received.map(({ messageId }) => messageId)).size).toBe(2)
    expect(first?.subject).not.toBe(second?.subject)
  })

  test('whose address is refused is named by a repair; with a corrected address the meeting is booked', async () => {
    const story = await openAsking()
    const { chen } = story.cast
    await world.control.putMailboxSettings(chen.address, { accepts: 'unknown_user' })
    const repaired = await story.drainUntil('in_repair', aDay)
    const chenId = await story.participantId(chen)
    expect(repaired.repairs).toMatchObject([
      { code: 'address_refused', owner: 'organizer', facts: { participantIds: [chenId] } },
    ])
    const address = `wenyuan-${chen.address}`
    const resolved = await story.resolve({ type: 'correct_address', participantId: chenId, address })
    expect(resolved.status).toBe(200)
    await story.untilMailed(address, 1)
    await state(story, await story.replyLink(address), '2027-03-30', '16:00', '17:00').expect(200)
    await story.drainUntil('awaiting_approval', aDay)
    expect((await story.view()).revision).toBe(2)
    await story.approve()
    await story.drainUntil('confirmed')
    const [event] = await story.events()
    const guests = event?.attendees.map((attendee) => attendee.address)
    expect(guests).toContain(address)
    expect(guests).not.toContain(chen.address)
  })

  test('who wants no more mail gets none, from no meeting of this client', async () => {
    const story = await openAsking()
    const { chen } = story.cast
    await story.untilMailed(chen.address, 1)
    const link = await story.replyLink(chen.address)
    const optOut = (await world.control.readMailLinks(chen.address)).find(({ url }) =>
      url.includes('/opt-out/'),
    )
    await story.client.sendForm(optOut?.url ?? link, {}).expect(200)
    expect((await story.view()).state.type).toBe('in_repair')
    await story.drainUntil('in_repair', { ms: 24 * HOUR_MS, max: 3 })
    expect((await world.control.readMailbox(chen.address)).received).toHaveLength(1)
  })

  test('cannot answer for another person, and not by a changed link', async () => {
    const story = await openAsking()
    const { chen } = story.cast
    await story.untilMailed(chen.address, 1)
    const link = await story.replyLink(chen.address)
    const changed = `${link.slice(0, -2)}AA`
    expect((await story.client.page(changed)).status).toBeGreaterThanOrEqual(400)
    const answer = await state(story, changed, '2027-03-30', '16:00', '17:00')
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect((await story.view()).state.type).toBe('gathering')
  })

  test('who asked for nothing else than a scanner opening the link has answered nothing', async () => {
    const story = await openAsking()
    const { chen } = story.cast
    await story.untilMailed(chen.address, 1)
    for (const { url } of await world.control.readMailLinks(chen.address)) await story.client.page(url)
    expect((await story.view()).state.type).toBe('gathering')
  })

  test('whose answer to the sending is lost is not written to twice for it', async () => {
    const story = await openAsking()
    const { chen } = story.cast
    await world.control.addFault({
      id: `lost mail ${chen.address}`,
      provider: 'mail',
      operation: 'smtp.send',
      address: chen.address,
      act: { type: 'drop', when: 'after_effect' },
    })
    await story.untilMailed(chen.address, 1)
    await story.dispatcher.drain()
    const { received } = await world.control.readMailbox(chen.address)
    expect(received).toMatchObject([{ duplicates: 0 }])
    await story.untilMailed(chen.address, 2)
    expect((await story.rows('scheduling.ask_participant')).map(({ state: row }) => row)).toContain('dead')
  })

  test('who cannot take part is a repair before anything is booked, and a substitute takes the place', async () => {
    const story = await openAsking()
    const { chen } = story.cast
    await story.untilMailed(chen.address, 1)
    await story.client
      .sendForm(await story.replyLink(chen.address), { answer: 'not_taking_part' })
      .expect(200)
    const view = await story.view()
    expect(view.repairs).toMatchObject([{ code: 'participant_declined' }])
    const participantId = await story.participantId(chen)
    const dana = await story.client.connectPerson({
      address: `dana-${chen.address}`,
      provider: chen.provider,
      timeZone: 'Europe/Berlin',
    })
    const substitute = {
      displayName: 'Dana',
      address: dana.address,
      calendarConnectionId: dana.connectionId,
    }
    expect((await story.resolve({ type: 'substitute_person', participantId, substitute })).status).toBe(200)
    await story.drainUntil('awaiting_approval', aDay)
    await story.approve()
    await story.drainUntil('confirmed')
    const [event] = await story.events()
    expect(event?.attendees.map(({ address }) => address)).toContain(dana.address)
  })
})

test('a connected calendar that does not tell is asked in words, once', async () => {
  const story = await openStory(world, database, {
    chen: { readable: 'no_access' },
    intent: { outreach },
  })
  const { chen } = story.cast
  await story.untilMailed(chen.address, 1)
  await state(story, await story.replyLink(chen.address), '2027-03-30', '16:00', '17:00').expect(200)
  const proposed = await story.drainUntil('awaiting_approval', aDay)
  expect(proposed.proposal?.start).toBe('2027-03-30T14:00:00.000Z')
  await story.approve()
  await story.drainUntil('confirmed')
  expect((await world.control.readMailbox(chen.address)).received).toHaveLength(1)
})

test('a search that begins anew while a message is on its way writes the next one in its time', async () => {
  const quietHours = { startsAt: '00:00', endsAt: '00:00' }
  const story = await openAsking({ outreach: { ...outreach, quietHours } })
  const { ben, chen } = story.cast
  const mailsTo = async (address: string) => (await world.control.readMailbox(address)).received
  // Before anybody reads it: the reading may come to its end before the message does, or not.
  const { connectionId: _, ...gone } = ben
  await world.control.putPeople([{ ...gone, refreshToken: null }])
  const mortal = mortalDb(database.dispatcher, 'scheduling.ask_participant', 'performed')
  const doomed = world.createDispatcher({ db: mortal.db, leaseMs: 60_000 })
  await expect(doomed.drain()).rejects.toThrow('dead')
  expect(mortal.died()).toBe(true)
  while ((await mailsTo(chen.address)).length === 0) await new Promise((resolve) => setImmediate(resolve))
  // Only the message stays with the one that died.
  await database.owner.query(
    `update outbox set lease_until = app_now() - interval '1 s'
       where state = 'leased' and action <> 'scheduling.ask_participant' and aggregate_id = $1`,
    [story.meetingId],
  )
  await database.advanceClock(1_000)
  await story.untilMailed(ben.address, 1, { ms: 5_000, max: 10 })
  const [mail] = await mailsTo(ben.address)
  const bounce = { inReplyTo: mail?.messageId ?? '', to: world.sink, kind: 'bounce' } as const
  const { raw } = Raw.parse(await world.control.replyToMail(ben.address, bounce))
  await story.client.postMail(raw).expect(200)
  const participantId = await story.participantId(ben)
  const choice = { type: 'correct_address', participantId, address: 'ben@elsewhere.example' }
  expect((await story.resolve(choice)).status).toBe(200)
  await story.dispatcher.drain()
  expect(await mailsTo(chen.address)).toHaveLength(1)
  await database.advanceClock(2 * HOUR_MS)
  await story.dispatcher.drain()
  expect(await mailsTo(chen.address)).toHaveLength(1)
  await database.advanceClock(24 * HOUR_MS)
  await story.dispatcher.drain()
  expect((await mailsTo(chen.address)).at(-1)?.subject).toContain('Reminder')
})
