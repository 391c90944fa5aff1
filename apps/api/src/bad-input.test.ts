import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { completeIntent, createTestApi, type ApiClient } from './api.testing.ts'

const database = useDatabase()
const api = () => createTestApi(database)

describe('bad input is refused by name', () => {
  const somebody = randomUUID()
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const changed =
    (change: (intent: Record<string, unknown>) => unknown) =>
    async (client: ApiClient): Promise<string> =>
      JSON.stringify(change(await completeIntent(client)))

  test.each<[string, string | ((client: ApiClient) => Promise<string>), number, string, string | undefined]>([
    ['no body', '', 400, 'malformed-input', '/purpose'],
    ['a broken body', '{"purpose":', 400, 'malformed-json', undefined],
    ['a bare word', '"meeting"', 400, 'malformed-input', ''],
    ['nothing, in JSON', 'null', 400, 'malformed-input', ''],
    ['a list', '[]', 400, 'malformed-input', ''],
    ['a prototype', '{"__proto__":{"purpose":"x"}}', 400, 'malformed-input', '/__proto__'],
    ['a constructor', '{"constructor":{}}', 400, 'malformed-input', '/constructor'],
    [
      'a prototype deep inside',
      '{"participants":[{"a/b":{"__proto__":1}}]}',
      400,
      'malformed-input',
      '/participants/0/a~1b/__proto__',
    ],
    ['a bottomless body', deep, 400, 'malformed-input', '/0'.repeat(32)],
    ['a body too large', JSON.stringify({ purpose: 'x'.repeat(300_000) }), 413, 'body-too-large', undefined],
    [
      'an unknown field',
      changed((intent) => ({ ...intent, colour: 'red' })),
      400,
      'malformed-input',
      '/colour',
    ],
    [
      'a wrong type',
      changed((intent) => ({ ...intent, durationMinutes: '60' })),
      400,
      'malformed-input',
      '/durationMinutes',
    ],
    [
      'a zone that is none',
      changed((intent) => ({ ...intent, timeZone: 'EST' })),
      400,
      'malformed-input',
      '/timeZone',
    ],
    [
      'a deadline in the past',
      changed((intent) => ({ ...intent, bookBy: '2020-01-01T00:00:00Z' })),
      400,
      'malformed-input',
      '/bookBy',
    ],
    [
      'a calendar that is not connected',
      changed((intent) => ({
        ...intent,
        organizer: { address: 'x@example.com', calendarConnectionId: somebody },
      })),
      400,
      'malformed-input',
      '/organizer/calendarConnectionId',
    ],
    [
      'a zone inside a list',
      changed(() => ({ participants: [{ timeZone: 'Nowhere' }] })),
      400,
      'malformed-input',
      '/participants/0/timeZone',
    ],
  ])('%s', async (_what, body, status, name, pointer) => {
    const client = await api().createClient()
    const text = typeof body === 'string' ? body : await body(client)
    const answer = await client.post('/v1/meetings', text).expect(status)
    expect(answer.body).toMatchObject({ type: `/problems/${name}`, status })
    if (pointer !== undefined) {
      const { errors } = answer.body as { errors: { in: string; pointer: string; rule: string }[] }
      const found = errors.find((error) => error.in === 'body' && error.pointer === pointer)
      expect(found?.rule).toMatch(/\w/)
    }
    const { rows } = await database.owner.query('select from meeting where tenant_id = $1', [client.tenantId])
    expect(rows).toHaveLength(0)
  })

  test.each([
    ['an unknown parameter', '?colour=red', '/colour'],
    ['a prototype', '?__proto__=1', '/__proto__'],
    ['a state that is none', '?state=happy', '/state'],
    ['a limit of nothing', '?limit=', '/limit'],
    ['a limit of zero', '?limit=0', '/limit'],
    ['a limit too large', '?limit=101', '/limit'],
    ['a limit in parts', '?limit=1.5', '/limit'],
    ['two limits', '?limit=1&limit=2', '/limit'],
    ['a cursor of no list', '?cursor=bm9uc2Vuc2U', '/cursor'],
    ['a cursor of another list', `?cursor=${Buffer.from('[1,2]').toString('base64url')}`, '/cursor'],
  ])('%s in the query', async (_what, query, pointer) => {
    const client = await api().createClient()
    const answer = await client.get(`/v1/meetings${query}`).expect(400)
    expect(answer.body).toMatchObject({
      type: '/problems/malformed-input',
      errors: [{ in: 'query', pointer }],
    })
  })

  test.each([
    ['a space', 'two words'],
    ['256 characters', 'k'.repeat(256)],
    ['a letter beyond ASCII', 'schlüssel'],
  ])('an Idempotency-Key with %s', async (_what, key) => {
    const client = await api().createClient()
    const answer = await client.post('/v1/meetings', '{}').set('idempotency-key', key).expect(400)
    expect(JSON.stringify(answer.body)).toContain('durationMinutes')
    const whole = await client
      .post('/v1/meetings', await completeIntent(client))
      .set('idempotency-key', key)
      .expect(400)
    expect(whole.body).toMatchObject({ errors: [{ in: 'header', pointer: '/idempotency-key' }] })
  })

  test.each([
    [
      'breaks off',
      '{"purpose": "Review",}',
      'It breaks off at character 21 (line 1, column 22): expected a name in double quotes.',
    ],
    [
      'ends too soon',
      '{"purpose": "Review"',
      'It breaks off at character 20 (line 1, column 21): expected a comma or }.',
    ],
    [
      'is cut in a word',
      '{"purpose":\n"Rev',
      'It breaks off at character 12 (line 2, column 1): expected a value.',
    ],
    ['is too large', JSON.stringify({ purpose: 'x'.repeat(300_000) }), 'At most 262144 bytes are taken.'],
  ])('a body that %s is told where, and never quoted', async (_what, body, detail) => {
    const client = await api().createClient()
    const answer = await client.post('/v1/meetings', body)
    expect(answer.body).toMatchObject({ detail })
    expect(answer.text).not.toMatch(/Rev|xxx/)
  })

  test.each([
    ['another alphabet', 'application/json; charset=iso-8859-1', '{}'],
    ['a form', 'application/x-www-form-urlencoded', 'purpose=x'],
  ])('%s is told what is taken instead', async (_what, type, body) => {
    const client = await api().createClient()
    const answer = await client.send('post', '/v1/meetings').set('content-type', type).send(body).expect(415)
    expect(answer.body).toMatchObject({ detail: 'This address takes application/json in UTF-8.' })
    expect(answer.headers.accept).toBe('application/json')
  })

  test('a body packed in a way that is not unpacked is told which ways are', async () => {
    const client = await api().createClient()
    const answer = await client.post('/v1/meetings', '{}').set('content-encoding', 'zip').expect(415)
    expect(answer.headers['accept-encoding']).toBe('gzip, deflate, br')
    expect(answer.body).toMatchObject({
      detail: 'The body may be compressed with gzip, deflate, br, or not at all.',
    })
  })

  test('a mail too large is told its own limit', async () => {
    const client = await api().createClient()
    const mail = 'x'.repeat(10 * 1024 * 1024 + 1)
    const post = client.send('post', '/v1/inbound-mail').set('content-type', 'message/rfc822')
    expect((await post.send(mail).expect(413)).body).toMatchObject({
      detail: 'At most 10485760 bytes are taken.',
    })
  })

  test('everything that is wrong is said at once', async () => {
    const client = await api().createClient()
    const id = await client.openMeeting()
    const answer = await client
      .post(`/v1/meetings/${id}/approve?now=yes`, {
        proposalId: 'p',
        approver: { address: 'nobody' },
        why: 1,
      })
      .set('if-match', 'unquoted')
      .expect(400)
    const { errors } = answer.body as { errors: { in: string; pointer: string }[] }
    expect(errors.map((error) => `${error.in} ${error.pointer}`)).toEqual([
      'query /now',
      'header /if-match',
      'body /proposalId',
      'body /approver/address',
      'body /why',
    ])
  })
})

