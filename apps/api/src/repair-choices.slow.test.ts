/** Every choice that a repair lists is taken, and every other is refused with those that are. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { repairKinds, RepairChoice } from '@aftercommit/scheduling'
import { useDatabase } from '@aftercommit/testing'
import { z } from 'zod'
import { completeIntent, createTestApi, proposeTime, type ApiClient } from './api.testing.ts'

const database = useDatabase()
const every = RepairChoice.options.map(({ shape }) => shape.type.value)
type ChoiceType = (typeof every)[number]

/** How far a meeting had come when its repair was opened. */
interface Ground {
  readonly outreach: boolean
  /** Which proposals the meeting has: the one that the repair is about, and the one that is confirmed. */
  readonly about: 'approved' | 'none'
  readonly standing: 'this' | 'another' | 'none'
  /** Of which of them an event is known. */
  readonly written: 'this' | 'another' | 'none'
  /** Choices that such a meeting does not allow, whatever the code. */
  readonly not: readonly ChoiceType[]
}

const aboutEvent = ['look_again', 'restore_event', 'accept_change'] as const
const confirmed = { outreach: true, about: 'approved', standing: 'this', written: 'this', not: [] } as const
const grounds: Readonly<Record<string, Ground>> = {
  'of a confirmed meeting': confirmed,
  'of a meeting that may ask nobody': { ...confirmed, outreach: false, not: ['ask_in_words'] },
  'of an event that was not confirmed yet': { ...confirmed, standing: 'none', not: ['keep_as_is'] },
  'of a meeting whose write was given up': {
    ...confirmed,
    standing: 'none',
    written: 'none',
    not: ['keep_as_is', ...aboutEvent],
  },
  'of a change that was not made': {
    ...confirmed,
    standing: 'another',
    written: 'another',
    not: ['keep_as_is', 'look_again'],
  },
  'before any approval': {
    ...confirmed,
    about: 'none',
    standing: 'none',
    written: 'none',
    not: ['keep_one', 'keep_as_is', ...aboutEvent],
  },
  'while a change is sought': {
    ...confirmed,
    about: 'none',
    standing: 'another',
    written: 'another',
    not: ['keep_one', 'keep_as_is', ...aboutEvent],
  },
}

interface Stage {
  readonly ground: Ground
  readonly meetingId: string
  readonly proposalId: string
  readonly standing: string | null
  readonly address: string
}

/** An approved meeting that has come as far as the ground says. */
const openStage = async (client: ApiClient, ground: Ground): Promise<Stage> => {
  const intent = await completeIntent(client)
  const meetingId = await client.openMeeting({ ...intent, ...(ground.outreach && { outreach: {} }) })
  const approval = await proposeTime(database, client, meetingId)
  await client.post(`/v1/meetings/${meetingId}/approve`, approval).expect(200)
  const { proposalId, approver } = approval
  const ids = { this: proposalId, another: await standElsewhere(client, meetingId, proposalId), none: null }
  await database.owner.query(
    `insert into calendar_event (proposal_id, tenant_id, meeting_id, provider, calendar_address, event_id, ical_uid,
         written_at)
       select $1::uuid, $2::uuid, $3::uuid, 'google', $4, 'e1', 'u1', app_now() where $1::uuid is not null`,
    [ids[ground.written], client.tenantId, meetingId, approver.address],
  )
  return { ground, meetingId, proposalId, standing: ids[ground.standing], address: approver.address }
}

interface Broken extends Stage {
  readonly repairId: string
  readonly participantId: string
}

/** The meeting with this repair open, as a dispatcher would have left it, whatever was chosen about another one. */
const breakMeeting = async (client: ApiClient, code: string, stage: Stage): Promise<Broken> => {
  const { ground, meetingId, proposalId, standing } = stage
  const people = await database.owner.query<{ participant_id: string }>(
    'select participant_id from participant where meeting_id = $1 and removed_at is null order by position desc',
    [meetingId],
  )
  const participantId = people.rows[0]?.participant_id ?? ''
  const repairId = randomUUID()
  await database.owner.query(
    `insert into repair (repair_id, tenant_id, meeting_id, code, owner, facts, opened_at)
       values ($1, $2, $3, $4, 'organizer', jsonb_build_object('participantIds', jsonb_build_array($5::text),
         'start', to_char((app_now() + interval '20 days') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
         'end', to_char((app_now() + interval '20 days 1 hour') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
         app_now())`,
    [repairId, client.tenantId, meetingId, code, participantId],
  )
  const about = ground.about === 'none' ? {} : { proposalId }
  await database.owner.query(
    `update meeting set state = 'in_repair', state_facts = $2, standing_proposal_id = $3,
         standing_intent = case when $3::uuid is null then null else intent end
       where meeting_id = $1`,
    [meetingId, { type: 'in_repair', repairId, code, ...about }, standing],
  )
  return { ...stage, repairId, participantId }
}

