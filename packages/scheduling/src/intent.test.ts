import { describe, expect, test } from '@jest/globals'
import { absencesOf, resolveAbsence } from './absence.ts'
import { ada, ben, chen, intentInput } from './cast.testing.ts'
import { IntentDraft, MeetingIntent, untimely, windowOf } from './intent.ts'

/** Where a draft is malformed, as paths; empty when it is well formed. */
const faultsOf = (input: unknown): readonly string[] => {
  const parsed = IntentDraft.safeParse(input)
  return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'))
}
const faultsWith = (more: Record<string, unknown>): readonly string[] => faultsOf(intentInput(more))
const person = { displayName: 'Ben', role: 'required', ...ben }
const without = (...fields: string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(intentInput()).filter(([name]) => !fields.includes(name)))

test('a complete intent is well formed and lacks nothing', () => {
  const draft = IntentDraft.parse(intentInput())
  expect(absencesOf(draft)).toEqual([])
  expect(MeetingIntent.parse(draft)).toMatchObject({ purpose: 'Contract review', conference: false })
})

describe('a zone', () => {
  test.each(['EST', 'BST', 'PST', 'IST', 'CET', 'GMT+1', 'UTC+2', '+01:00', '', 'Europe', 'Europe/Atlantis'])(
    'is refused when it is no IANA name: %j',
    (timeZone) => {
      expect(faultsWith({ timeZone })).toContain('timeZone')
      expect(faultsWith({ participants: [{ ...person, timeZone }] })).toContain('participants.0.timeZone')
    },
  )

  test.each(['Customized Time Zone', 'tzone://Microsoft/Custom', 'W. Europe Standard Time'])(
    'is refused under the names that calendars of Microsoft use: %j',
    (timeZone) => {
      expect(faultsWith({ timeZone })).toContain('timeZone')
    },
  )

  test.each(['UTC', 'Europe/Berlin', 'Europe/Kyiv', 'America/Argentina/Ushuaia'])(
    'is taken: %s',
    (timeZone) => {
      expect(faultsWith({ timeZone })).toEqual([])
    },
  )
})

describe('a window', () => {
  const within = (from: string, to: string, timeZone = 'Europe/Berlin') =>
    faultsWith({ window: { from, to }, timeZone })

  test('is refused when an edge falls into the hour that the clock skips', () => {
    expect(within('2027-03-28T02:30', '2027-04-02T00:00')).toEqual(['window.from'])
    expect(within('2027-03-25T00:00', '2027-03-28T02:00')).toEqual(['window.to'])
    // The same wall time exists where the clock changes on another day.
    expect(within('2027-03-28T02:30', '2027-04-02T00:00', 'America/New_York')).toEqual([])
  })

  test('is refused when an edge falls into the hour that the clock shows twice', () => {
    expect(within('2027-10-31T02:30', '2027-11-05T00:00')).toEqual(['window.from'])
    expect(within('2027-10-25T00:00', '2027-10-31T02:59')).toEqual(['window.to'])
    expect(within('2027-10-31T03:00', '2027-11-05T00:00')).toEqual([])
  })

  test('is refused when it ends before it starts, or is shorter than the meeting', () => {
    expect(within('2027-03-25T10:00', '2027-03-25T09:00')).toEqual(['window.to'])
    expect(within('2027-03-25T10:00', '2027-03-25T10:00')).toEqual(['window.to'])
    expect(within('2027-03-25T10:00', '2027-03-25T10:59')).toEqual(['window.to'])
    expect(within('2027-03-25T10:00', '2027-03-25T11:00')).toEqual([])
    // Two hours on the clock, but only one passes.
    expect(within('2027-03-28T01:30', '2027-03-28T03:15')).toEqual(['window.to'])
  })

  test('is refused beyond sixty days', () => {
    expect(within('2027-01-01T00:00', '2027-03-02T00:00')).toEqual([])
    expect(within('2027-01-01T00:00', '2027-03-02T00:01')).toEqual(['window.to'])
  })

  test.each([
    '2027-03-25T00:00Z',
    '2027-03-25T00:00+01:00',
    '2027-03-25T00:00-05:00',
    '2027-03-25',
    '2027-02-30T00:00',
    '2027-03-25T24:00',
    '2027-03-25T25:00',
    'Thursday',
    '',
  ])('is refused when an edge is no local date and time: %j', (from) => {
    expect(within(from, '2027-04-02T00:00')).toContain('window.from')
  })

  test('is judged without a zone as well, and again when the zone is told', () => {
    const zoneless = { ...without('timeZone'), window: { from: '2027-03-28T02:30', to: '2027-04-02T00:00' } }
    const draft = IntentDraft.parse(zoneless)
    const [absence] = absencesOf(draft)
    expect(absence).toEqual({ code: 'zone_missing', path: ['timeZone'] })
    if (!absence) throw new Error('unreachable')
    expect(resolveAbsence(draft, absence, { timeZone: 'Europe/Berlin' })).toMatchObject({
      type: 'malformed',
      problems: [
        {
          path: ['timeZone'],
          reason: 'the clock skips this time in that zone (window.from of the meeting)',
        },
      ],
    })
    expect(resolveAbsence(draft, absence, { timeZone: 'America/New_York' }).type).toBe('complete')
    expect(faultsOf({ ...zoneless, window: { from: '2027-04-02T00:00', to: '2027-03-28T02:30' } })).toEqual([
      'window.to',
    ])
  })

  test('spans the instants of its zone across a clock change', () => {
    const intent = MeetingIntent.parse(intentInput())
    expect(windowOf(intent)).toEqual({
      start: new Date('2027-03-24T23:00:00Z'),
      end: new Date('2027-04-01T22:00:00Z'),
    })
  })
})

