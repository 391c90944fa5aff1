/** Every choice that a repair lists is taken, and every other is refused with those that are. */
import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { choicesOf, repairKinds, RepairChoice } from '@aftercommit/scheduling'
import { useDatabase } from '@aftercommit/testing'
import { completeIntent, createTestApi, proposeTime, type ApiClient } from './api.testing.ts'

const database = useDatabase()
const every = RepairChoice.options.map(({ shape }) => shape.type.value)

interface Broken {
  readonly repairId: string
  readonly address: string
  readonly participantId: string
}

/** A confirmed meeting with this repair open, as a dispatcher would have left it. */
const breakMeeting = async (client: ApiClient, code: string): Promise<Broken> => {
  const intent = await completeIntent(client)
  const outreach = { messagesMax: 3 }
  const id = await client.openMeeting({ ...intent, outreach })
  const approval = await proposeTime(database, client, id)
  await client.post(`/v1/meetings/${id}/approve`, approval).expect(200)
  const repairId = randomUUID()
  const people = await database.owner.query<{ participant_id: string }>(
    'select participant_id from participant where meeting_id = $1 order by position desc',
    [id],
  )
  const participantId = people.rows[0]?.participant_id ?? ''
  await database.owner.query(
    `insert into calendar_event (proposal_id, tenant_id, meeting_id, provider, calendar_address, event_id, ical_uid,
         written_at)
       values ($1, $2, $3, 'google', $4, 'e1', 'u1', app_now())`,
    [approval.proposalId, client.tenantId, id, approval.approver.address],
  )
  await database.owner.query(
    `insert into repair (repair_id, tenant_id, meeting_id, code, owner, facts, opened_at)
       values ($1, $2, $3, $4, 'organizer', jsonb_build_object('participantIds', jsonb_build_array($5::text),
         'start', to_json(app_now() + interval '20 days'), 'end', to_json(app_now() + interval '20 days 1 hour')),
         app_now())`,
    [repairId, client.tenantId, id, code, participantId],
  )
  await database.owner.query(
    `update meeting set state = 'in_repair', standing_proposal_id = ($2::text)::uuid, standing_intent = intent, state_facts =
         jsonb_build_object('type', 'in_repair', 'repairId', $3::text, 'code', $4::text, 'proposalId', $2::text)
       where meeting_id = $1`,
    [id, approval.proposalId, repairId, code],
  )
  return { repairId, address: approval.approver.address, participantId }
}

const choose = (client: ApiClient, { repairId, address, participantId }: Broken, type: string) => {
  const [who, name] = [{ participantId }, `${randomUUID()}@example.com`]
  const more: Readonly<Record<string, object>> = {
    correct_address: { ...who, address: name },
    substitute_person: { ...who, substitute: { displayName: 'Cy', address: name } },
  }
  const choice = { type, ...more[type] }
  return client.post(`/v1/repairs/${repairId}/resolve`, { by: { address }, choice })
}

test.each([...Object.keys(repairKinds), 'a_code_of_tomorrow'])('%s', async (code) => {
  const client = await createTestApi(database).createClient()
  const listed: readonly string[] = choicesOf({ code })
  const broken = await breakMeeting(client, code)
  const shown = await client.get(`/v1/repairs/${broken.repairId}`).expect(200)
  expect((shown.body as { choices: unknown }).choices).toEqual(listed)
  for (const type of every.filter((each) => !listed.includes(each))) {
    const answer = await choose(client, broken, type).expect(400)
    expect(answer.body).toMatchObject({
      errors: [
        {
          in: 'body',
          pointer: '/choice/type',
          rule: `is not a choice of this repair: ${listed.join(', ')}`,
        },
      ],
    })
  }
  for (const type of listed) {
    const answer = await choose(client, await breakMeeting(client, code), type)
    expect([type, answer.status, answer.text]).toEqual([type, 200, expect.any(String)])
  }
})
