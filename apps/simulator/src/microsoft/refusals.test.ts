import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { graphEvent, idOf, mary, requestToken, startTestWorld } from '../world.testing.ts'
import type { Reply, TestWorld } from '../world.testing.ts'

const refused = (reply: Reply, status: number, code: string, message: string) => {
  expect(reply).toMatchObject({ status, body: { error: { code, message, innerError: expect.anything() } } })
}

describe('a refusal of Microsoft Graph', () => {
  let world: TestWorld
  beforeAll(async () => (world = await startTestWorld()))
  afterAll(() => world.stop())

  const create = (more?: Record<string, unknown>, headers?: Record<string, string>) =>
    world.graph('POST', '/me/events', graphEvent(more), headers)

  it('says of a stale change key what Exchange says, and changes nothing', async () => {
    const path = `/me/events/${idOf(await create())}`
    const stale = { 'if-match': 'W/"old"' }
    const message =
      'The send or update operation could not be performed because the change key passed in the request does not match the current change key for the item.'
    refused(
      await world.graph('PATCH', path, { subject: 'x' }, stale),
      412,
      'ErrorIrresolvableConflict',
      message,
    )
    refused(await world.graph('DELETE', path, undefined, stale), 412, 'ErrorIrresolvableConflict', message)
    expect((await world.graph('GET', path)).body).toMatchObject({ subject: 'Review' })
  })

  it('says ErrorInvalidRecipients of a change that was made all the same', async () => {
    const path = `/me/events/${idOf(await create())}`
    const attendees = [{ type: 'required', emailAddress: { address: 'gone@x.invalid' } }]
    refused(
      await world.graph('PATCH', path, { attendees }),
      400,
      'ErrorInvalidRecipients',
      "At least one recipient isn't valid.",
    )
    expect((await world.graph('GET', path)).body).toMatchObject({
      attendees: [{ emailAddress: { address: 'gone@x.invalid' } }],
    })
  })

  it('names the event that used up a transactionId, in the form of id that was asked for', async () => {
    const transactionId = randomUUID()
    const first = idOf(await create({ transactionId }))
    const second = await create({ transactionId, subject: 'Another' })
    refused(
      second,
      400,
      'ErrorDuplicateTransactionId',
      "Your request can't be completed. The TransactionId specified in the request has already been used to create a different event.",
    )
    expect(second.body).toMatchObject({ error: { '@event.existingEventId': first } })
  })

  it('does not let a transactionId be changed afterwards', async () => {
    const path = `/me/events/${idOf(await create({ transactionId: randomUUID() }))}`
    const reply = await world.graph('PATCH', path, { transactionId: randomUUID() })
    expect(reply.status).toBe(400)
  })

  it('misses a just-created event for as many reads as it was told to, and keeps its transactionId', async () => {
    const transactionId = randomUUID()
    await world.control.setConsistency({ provider: 'microsoft', readsMissFor: 1 })
    const id = idOf(await create({ transactionId }))
    await world.control.setConsistency({ provider: 'microsoft', readsMissFor: 0 })
    expect(idOf(await create({ transactionId }))).toBe(id)
    refused(
      await world.graph('GET', `/me/events/${id}`),
      404,
      'ErrorItemNotFound',
      'The specified object was not found in the store.',
    )
    expect((await world.graph('GET', `/me/events/${id}`)).status).toBe(200)
  })

  it('is of the mailbox where the person has none', async () => {
    const headers = await headersOf({ address: 'paper@microsoft.example', readable: 'no_mailbox' })
    refused(
      await world.graph('GET', '/me/events', undefined, headers),
      404,
      'MailboxNotEnabledForRESTAPI',
      'REST API is not yet supported for this mailbox.',
    )
  })

  it('is of access when the person consented to free/busy alone, which still answers', async () => {
    const address = 'careful@microsoft.example'
    const headers = await headersOf({ address, granted: 'free_busy' })
    refused(
      await create({}, headers),
      403,
      'ErrorAccessDenied',
      'Access is denied. Check credentials and try again.',
    )
    expect((await world.control.readEvents(address)).length).toBe(0)
    const at = (dateTime: string) => ({ dateTime, timeZone: 'UTC' })
    const query = { startTime: at('2026-03-24T09:00:00'), endTime: at('2026-03-24T12:00:00') }
    const schedules = await world.graph(
      'POST',
      '/me/calendar/getSchedule',
      { ...query, schedules: [mary] },
      headers,
    )
    expect(schedules.status).toBe(200)
  })

  type PersonInput = Parameters<TestWorld['control']['putPeople']>[0][number]
  const headersOf = async (person: Partial<PersonInput> & { address: string }) => {
    const refreshToken = randomUUID()
    await world.control.putPeople([{ provider: 'microsoft', timeZone: 'UTC', refreshToken, ...person }])
    const form = { grant_type: 'refresh_token', client_id: 'test', refresh_token: refreshToken }
    const response = await requestToken(`${world.url}/login/common/oauth2/v2.0/token`, form)
    const { access_token: token } = z.object({ access_token: z.string() }).parse(await response.json())
    return { authorization: `Bearer ${token}` }
  }
})