describe('an answer to what is missing', () => {
  const organizerless = IntentDraft.parse(intentInput({ organizer: { address: ada.address } }))
  const absence = { code: 'organizer_calendar_missing', path: ['organizer'] } as const
  const { calendarConnectionId } = ada

  test('need not repeat what was told before, and may not contradict it', () => {
    expect(resolveAbsence(organizerless, absence, { calendarConnectionId }).type).toBe('complete')
    const repeated = { address: ada.address.toUpperCase(), calendarConnectionId }
    expect(resolveAbsence(organizerless, absence, repeated).type).toBe('complete')
    expect(resolveAbsence(organizerless, absence, { ...ben })).toMatchObject({
      type: 'malformed',
      problems: [{ path: ['address'] }],
    })
  })

  test('must tell all that is missing, in its own fields only', () => {
    const faults = (answer: unknown) => {
      const resolved = resolveAbsence(organizerless, absence, answer)
      return resolved.type === 'malformed' ? resolved.problems.map(({ path }) => path.join('.')) : []
    }
    expect(faults({})).toEqual(['calendarConnectionId'])
    expect(faults({ calendarConnectionId, approval: { type: 'organizer' } })).toEqual(['approval'])
    expect(faults('Ada')).toEqual([''])
    expect(faults(null)).toEqual([''])
  })
})

describe('what was well formed but is not in time', () => {
  const now = new Date('2027-03-20T00:00:00Z')
  const faults = (more: Record<string, unknown>) =>
    untimely(IntentDraft.parse(intentInput(more)), now).map(({ path }) => path.join('.'))

  test('is a deadline that has passed or is more than a leap year away', () => {
    expect(faults({})).toEqual([])
    expect(faults({ bookBy: '2027-03-20T00:00:00Z' })).toEqual(['bookBy'])
    expect(faults({ bookBy: '2028-03-20T00:00:00Z' })).toEqual([])
    expect(faults({ bookBy: '2028-03-20T00:00:01Z' })).toEqual(['bookBy'])
  })

  test('is a window that is over, and without a zone one that is over everywhere', () => {
    const window = { from: '2027-03-19T00:00', to: '2027-03-19T20:00' }
    expect(faults({ window })).toEqual(['window.to'])
    expect(faults({ window, timeZone: 'America/Los_Angeles' })).toEqual([])
    expect(faults({ window, timeZone: undefined })).toEqual([])
    expect(faults({ window: { ...window, to: '2027-03-19T12:00' }, timeZone: undefined })).toEqual([
      'window.to',
    ])
  })
})

test.each(['0000-01-01', '1999-12-31', '2200-01-01', '9999-12-31'])(
  'a date outside of the years that clocks agree on is refused: %s',
  (date) => {
    expect(faultsWith({ bookBy: `${date}T00:00:00Z` })).toEqual(['bookBy'])
    const window = { from: `${date}T00:00`, to: `${date}T12:00` }
    expect(faultsWith({ window })).toEqual(['window.from', 'window.to'])
  },
)

