/** A link in a mail speaks for one person in one revision, while they are waited for. Afterwards it changes nothing, and says why. */
import { useDatabase } from '@aftercommit/testing'
import { expect, test } from '@jest/globals'
import { useSchedulingWorld } from './scheduling-world.testing.ts'
import { openStory, type Story } from './story.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const HOUR_MS = 60 * 60_000
/** Past any night, and any spacing of a day. */
const aDay = { ms: 6 * HOUR_MS, max: 8 }
const outreach = { messagesMax: 2, spacingHours: 24 }

const asked = async (): Promise<{ readonly story: Story; readonly link: string }> => {
  const story = await openStory(world, database, { outreach })
  const { address } = story.cast.chen
  for (let step = 0; step < 20; step++) {
    await story.dispatcher.drain()
    if ((await world.control.readMailbox(address)).received.length > 0) break
    await database.advanceClock(3 * HOUR_MS)
  }
  return { story, link: await story.replyLink(address) }
}

const tuesday = { zone: 'Europe/Berlin', 'date-0': '2027-03-30', 'from-0': '16:00', 'to-0': '17:00' }
const answer = (story: Story, link: string) =>
  story.client.sendForm(link, { answer: 'times', do: 'send', ...tuesday })

/** Everything that an answer could change. */
const kept = async ({ meetingId }: Story): Promise<unknown> => {
  const { rows } = await database.owner.query<{ kept: unknown }>(
    `select json_build_object(
       'meeting', (select to_jsonb(m) from meeting m where meeting_id = $1),
       'people', (select json_agg(to_jsonb(p) order by participant_id) from participant p where meeting_id = $1),
       'evidence', (select count(*) from evidence where meeting_id = $1),
       'rows', (select count(*) from outbox where aggregate_id = $1),
       'repairs', (select json_agg(to_jsonb(r) order by repair_id) from repair r where meeting_id = $1)) as kept`,
    [meetingId],
  )
  return rows[0]?.kept
}

/** Neither opened nor used does the link change anything; the page says this. */
const saysOnly = async (story: Story, link: string, status: number, words: string): Promise<void> => {
  const before = await kept(story)
  expect((await story.client.page(link).expect(status)).text).toContain(words)
  expect((await answer(story, link).expect(status)).text).toContain(words)
  await story.client.sendForm(link, { answer: 'not_taking_part' }).expect(status)
  expect(await kept(story)).toEqual(before)
}

const substituted = async (story: Story) => {
  const { chen } = story.cast
  const participantId = await story.participantId(chen)
  const dana = await story.client.connectPerson({
    address: `dana-${chen.address}`,
    provider: chen.provider,
    timeZone: 'Europe/Berlin',
  })
  const substitute = { displayName: 'Dana', address: dana.address, calendarConnectionId: dana.connectionId }
  const { status } = await story.resolve({ type: 'substitute_person', participantId, substitute })
  expect(status).toBe(200)
  return { replaced: participantId, dana }
}

test('the link of a person who was replaced says that they are not needed any more', async () => {
  const { story, link } = await asked()
  await story.client.sendForm(link, { answer: 'not_taking_part' }).expect(200)
  await substituted(story)
  await saysOnly(story, link, 410, 'not needed')
})

test('a substitute is known by their own calendar alone, and by nothing that the replaced person said', async () => {
  const { story, link } = await asked()
  // Chen's one hour would leave a single time; Dana's calendar is empty.
  await answer(story, link).expect(200)
  await story.drainUntil('awaiting_approval', aDay)
  await story.client.sendForm(link, { answer: 'not_taking_part' }).expect(200)
  const { replaced, dana } = await substituted(story)
  const proposed = await story.drainUntil('awaiting_approval', aDay)
  expect(proposed.proposal?.start).toBe('2027-03-29T13:00:00.000Z')

  const { rows } = await database.owner.query<{ source: string }>(
    'select source from evidence where participant_id = $1',
    [await story.participantId(dana)],
  )
  expect(new Set(rows.map(({ source }) => source))).toEqual(new Set([dana.provider]))
  const used = await database.owner.query(
    `select 1 from proposal p join evidence e on e.evidence_id = any (p.evidence_ids)
       where p.proposal_id = $1 and e.participant_id = $2`,
    [proposed.proposal?.id, replaced],
  )
  expect(used.rowCount).toBe(0)
})

test('a link for an older window says that another one came after it', async () => {
  const { story, link } = await asked()
  await story.client.sendForm(link, { answer: 'not_taking_part' }).expect(200)
  const window = { from: '2027-04-05T00:00', to: '2027-04-09T00:00' }
  expect((await story.resolve({ type: 'search_again', window })).status).toBe(200)
  await saysOnly(story, link, 410, 'newer')
})

test('a link that was answered may be used again until a time is approved, and then says so', async () => {
  const { story, link } = await asked()
  await answer(story, link).expect(200)
  await answer(story, link).expect(200)
  await story.drainUntil('awaiting_approval', aDay)
  await story.approve()
  await saysOnly(story, link, 409, 'time')
  await story.drainUntil('confirmed')
  await saysOnly(story, link, 409, 'time')
})

test('the link of a meeting that was cancelled says that it was', async () => {
  const { story, link } = await asked()
  await story.cancel().expect(200)
  await saysOnly(story, link, 410, 'cancelled')
})
