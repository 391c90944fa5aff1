import { expect, test } from '@jest/globals'
import { linkSigner } from '@aftercommit/platform/links'
import { newSealingKey } from '@aftercommit/platform/sealing'
import { useDatabase } from '@aftercommit/testing'
import { createTestApi } from '../api.testing.ts'

const database = useDatabase()
const HOUR_MS = 60 * 60_000

test('a link expires by the clock of the database, whatever this process believes the time to be', async () => {
  const links = linkSigner(newSealingKey('test'))
  const api = createTestApi(database, { links })
  const client = await api.createClient()
  const meetingId = await client.openMeeting()
  const { rows } = await database.owner.query<{ participant_id: string; ends: Date }>(
    `select participant_id, app_now() + interval '1 hour' as ends from participant where meeting_id = $1`,
    [meetingId],
  )
  const [row] = rows
  if (!row) throw new Error('a meeting without people')
  const claims = {
    tenantId: client.tenantId,
    meetingId,
    participantId: row.participant_id,
    participantRevision: 1,
    meetingRevision: 1,
    expiresAt: row.ends,
  }
  const address = `/reply/${links.sign('reply', claims)}`
  expect((await api.send('get', address).expect(200)).text).toContain('<form')
  await database.advanceClock(2 * HOUR_MS)
  expect((await api.send('get', address)).text).not.toContain('<form')
  expect((await api.send('post', address).type('form').send({ answer: 'not_taking_part' })).status).toBe(
    (await api.send('get', address)).status,
  )
  // A wish to be left alone does not expire.
  await api.send('get', `/opt-out/${links.sign('opt_out', claims)}`).expect(200)
})