describe('every field that a body cannot do without', () => {
  const required = ['/purpose', '/durationMinutes', '/window', '/bookBy', '/participants']
  const missing = (pointer: string) => ({ in: 'body', pointer, rule: 'is required' })

  test.each([
    ['/v1/meetings', required.map(missing)],
    [`/v1/meetings/${randomUUID()}/approve`, ['/proposalId', '/approver'].map(missing)],
    [
      '/v1/calendar-connections',
      [
        { in: 'body', pointer: '/provider', rule: 'is required; one of: google, microsoft' },
        ...['/address', '/refreshToken'].map(missing),
      ],
    ],
    ['/v1/webhook-endpoints', ['/url', '/secret'].map(missing)],
  ])('is said to be required: %s', async (path, errors) => {
    const client = await api().createClient()
    const answer = await client.post(path, '{}').expect(400)
    expect((answer.body as { errors: unknown }).errors).toEqual(errors)
  })

  test.each([
    ['ftp://client.example', /URL/],
    ['http://client.example/hook', /https/],
    ['http://127.0.0.1:9191', /allows no plain http \(WEBHOOK_ALLOW_LOOPBACK\)/],
    ['http://localhost/hook', /allows no plain http/],
    ['https://127.0.0.1/hook', /public address/],
    ['https://10.0.0.1/hook', /public address/],
    ['https://[::1]/hook', /public address/],
    ['https://user:password@client.example', /without user and password/],
    ['client.example', /URL/],
  ])('an address that messages do not go to is refused with the rule: %s', async (url, rule) => {
    const client = await api().createClient()
    const secret = `whsec_${randomBytes(24).toString('base64')}`
    const answer = await client.post('/v1/webhook-endpoints', { url, secret }).expect(400)
    const { errors } = answer.body as { errors: { pointer: string; rule: string }[] }
    expect(errors.map(({ pointer }) => pointer)).toContain('/url')
    expect(errors.map((error) => error.rule).join()).toMatch(rule)
    const both = await client.post('/v1/webhook-endpoints', { url, secret: 'no secret' }).expect(400)
    const pointers = (both.body as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer)
    expect(new Set(pointers)).toEqual(new Set(['/url', '/secret']))
  })

  test('an address on this machine is taken where it is allowed, and no other', async () => {
    const allowed = 'http://127.0.0.1:9191'
    const client = await createTestApi(database, { webhookAllowLoopback: [allowed] }).createClient()
    const secret = `whsec_${randomBytes(24).toString('base64')}`
    const add = (url: string) => client.post('/v1/webhook-endpoints', { url, secret })
    await add(`${allowed}/hook`).expect(201)
    for (const other of ['http://127.0.0.1:9192/hook', 'http://localhost:9191/hook']) {
      expect((await add(other).expect(400)).body).toMatchObject({
        errors: [{ pointer: '/url', rule: expect.stringContaining(`plain http goes only to ${allowed}`) }],
      })
    }
  })
})