describe('people', () => {
  test('are refused when one of them is there twice, whatever the letter case', () => {
    const twice = [person, { ...person, displayName: 'Benjamin', address: ben.address.toUpperCase() }]
    expect(faultsWith({ participants: twice })).toEqual(['participants.1.address'])
    const optional = [person, { ...person, role: 'optional', address: 'BEN@Google.Example' }]
    expect(faultsWith({ participants: optional })).toEqual(['participants.1.address'])
  })

  test('are refused when an answer would make two of them the same', () => {
    const draft = IntentDraft.parse(
      intentInput({ participants: [person, { displayName: 'Chen', role: 'required' }] }),
    )
    const absence = { code: 'identity_missing', path: ['participants', 1] } as const
    const answer = { ...chen, address: ben.address.toUpperCase() }
    expect(resolveAbsence(draft, absence, answer)).toMatchObject({
      type: 'malformed',
      problems: [{ path: ['address'] }],
    })
  })

  test('are refused when none of them is required', () => {
    expect(faultsWith({ participants: [{ ...person, role: 'optional' }] })).toEqual(['participants'])
    expect(faultsWith({ participants: [] })).toContain('participants')
  })

  test('are refused without a name or with a role that there is not', () => {
    expect(faultsWith({ participants: [{ ...person, displayName: ' ' }] })).toEqual([
      'participants.0.displayName',
    ])
    expect(faultsWith({ participants: [{ ...person, role: 'required ' }] })).toContain('participants.0.role')
  })

  test.each([
    '',
    'ben',
    ' ben@google.example',
    '"ben@google.example"',
    '/o=ExchangeLabs/cn=ben',
    'ben@google.example\n',
  ])('are refused with an address that a calendar would refuse: %j', (address) => {
    expect(faultsWith({ participants: [{ ...person, address }] })).toContain('participants.0.address')
    expect(faultsWith({ approval: { type: 'named_approver', address } })).toContain('approval.address')
  })

  test.each([
    { startsAt: '17:00', endsAt: '09:00', days: [1] },
    { startsAt: '09:00', endsAt: '09:00', days: [1] },
    { startsAt: '9:00', endsAt: '17:00', days: [1] },
    { startsAt: '09:00', endsAt: '24:01', days: [1] },
    { startsAt: '24:00', endsAt: '24:00', days: [1] },
    { startsAt: '09:00', endsAt: '17:00', days: [] },
    { startsAt: '09:00', endsAt: '17:00', days: [0] },
    { startsAt: '09:00', endsAt: '17:00', days: [8] },
  ])('are refused with hours in which nobody can work: %j', (workingHours) => {
    const timeZone = 'Europe/Berlin'
    const faults = faultsWith({ participants: [{ ...person, timeZone, workingHours }] })
    expect(faults.join()).toMatch(/^participants\.0\.workingHours/)
  })
})

describe('the deadline', () => {
  test.each(['2027-03-24T12:00', '2027-03-24', 'tomorrow', ''])(
    'is refused without an offset: %j',
    (bookBy) => {
      expect(faultsWith({ bookBy })).toEqual(['bookBy'])
    },
  )
})

test.each(['+23:59', '-16:00', '+15:00'])('an instant whose offset is %s is nobody’s', (offset) => {
  expect(faultsWith({ bookBy: `2027-03-24T12:00:00${offset}` })).toEqual(['bookBy'])
})

describe('an approval', () => {
  test.each([
    { type: 'anybody' },
    { type: 'named_approver' },
    { type: 'automatic', address: ada.address },
    {},
  ])('is refused when it is neither of the two: %j', (approval) => {
    expect(faultsWith({ approval }).join()).toMatch(/^approval/)
  })
})

describe('what is not asked for', () => {
  test('is refused by name and never ignored', () => {
    expect(IntentDraft.safeParse(intentInput({ organiser: ada })).error?.issues[0]).toMatchObject({
      code: 'unrecognized_keys',
      keys: ['organiser'],
    })
    expect(faultsWith({ participants: [{ ...person, consent: true }] })).toEqual(['participants.0'])
  })

  test.each(['__proto__', 'constructor', 'prototype', 'toString'])(
    'leaves no trace when it is named after a part of every object: %s',
    (name) => {
      const smuggled: unknown = JSON.parse(
        JSON.stringify(intentInput()).replace(
          /^\{/,
          `{${JSON.stringify(name)}:{"timeZone":"UTC","admin":true},`,
        ),
      )
      expect(IntentDraft.safeParse(smuggled).success).toBe(false)
      expect(Reflect.get({}, 'admin')).toBeUndefined()
    },
  )

  test('is not inherited: what is absent stays absent', () => {
    const inherited: unknown = JSON.parse(
      JSON.stringify(without('approval')).replace(/^\{/, '{"__proto__":{"approval":{"type": "automatic"}},'),
    )
    const parsed = IntentDraft.safeParse(inherited)
    expect(parsed.success ? parsed.data.approval : undefined).toBeUndefined()
  })
})

describe('absent knowledge', () => {
  test('is asked for, each piece by itself, and nothing is filled in', () => {
    const draft = IntentDraft.parse({
      ...without('timeZone', 'organizer', 'approval'),
      participants: [
        { displayName: 'Ben', role: 'required', address: ben.address },
        {
          ...person,
          address: chen.address,
          workingHours: { startsAt: '09:00', endsAt: '17:00', days: [1] },
        },
      ],
    })
    expect(absencesOf(draft)).toEqual([
      { code: 'zone_missing', path: ['timeZone'] },
      { code: 'organizer_calendar_missing', path: ['organizer'] },
      { code: 'outreach_missing', path: ['participants', 0] },
      { code: 'zone_missing', path: ['participants', 1, 'timeZone'] },
      { code: 'authority_missing', path: ['approval'] },
    ])
    expect(MeetingIntent.safeParse(draft).success).toBe(false)
  })
})
