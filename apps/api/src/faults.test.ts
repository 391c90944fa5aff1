/** One answer names everything that is wrong with a request. */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { useDatabase } from '@aftercommit/testing'
import { completeIntent, createTestApi } from './api.testing.ts'

const database = useDatabase()
const createClient = () => createTestApi(database).createClient()

/** `pointer: rule`, in the order of the answer. */
const faultsIn = (body: unknown): readonly string[] =>
  (body as { errors: { in: string; pointer: string; rule: string }[] }).errors.map(
    (error) => `${error.in} ${error.pointer}: ${error.rule}`,
  )

const LATE = '2020-01-01T00:00:00Z'
const WORK = { startsAt: '17:00', endsAt: '09:00', days: [] }

describe('a meeting that is wrong in every way', () => {
  test('is told its shape, what does not go together, what is late and what is unknown, all at once', async () => {
    const client = await createClient()
    const theirs = await client.connect('somebody@google.example')
    const unknown = randomUUID()
    const person = { displayName: 'Ada', address: 'ada@example.com', role: 'optional' }
    const answer = await client
      .post('/v1/meetings', {
        purpose: '',
        durationMinutes: 1.5,
        window: { from: '2020-01-10T00:00', to: '2020-01-01T00:00' },
        bookBy: LATE,
        organizer: { address: 'ada@example.com', calendarConnectionId: theirs },
        participants: [
          person,
          { ...person, calendarConnectionId: unknown, workingHours: WORK },
          { ...person, address: 'no address', substitutes: [{ ...person, calendarConnectionId: unknown }] },
        ],
        preferences: { first: 'start', prefer: [WORK], order: 'middle' },
        colour: 'red',
      })
      .set('idempotency-key', 'two words')
      .expect(400)
    expect([...faultsIn(answer.body)].sort()).toEqual(
      [
        'header /idempotency-key: must be 1 to 255 visible ASCII characters',
        'body /purpose: must not be empty',
        'body /durationMinutes: must be a whole number',
        'body /window/to: the window ends before it starts',
        'body /window/to: the window has passed',
        'body /bookBy: the deadline has passed',
        "body /organizer/calendarConnectionId: this calendar connection is another person's",
        'body /participants: at least one participant must be required',
        'body /participants/1/address: the same person twice',
        'body /participants/1/calendarConnectionId: no such calendar connection',
        'body /participants/1/workingHours/days: must have at least 1 item',
        'body /participants/1/workingHours/endsAt: must be later than startsAt, on the same day',
        'body /participants/2/address: must be an e-mail address, such as ada@example.com',
        'body /participants/2/substitutes/0/role: is not a known field',
        'body /participants/2/substitutes/0/calendarConnectionId: no such calendar connection',
        'body /preferences/order: is not one of: earliest, latest',
        'body /preferences/prefer: has no effect when `first` is `start`',
        'body /preferences/prefer/0/days: must have at least 1 item',
        'body /preferences/prefer/0/endsAt: must be later than startsAt, on the same day',
        'body /colour: is not a known field',
      ].sort(),
    )
  })

  test('is told nothing of what cannot be judged', async () => {
    const client = await createClient()
    const answer = await client
      .post('/v1/meetings', { window: { from: 'soon' }, participants: [{ role: 'guest' }], bookBy: 'late' })
      .expect(400)
    expect(faultsIn(answer.body).join('\n')).not.toMatch(/window (ends|has passed)|must be required|deadline/)
  })

  test('does not hear the same thing twice when its shape is right', async () => {
    const client = await createClient()
    const intent = await completeIntent(client)
    const late = { ...intent, bookBy: LATE, window: { from: '2020-01-01T00:00', to: '2020-01-10T00:00' } }
    const answer = await client.post('/v1/meetings', late).expect(400)
    expect(faultsIn(answer.body)).toEqual([
      'body /bookBy: the deadline has passed',
      'body /window/to: the window has passed',
    ])
  })

  test('learns of a calendar that is unknown also where it is a substitute’s', async () => {
    const client = await createClient()
    const intent = await completeIntent(client)
    const [ada, ben] = intent.participants as object[]
    const substitute = { displayName: 'Cy', address: 'cy@example.com', calendarConnectionId: randomUUID() }
    const participants = [{ ...ada, substitutes: [substitute] }, ben]
    const answer = await client.post('/v1/meetings', { ...intent, participants }).expect(400)
    expect(faultsIn(answer.body)).toEqual([
      'body /participants/0/substitutes/0/calendarConnectionId: no such calendar connection',
    ])
  })
})

test.each<[string, object, readonly string[]]>([
  [
    `/v1/meetings/${randomUUID()}/reschedule`,
    { by: {}, bookBy: LATE, window: { from: '2020-01-02T00:00', to: '2020-01-01T00:00' } },
    [
      'body /by/address: is required',
      'body /window/to: the window ends before it starts',
      'body /bookBy: the deadline has passed',
      'body /window/to: the window has passed',
    ],
  ],
  [
    `/v1/repairs/${randomUUID()}/resolve`,
    {
      choice: {
        type: 'substitute_person',
        participantId: 'x',
        substitute: { displayName: 'Cy', address: 'cy@example.com', calendarConnectionId: randomUUID() },
        bookBy: LATE,
      },
    },
    [
      'body /by: is required',
      'body /choice/participantId: must be a UUID, as answers give it out',
      'body /choice/bookBy: the deadline has passed',
      'body /choice/substitute/calendarConnectionId: no such calendar connection',
    ],
  ],
  [
    `/v1/exceptions/${randomUUID()}/resolve`,
    { timeZone: 'EST5', calendarConnectionId: randomUUID() },
    [
      'body /timeZone: must be an IANA time zone, area and place, such as Europe/Berlin; abbreviations and other names are refused, because they can mean several zones, or only an offset',
      'body /calendarConnectionId: no such calendar connection',
    ],
  ],
  [
    `/v1/meetings/${randomUUID()}/participants/${randomUUID()}/calendar`,
    { by: { address: 'nobody' }, calendarConnectionId: randomUUID() },
    [
      'body /by/address: must be an e-mail address, such as ada@example.com',
      'body /calendarConnectionId: no such calendar connection',
    ],
  ],
])('a body of %s is told all of its faults', async (path, body, faults) => {
  const client = await createClient()
  const answer = await client.post(path, body).expect(400)
  expect(faultsIn(answer.body)).toEqual(faults)
})