describe('what is wrong with an answer is said of the answer', () => {
  const lacking = async (client: ApiClient, more: Record<string, unknown>): Promise<string> => {
    const intent = { ...(await completeIntent(client)), ...more }
    await client.post('/v1/meetings', intent).expect(201)
    const answer = await client.get('/v1/exceptions').expect(200)
    return (answer.body as { exceptions: { id: string }[] }).exceptions[0]?.id ?? ''
  }

  test('whatever the meeting calls the place', async () => {
    const client = await api().createClient()
    const other = await client.connect(`other-${randomUUID()}@example.com`)
    const id = await lacking(client, { organizer: undefined })
    const answer = { address: 'x@example.com', calendarConnectionId: other }
    const refused = await client.post(`/v1/exceptions/${id}/resolve`, answer).expect(400)
    expect(refused.body).toMatchObject({ errors: [{ in: 'body', pointer: '/calendarConnectionId' }] })
  })

  test('also when it is another field of the meeting that it does not go with', async () => {
    const client = await api().createClient()
    const window = { from: '2027-03-28T02:30', to: '2027-04-02T00:00' }
    const id = await lacking(client, { timeZone: undefined, window })
    const answer = { timeZone: 'Europe/Berlin' }
    const refused = await client.post(`/v1/exceptions/${id}/resolve`, answer).expect(400)
    expect(refused.body).toMatchObject({
      errors: [
        {
          pointer: '/timeZone',
          rule: 'the clock skips this time in that zone (window.from of the meeting)',
        },
      ],
    })
  })

  test('and what the meeting knows already need not be told again', async () => {
    const client = await api().createClient()
    const calendarConnectionId = await client.connect('lone@example.com')
    const id = await lacking(client, { organizer: { calendarConnectionId } })
    await client.post(`/v1/exceptions/${id}/resolve`, { address: 'lone@example.com' }).expect(200)
  })
})

test('a window that has passed, and a proposal that is none, are named', async () => {
  const client = await api().createClient()
  const window = { from: '2026-01-01T00:00', to: '2026-01-10T00:00' }
  const past = await client.post('/v1/meetings', { ...(await completeIntent(client)), window }).expect(400)
  expect(past.body).toMatchObject({ errors: [{ pointer: '/window/to', rule: 'the window has passed' }] })
  const id = await client.openMeeting()
  const approval = { proposalId: randomUUID(), approver: { address: 'ada@example.com' } }
  const unknown = await client.post(`/v1/meetings/${id}/approve`, approval).expect(422)
  expect(unknown.body).toMatchObject({
    type: '/problems/unknown-proposal',
    errors: [{ in: 'body', pointer: '/proposalId', rule: 'is not a proposal of this meeting' }],
  })
})
