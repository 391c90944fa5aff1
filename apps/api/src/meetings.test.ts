import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { completeIntent, createTestApi, idOf, proposeTime, type ApiClient } from './api.testing.ts'

const database = useDatabase()
const createClient = () => createTestApi(database).createClient()

const propose = (client: ApiClient, meetingId: string) => proposeTime(database, client, meetingId)

const etagOf = async (client: ApiClient, id: string): Promise<string> => {
  const answer = await client.get(`/v1/meetings/${id}`).expect(200)
  return answer.headers.etag ?? ''
}

/** A window in which a meeting might be moved, and its deadline. */
const completeChange = async (client: ApiClient) => {
  const { window, bookBy } = await completeIntent(client)
  return { window, bookBy }
}

const noChange = () => Promise.resolve({})

describe('the version of a meeting', () => {
  test('stays while nothing changes, and changes with the meeting', async () => {
    const client = await createClient()
    const id = await client.openMeeting()
    const before = await etagOf(client, id)
    expect(before).toMatch(/^"[\w.]+"$/)
    expect(await etagOf(client, id)).toBe(before)
    await client.get(`/v1/meetings/${id}`).set('if-none-match', before).expect(304)
    await client.get(`/v1/meetings/${id}`).set('if-none-match', `"x", W/${before}`).expect(304)
    await client.get(`/v1/meetings/${id}`).set('if-none-match', '*').expect(304)
    await propose(client, id)
    const changed = await client.get(`/v1/meetings/${id}`).set('if-none-match', before).expect(200)
    expect(changed.headers.etag).not.toBe(before)
    await client.get(`/v1/meetings/${id}`).set('if-none-match', 'no tag').expect(200)
  })

  test('guards an approval against what its approver has not seen', async () => {
    const client = await createClient()
    const id = await client.openMeeting()
    const seenEarly = await etagOf(client, id)
    const approval = await propose(client, id)
    const approve = (ifMatch: string) =>
      client.post(`/v1/meetings/${id}/approve`, approval).set('if-match', ifMatch)
    const stale = await approve(seenEarly).expect(412)
    const current = await etagOf(client, id)
    expect(stale.body).toMatchObject({
      type: '/problems/stale-version',
      detail: `Its ETag is ${current} now.`,
    })
    await approve(`W/${current}`).expect(412)
    await approve(current.replaceAll('"', '')).expect(400)
    await approve(`"other", ${current}`).expect(200)
    await approve(current).expect(412)
    await approve('*').expect(409)
  })

  test.each([
    ['cancel', noChange, 200],
    // There is no booked time to move or to keep: the command is reached, and says so.
    ['reschedule', completeChange, 409],
    ['withdraw-change', noChange, 409],
  ])('guards %s as well', async (verb, changeFor, reached) => {
    const client = await createClient()
    const id = await client.openMeeting()
    const seenEarly = await etagOf(client, id)
    const { approver } = await propose(client, id)
    const current = await etagOf(client, id)
    const body = { by: approver, ...(await changeFor(client)) }
    const decide = (ifMatch: string) =>
      client.post(`/v1/meetings/${id}/${verb}`, body).set('if-match', ifMatch)
    const stale = await decide(seenEarly).expect(412)
    expect(stale.body).toMatchObject({
      type: '/problems/stale-version',
      detail: `Its ETag is ${current} now.`,
    })
    expect(await etagOf(client, id)).toBe(current)
    await decide(current).expect(reached)
  })

  test('is not asked for: an approval without If-Match stands by its proposal alone', async () => {
    const client = await createClient()
    const id = await client.openMeeting()
    const approval = await propose(client, id)
    const answer = await client.post(`/v1/meetings/${id}/approve`, approval).expect(200)
    expect(answer.body).toMatchObject({ id, state: { type: 'booking', proposalId: approval.proposalId } })
    const again = await client.post(`/v1/meetings/${id}/approve`, approval).expect(409)
    expect(again.body).toMatchObject({ type: '/problems/not-awaiting-approval', detail: 'It is booking.' })
  })

  test('of a meeting that is not there matches nothing and hides nothing', async () => {
    const client = await createClient()
    const approval = { proposalId: randomUUID(), approver: { address: 'a@example.com' } }
    await client.post(`/v1/meetings/${randomUUID()}/approve`, approval).set('if-match', '"1"').expect(404)
  })
})

