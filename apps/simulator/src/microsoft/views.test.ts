import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { graphEvent, idOf, joan, mary, startTestWorld } from '../world.testing.ts'
import type { TestWorld } from '../world.testing.ts'

const immutable = { prefer: 'IdType="ImmutableId"' }
const at = (dateTime: string, timeZone = 'UTC') => ({ dateTime, timeZone })

describe('what Microsoft Graph shows', () => {
  let world: TestWorld
  beforeAll(async () => (world = await startTestWorld()))
  afterAll(() => world.stop())

  const create = (more?: Record<string, unknown>) =>
    world.graph('POST', '/me/events', graphEvent(more), immutable)
  const get = (id: string, headers?: Record<string, string>) =>
    world.graph('GET', `/me/events/${id}`, undefined, headers)
  const schedule = async (schedules: string[], prefer = '') =>
    world.graph(
      'POST',
      '/me/calendar/getSchedule',
      { schedules, startTime: at('2026-07-01T00:00:00'), endTime: at('2026-07-05T00:00:00') },
      prefer ? { prefer } : undefined,
    )

  it('are floating midnights for whole days, in whatever zone one asks', async () => {
    const days = { isAllDay: true, start: at('2026-07-02T00:00:00'), end: at('2026-07-03T00:00:00') }
    const id = idOf(await create(days))
    const tokyo = 'Tokyo Standard Time'
    const prefer = `outlook.timezone="${tokyo}"`
    expect((await get(id, { prefer })).body).toMatchObject({
      isAllDay: true,
      start: at('2026-07-02T00:00:00.0000000', tokyo),
      end: at('2026-07-03T00:00:00.0000000', tokyo),
    })
    expect((await schedule([mary], prefer)).body).toMatchObject({
      value: [{ scheduleItems: [{ start: at('2026-07-02T00:00:00.0000000', tokyo) }] }],
    })
    expect((await schedule([mary])).body).toMatchObject({
      value: [{ scheduleItems: [{ start: at('2026-07-02T00:00:00.0000000') }] }],
    })
    await world.graph('DELETE', `/me/events/${id}`)
  })

  it('is an attendee’s legacy Exchange name where the mailbox is known by one, beside the display name', async () => {
    const address = 'old.timer@microsoft.example'
    await world.control.putPeople([{ address, provider: 'microsoft', timeZone: 'UTC', legacyDn: true }])
    const attendees = [
      { type: 'required', emailAddress: { address, name: 'Old Timer' } },
      { type: 'optional', emailAddress: { address: joan } },
    ]
    const id = idOf(await create({ attendees }))
    const name = expect.stringMatching(/^\/o=ExchangeLabs\/ou=.+\/cn=Recipients\/cn=[0-9a-f]{32}-old\.timer$/)
    expect((await get(id)).body).toMatchObject({
      attendees: [
        { emailAddress: { address: name, name: 'Old Timer' } },
        { emailAddress: { address: joan } },
      ],
    })
    await world.control.actOnEvent(id, { type: 'respond', address, response: 'accepted' })
    expect((await get(id)).body).toMatchObject({ attendees: [{ status: { response: 'accepted' } }, {}] })
    expect(await world.control.readEvents(mary)).toMatchObject([
      { status: 'cancelled' },
      { attendees: [{ address, response: 'accepted' }, { address: joan }] },
    ])
  })

  it('is every occurrence of a series by itself, at the same time of the clock before and after it changes', async () => {
    const address = 'weekly@microsoft.example'
    const standup = { start: '2026-06-23T12:00:00Z', end: '2026-06-23T13:00:00Z' }
    const holiday = { start: '2026-10-20', end: '2026-10-21', status: 'oof' } as const
    await world.control.putPeople([
      {
        address,
        provider: 'microsoft',
        timeZone: 'America/New_York',
        busy: [
          { ...standup, repeats: { every: 'week', until: '2026-11-10', except: ['2026-10-20'] } },
          { ...holiday, repeats: { every: 'day', until: '2026-10-21' } },
        ],
      },
    ])
    const asked = { schedules: [address], startTime: at('2026-10-13T00:00:00') }
    const reply = await world.graph('POST', '/me/calendar/getSchedule', {
      ...asked,
      endTime: at('2026-11-18T00:00:00'),
    })
    const item = (status: string, start: string, end: string) => ({
      status,
      start: at(`${start}.0000000`),
      end: at(`${end}.0000000`),
    })
    expect(reply.body).toMatchObject({
      value: [
        {
          scheduleItems: [
            item('busy', '2026-10-13T12:00:00', '2026-10-13T13:00:00'),
            item('oof', '2026-10-20T00:00:00', '2026-10-21T00:00:00'),
            item('oof', '2026-10-21T00:00:00', '2026-10-22T00:00:00'),
            item('busy', '2026-10-27T12:00:00', '2026-10-27T13:00:00'),
            // New York's clocks went back on the first.
            item('busy', '2026-11-03T13:00:00', '2026-11-03T14:00:00'),
            item('busy', '2026-11-10T13:00:00', '2026-11-10T14:00:00'),
          ],
        },
      ],
    })
  })

  it.each([
    ['tzone://Microsoft/Custom', false],
    ['Customized Time Zone', false],
    ['Europe/Madrid', false],
    ['America/Argentina/Ushuaia', false],
    ['EST', false],
    ['Europe/Berlin', true],
    ['W. Europe Standard Time', true],
  ])('is nothing in the zone %s, unless Graph knows it', async (zone, isKnown) => {
    const answer = isKnown
      ? { status: 200 }
      : { status: 400, body: { error: { code: 'TimeZoneNotSupportedException' } } }
    expect(await schedule([mary], `outlook.timezone="${zone}"`)).toMatchObject(answer)
    expect(
      await world.graph('POST', '/me/calendar/getSchedule', {
        schedules: [mary],
        startTime: at('2026-07-01T00:00:00', zone),
        endTime: at('2026-07-05T00:00:00', zone),
      }),
    ).toMatchObject(answer)
  })

  it('names no zone of an event that somebody moved by a clock of their own, and tells it in the one asked for', async () => {
    const id = idOf(await create())
    const moved = { start: '2026-03-24T16:00:00Z', end: '2026-03-24T17:00:00Z' }
    const timeZone = 'tzone://Microsoft/Custom'
    await world.control.actOnEvent(id, { type: 'move', ...moved, timeZone })
    expect((await get(id)).body).toMatchObject({
      originalStartTimeZone: timeZone,
      start: at('2026-03-24T16:00:00.0000000'),
    })
    await world.graph('DELETE', `/me/events/${id}`)
  })

  it('are the answers of the attendees, and when they came', async () => {
    const id = idOf(await create({ attendees: [{ type: 'required', emailAddress: { address: joan } }] }))
    for (const [response, shown] of [
      ['needs_action', 'none'],
      ['accepted', 'accepted'],
      ['tentative', 'tentativelyAccepted'],
      ['declined', 'declined'],
    ] as const) {
      await world.control.actOnEvent(id, { type: 'respond', address: joan, response })
      expect((await get(id)).body).toMatchObject({ attendees: [{ status: { response: shown } }] })
    }
  })

  it('are kept of those who stay when the list of attendees is replaced', async () => {
    const invited = (...addresses: string[]) =>
      addresses.map((address) => ({ type: 'required', emailAddress: { address } }))
    const id = idOf(await create({ attendees: invited(joan), location: { displayName: 'Hall 3' } }))
    await world.control.actOnEvent(id, { type: 'respond', address: joan, response: 'accepted' })
    const attendees = invited('guest@elsewhere.example', joan)
    await world.graph('PATCH', `/me/events/${id}`, { attendees, location: { displayName: '' } })
    expect((await get(id)).body).toMatchObject({
      attendees: [{ status: { response: 'none' } }, { status: { response: 'accepted' } }],
      locations: [],
    })
  })

  it('is privacy as sensitivity, which knows nothing public', async () => {
    const id = idOf(await create())
    await world.control.actOnEvent(id, { type: 'set_visibility', visibility: 'private' })
    expect((await get(id)).body).toMatchObject({ sensitivity: 'private' })
    await world.control.actOnEvent(id, { type: 'set_visibility', visibility: 'public' })
    expect((await get(id)).body).toMatchObject({ sensitivity: 'normal' })
  })

  it.each([
    ['unknown_person', { responseCode: '5009' }],
    ['too_many_entries', { responseCode: '5006' }],
    ['no_access', { responseCode: 'ErrorNoFreeBusyAccess' }],
    ['internal_error', { responseCode: 'ErrorFreeBusyGenerationFailed' }],
  ] as const)('of a mailbox that is %s is an error, and not even an empty list', async (readable, error) => {
    const address = 'closed@microsoft.example'
    await world.control.putPeople([{ address, provider: 'microsoft', timeZone: 'UTC', readable }])
    const { body } = await schedule([address])
    expect(body).toMatchObject({ value: [{ scheduleId: address, error }] })
    expect(JSON.stringify(body)).not.toContain('scheduleItems')
  })

  it('of a person without a mailbox is 5016 beside a list that is null', async () => {
    const address = 'paper@microsoft.example'
    await world.control.putPeople([
      { address, provider: 'microsoft', timeZone: 'UTC', readable: 'no_mailbox' },
    ])
    expect((await schedule([address])).body).toMatchObject({
      value: [{ scheduleId: address, scheduleItems: null, error: { responseCode: '5016' } }],
    })
  })

  it.each([
    [
      'Europe/Madrid',
      -60,
      { month: 10, dayOccurrence: 5, dayOfWeek: 'sunday', time: '03:00:00.0000000', year: 0 },
      { month: 3, dayOccurrence: 5, time: '02:00:00.0000000', daylightBias: -60 },
    ],
    [
      'America/Santiago',
      240,
      { month: 4, dayOccurrence: 1, dayOfWeek: 'sunday', time: '00:00:00.0000000', year: 0 },
      { month: 9, dayOccurrence: 1, time: '00:00:00.0000000', daylightBias: -60 },
    ],
    [
      'Australia/Lord_Howe',
      -630,
      { month: 4, dayOccurrence: 1, dayOfWeek: 'sunday', time: '02:00:00.0000000', year: 0 },
      { month: 10, dayOccurrence: 1, time: '02:00:00.0000000', daylightBias: -30 },
    ],
    ['Asia/Kathmandu', -345, null, null],
  ])(
    'of the zone %s, which has no name in Outlook, are its rules',
    async (timeZone, bias, standard, daylight) => {
      const address = 'elsewhere@microsoft.example'
      await world.control.putPeople([{ address, provider: 'microsoft', timeZone }])
      expect((await schedule([address])).body).toMatchObject({
        value: [
          {
            workingHours: {
              timeZone: {
                '@odata.type': '#microsoft.graph.customTimeZone',
                name: 'Customized Time Zone',
                bias,
                standardOffset: standard,
                daylightOffset: daylight,
              },
            },
          },
        ],
      })
    },
  )
})