/** Another proposal of the meeting, with its approval: the one that was booked before its change was sought. */
const standElsewhere = async (client: ApiClient, meetingId: string, proposalId: string): Promise<string> => {
  const id = randomUUID()
  await database.owner.query(
    `insert into proposal (proposal_id, tenant_id, meeting_id, meeting_revision, round, start_at, end_at, evidence_ids,
         grounds)
       select $1, $2, meeting_id, meeting_revision, 0, start_at, end_at, evidence_ids, grounds from proposal
         where meeting_id = $3 and proposal_id = $4`,
    [id, client.tenantId, meetingId, proposalId],
  )
  await database.owner.query(
    `insert into approval (proposal_id, tenant_id, meeting_id, meeting_revision, approver, authority, draft, approved_at)
       select $1, tenant_id, meeting_id, meeting_revision, approver, authority, draft, approved_at from approval
         where proposal_id = $2`,
    [id, proposalId],
  )
  return id
}

const choose = async (client: ApiClient, { repairId, address, participantId }: Broken, type: string) => {
  const name = `${randomUUID()}@example.com`
  const identity = async () => ({ address: name, calendarConnectionId: await client.connect(name) })
  const more: Readonly<Record<string, () => Promise<object>>> = {
    correct_address: async () => ({ participantId, ...(await identity()) }),
    substitute_person: async () => ({
      participantId,
      substitute: { displayName: 'Cy', ...(await identity()) },
    }),
  }
  const choice = { type, ...(await more[type]?.()) }
  return client.post(`/v1/repairs/${repairId}/resolve`, { by: { address }, choice })
}

const Choices = z.object({ choices: z.array(z.string()) })
const Repairs = z.object({ repairs: z.array(z.object({ id: z.string(), ...Choices.shape })) })
const Steps = z.object({ next: z.array(Choices.partial()) })

/** What each place that shows a repair says may be chosen. */
const shownChoices = async (client: ApiClient, { meetingId, repairId }: Broken) => {
  const [one, list, view, trace] = [
    await client.get(`/v1/repairs/${repairId}`).expect(200),
    await client.get('/v1/repairs').expect(200),
    await client.get(`/v1/meetings/${meetingId}`).expect(200),
    await client.get(`/v1/meetings/${meetingId}/trace`).expect(200),
  ]
  const ours = (body: unknown) => Repairs.parse(body).repairs.find(({ id }) => id === repairId)?.choices
  const told = Steps.parse(trace.body).next.flatMap(({ choices }) => (choices ? [choices] : []))
  return [Choices.parse(one.body).choices, ours(list.body), ours(view.body), ...told]
}

/** Of whatever else ended for good, here by a code that no release has. */
const otherChoices = ['look_again', 'search_again', 'correct_address', 'substitute_person'] as const

describe.each(Object.entries(grounds))('a repair %s', (_, ground) => {
  test.each([...Object.keys(repairKinds), 'a_code_of_tomorrow'])('%s', async (code) => {
    const client = await createTestApi(database).createClient()
    const able: readonly ChoiceType[] = [...(repairKinds[code]?.choices ?? otherChoices), 'cancel_meeting']
    const listed = able.filter((type) => !ground.not.includes(type))
    const stage = await openStage(client, ground)
    const broken = await breakMeeting(client, code, stage)
    expect(await shownChoices(client, broken)).toEqual([listed, listed, listed, listed])
    for (const type of every.filter((each) => !listed.includes(each))) {
      const answer = await choose(client, broken, type)
      const rule = `is not a choice of this repair: ${listed.join(', ')}`
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({ errors: [{ in: 'body', pointer: '/choice/type', rule }] })
    }
    // Nobody is left with nothing but giving up.
    expect(listed.length).toBeGreaterThan(1)
    let current = broken
    for (const type of listed) {
      const answer = await choose(client, current, type)
      expect([type, answer.status, answer.text]).toEqual([type, 200, expect.any(String)])
      current = await breakMeeting(client, code, stage)
    }
  })
})

test('a new time for which somebody was promised elsewhere is refused as often as it is chosen, and leaves nothing', async () => {
  const client = await createTestApi(database).createClient()
  const broken = await breakMeeting(client, 'event_moved', await openStage(client, confirmed))
  const other = await openStage(client, confirmed)
  await database.owner.query(
    `insert into hold (tenant_id, meeting_id, proposal_id, person, start_at, end_at)
       select $1, $2, $3, $4, (facts->>'start')::timestamptz, (facts->>'end')::timestamptz from repair
         where repair_id = $5`,
    [client.tenantId, other.meetingId, other.proposalId, broken.address, broken.repairId],
  )
  const left = async () => {
    const { rows } = await database.owner.query('select proposal_id from proposal where meeting_id = $1', [
      broken.meetingId,
    ])
    return rows.length
  }
  const before = await left()
  for (let time = 0; time < 2; time += 1) {
    const answer = await choose(client, broken, 'accept_change')
    const rule = 'somebody required has been promised to another meeting at the new time'
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ errors: [{ pointer: '/choice/type', rule }] })
  }
  expect(await left()).toBe(before)
  expect((await choose(client, broken, 'search_again')).status).toBe(200)
})