test('an approval is refused for what is wrong with it', async () => {
  const client = await createClient()
  const id = await client.openMeeting()
  const outdated = await propose(client, id)
  await database.owner.query('update proposal set round = 0 where proposal_id = $1', [outdated.proposalId])
  const standing = await propose(client, id)
  const approve = (body: object) => client.post(`/v1/meetings/${id}/approve`, body)
  expect((await approve(outdated).expect(409)).body).toMatchObject({
    type: '/problems/proposal-outdated',
    detail: `The current proposal is ${standing.proposalId}.`,
  })
  const stranger = { ...standing, approver: { address: 'stranger@example.com' } }
  expect((await approve(stranger).expect(403)).body).toMatchObject({
    type: '/problems/not-authorised',
    detail: 'The approver whom the meeting names approves it.',
  })
})

describe('who may not do something is told who may, by their part and not by address', () => {
  const by = { address: 'stranger@example.com' }
  const window = { from: '2027-03-29T00:00', to: '2027-04-02T00:00' }
  const person = randomUUID()
  const change = { by, window, bookBy: '2027-03-24T12:00:00Z' }
  const either = 'The organizer of the meeting, or the approver whom it names, may do that.'

  test.each([
    ['cancel', { by }],
    ['reschedule', change],
    ['withdraw-change', { by }],
  ])('of %s', async (verb, body) => {
    const client = await createClient()
    const id = await client.openMeeting()
    const answer = await client.post(`/v1/meetings/${id}/${verb}`, body).expect(403)
    expect(answer.body).toMatchObject({ type: '/problems/not-authorised', detail: either })
  })

  test('where only the organizer may', async () => {
    const client = await createClient()
    const id = await client.openMeeting({ approval: { type: 'organizer' } })
    const [detail] = ['The organizer of the meeting may do that.']
    const answer = await client.post(`/v1/meetings/${id}/cancel`, { by }).expect(403)
    expect(answer.body).toMatchObject({ detail })
    const proposal = await propose(client, id)
    const approval = await client
      .post(`/v1/meetings/${id}/approve`, { ...proposal, approver: by })
      .expect(403)
    expect(approval.body).toMatchObject({ detail: 'The organizer of the meeting approves it.' })
  })

  test('of a meeting that is not complete', async () => {
    const client = await createClient()
    const id = await client.openMeeting({ approval: undefined })
    const answer = await client.post(`/v1/meetings/${id}/cancel`, { by }).expect(403)
    expect(answer.body).toMatchObject({ detail: 'The organizer of the meeting may do that.' })
  })

  test('of naming a calendar, and of what a key may not', async () => {
    const client = await createClient()
    const id = await client.openMeeting()
    const { participants } = (await client.get(`/v1/meetings/${id}`)).body as {
      participants: { id: string }[]
    }
    const path = `/v1/meetings/${id}/participants/${participants[0]?.id ?? ''}/calendar`
    const answer = await client.post(path, { by, calendarConnectionId: person }).expect(403)
    expect(answer.body).toMatchObject({ detail: either })
  })
})

test('a trace tells what was asked and what is to come', async () => {
  const client = await createClient()
  const id = await client.openMeeting()
  const answer = await client.get(`/v1/meetings/${id}/trace`).expect(200)
  expect(answer.body).toMatchObject({ meetingId: id, state: { type: 'gathering' } })
  expect((answer.body as { pending: unknown[] }).pending).toHaveLength(3)
})

test('a meeting that lacks something is there, and is refused by its state and not as unknown', async () => {
  const client = await createClient()
  const id = await client.openMeeting({ timeZone: undefined })
  const by = { address: 'ada@example.com' }
  const approval = { proposalId: randomUUID(), approver: by }
  const approve = await client.post(`/v1/meetings/${id}/approve`, approval).expect(409)
  expect(approve.body).toMatchObject({ type: '/problems/not-awaiting-approval', detail: 'It is incomplete.' })
  const change = { by, ...(await completeChange(client)) }
  for (const [verb, body] of [['reschedule', change] as const, ['withdraw-change', { by }] as const]) {
    const answer = await client.post(`/v1/meetings/${id}/${verb}`, body).expect(409)
    expect(answer.body).toMatchObject({
      type: '/problems/not-booked',
      detail: 'It is incomplete: resolve its exceptions, and it is booked for the first time.',
    })
  }
})

