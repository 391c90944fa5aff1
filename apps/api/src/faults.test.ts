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

describe('an answer to an exception', () => {
  const openBare = async () => {
    const client = await createClient()
    const ada = await client.connect('ada@google.example')
    const who = { displayName: 'Ada', role: 'required' }
    const person = { ...who, address: 'ada@google.example', calendarConnectionId: ada }
    const id = await client.openMeeting({
      timeZone: undefined,
      approval: undefined,
      organizer: undefined,
      participants: [person, who, { ...who, address: 'ben@example.com' }],
    })
    const { exceptions } = (await client.get(`/v1/meetings/${id}`)).body as {
      exceptions: { id: string; code: string }[]
    }
    return async (code: string, answer: object) => {
      const exception = exceptions.find((each) => each.code === code)
      return faultsIn(
        (await client.post(`/v1/exceptions/${exception?.id ?? ''}/resolve`, answer).expect(400)).body,
      )
    }
  }

  test('that names a field wrongly learns which one is missing as well', async () => {
    const answer = await openBare()
    const unknown = 'body /timezone: is not a known field'
    const wrong = { timezone: 'Europe/Berlin' }
    expect(await answer('zone_missing', wrong)).toEqual([unknown, 'body /timeZone: is required'])
    expect(await answer('identity_missing', wrong)).toEqual([unknown, 'body /address: is required'])
    expect(await answer('organizer_calendar_missing', wrong)).toEqual([
      unknown,
      'body /address: is required',
      'body /calendarConnectionId: is required',
    ])
    expect(await answer('authority_missing', wrong)).toEqual([unknown, 'body /approval: is required'])
    expect(await answer('outreach_missing', wrong)).toEqual([
      unknown,
      'body : must have outreach, or this person’s calendarConnectionId',
    ])
  })

  test('that has a malformed field, and one of another exception, learns both and what is missing', async () => {
    const answer = await openBare()
    expect(await answer('identity_missing', { timeZone: 'CET', calendarConnectionId: 'mine' })).toEqual([
      expect.stringContaining('body /timeZone: must be an IANA time zone'),
      'body /calendarConnectionId: must be a UUID, as answers give it out',
      'body /address: is required',
    ])
  })
})

describe('a rule between fields', () => {
  const hours = { startsAt: '09:00', endsAt: '17:00', days: [1] }
  const clock = 'must be a time of day as HH:mm, such as 09:00'
  const order = 'must be later than startsAt, on the same day'
  const withHours = async (workingHours: object, prefer: object = hours) => {
    const client = await createClient()
    const intent = await completeIntent(client)
    const [ada, ben] = intent.participants as object[]
    const participants = [{ ...ada, timeZone: 'Europe/Berlin', workingHours }, ben]
    const answer = await client.post('/v1/meetings', {
      ...intent,
      participants,
      preferences: { prefer: [prefer] },
    })
    return faultsIn(answer.body)
  }

  test.each([
    [{ ...hours, startsAt: '9:00' }, [`/startsAt: ${clock}`]],
    [{ ...hours, startsAt: 'soon', endsAt: '24:01' }, [`/startsAt: ${clock}`, `/endsAt: ${clock}, or 24:00`]],
    [{ ...hours, startsAt: '18:00', days: [8] }, ['/days/0: must be at most 7', `/endsAt: ${order}`]],
    [{ ...hours, startsAt: '18:00', pause: true }, ['/pause: is not a known field', `/endsAt: ${order}`]],
    [{ ...hours, startsAt: undefined, endsAt: '08:00' }, ['/startsAt: is required']],
  ])('is not held against a field that is malformed itself: %j', async (given, faults) => {
    const place = '/participants/0/workingHours'
    expect([...(await withHours(given))].sort()).toEqual(
      faults.map((fault) => `body ${place}${fault}`).sort(),
    )
    const preferred = faults.map((fault) => `body /preferences/prefer/0${fault}`)
    expect([...(await withHours(hours, given))].sort()).toEqual(preferred.sort())
  })

  test('says nothing of a window or of people that cannot be read', async () => {
    const client = await createClient()
    const intent = await completeIntent(client)
    const window = { from: '2027-02-30T00:00', to: '2027-03-01T00:00' }
    const body = { ...intent, window, participants: [{ displayName: 'Ada', address: 'ada', role: 'guest' }] }
    const answer = await client.post('/v1/meetings', body).expect(400)
    expect(faultsIn(answer.body)).toEqual([
      'body /window/from: must be a date that the calendar has',
      'body /participants/0/role: is not one of: required, optional',
      'body /participants/0/address: must be an e-mail address, such as ada@example.com',
    ])
  })
})