test('a meeting that lacks something shows what, and who is asked', async () => {
  const client = await createClient()
  const id = await client.openMeeting({ timeZone: undefined })
  const answer = await client.get(`/v1/meetings/${id}`).expect(200)
  expect(answer.body).toMatchObject({ state: { type: 'incomplete' }, exceptions: [{ path: ['timeZone'] }] })
})

interface Page {
  readonly meetings: readonly { readonly id: string; readonly state: string }[]
  readonly nextCursor?: string
}

describe('the list of meetings', () => {
  const pageOf = async (client: ApiClient, query: string): Promise<Page> =>
    (await client.get(`/v1/meetings${query}`).expect(200)).body as Page

  const walk = async (client: ApiClient, query: string): Promise<readonly string[]> => {
    const ids: string[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: Page = await pageOf(client, `${query}${cursor && `&cursor=${cursor}`}`)
      ids.push(...page.meetings.map(({ id }) => id))
      cursor = page.nextCursor
    }
    return ids
  }

  test('shows every meeting once, newest first, also those of one instant', async () => {
    const client = await createClient()
    const opened: string[] = []
    for (let n = 0; n < 5; n++) opened.push(await client.openMeeting())
    // Three meetings that differ by less than a millisecond, which a JavaScript date cannot tell apart.
    await database.owner.query(
      `update meeting set created_at = '2026-01-01T00:00:00.000100Z'::timestamptz
           + (array_position($2::uuid[], meeting_id) * interval '1 microsecond')
         where tenant_id = $1 and meeting_id = any($2::uuid[])`,
      [client.tenantId, opened.slice(0, 3)],
    )
    const newestFirst = [...opened].reverse()
    for (const limit of [1, 2, 5, 100]) {
      expect(await walk(client, `?limit=${limit}`)).toEqual(newestFirst)
    }
  })

  test('is not disturbed by meetings opened meanwhile', async () => {
    const client = await createClient()
    const [older, newer] = [await client.openMeeting(), await client.openMeeting()]
    const first = await pageOf(client, '?limit=1')
    await client.openMeeting()
    const second = await pageOf(client, `?limit=1&cursor=${first.nextCursor ?? ''}`)
    expect([...first.meetings, ...second.meetings].map(({ id }) => id)).toEqual([newer, older])
  })

  test('can be narrowed to one state', async () => {
    const client = await createClient()
    const [waiting, gathering] = [await client.openMeeting(), await client.openMeeting()]
    await propose(client, waiting)
    expect((await pageOf(client, '?state=awaiting_approval')).meetings.map(({ id }) => id)).toEqual([waiting])
    expect((await pageOf(client, '?state=gathering')).meetings.map(({ id }) => id)).toEqual([gathering])
    expect((await pageOf(client, '?state=lapsed')).meetings).toEqual([])
  })
})

test('an endpoint is named, and a calendar that is connected again keeps its connection', async () => {
  const client = await createClient()
  const secret = `whsec_${Buffer.from(randomUUID()).toString('base64')}`
  idOf(await client.post('/v1/webhook-endpoints', { url: 'https://client.example/hook', secret }).expect(201))
  const connection = { provider: 'microsoft', address: 'chen@example.com', refreshToken: randomUUID() }
  const id = idOf(await client.post('/v1/calendar-connections', connection).expect(201))
  const stored = async () => {
    const { rows } = await database.owner.query<{ state: string; sealed_credential: Buffer }>(
      'select state, sealed_credential from calendar_connection where connection_id = $1',
      [id],
    )
    return rows[0]
  }
  const before = await stored()
  await database.owner.query("update calendar_connection set state = 'revoked' where connection_id = $1", [
    id,
  ])
  const again = { ...connection, address: 'Chen@Example.com', refreshToken: randomUUID() }
  expect(idOf(await client.post('/v1/calendar-connections', again).expect(200))).toBe(id)
  const after = await stored()
  expect(after?.state).toBe('active')
  expect(after?.sealed_credential).not.toEqual(before?.sealed_credential)
  // Another provider, and another tenant, know nothing of it.
  const elsewhere = { ...connection, provider: 'google' }
  expect(idOf(await client.post('/v1/calendar-connections', elsewhere).expect(201))).not.toBe(id)
  await (await createClient()).post('/v1/calendar-connections', connection).expect(201)
})
