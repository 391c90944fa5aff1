import { busyOfSchedules, Schedules } from './microsoft-busy.ts'

describe('a schedule', () => {
  const busyOf = (entry: Record<string, unknown>) =>
    busyOfSchedules(
      ['bo@example.com'],
      Schedules.parse({ value: [{ scheduleId: 'Bo@Example.com', ...entry }] }),
    ).get('bo@example.com')
  const item = (status: string, start: string, end: string) => ({
    status,
    start: { dateTime: `${start}.0000000`, timeZone: 'UTC' },
    end: { dateTime: `${end}.0000000`, timeZone: 'UTC' },
  })
  const known = (start: string, end: string) => ({
    type: 'known',
    busy: [{ start: new Date(start), end: new Date(end) }],
  })

  it.each([
    ['an error', { error: { responseCode: '5009' } }, { reason: 'not_found', code: '5009' }],
    [
      'an error beside its items',
      { error: { responseCode: '5006' }, scheduleItems: [] },
      { reason: 'too_many_entries' },
    ],
    [
      'an error without a code',
      { error: { message: 'for bo@example.com' } },
      { reason: 'other', code: 'other' },
    ],
    ['no items', {}, { reason: 'other' }],
    ['null for items', { scheduleItems: null }, { reason: 'other' }],
    ['an item without a status', { scheduleItems: [{}] }, { reason: 'other' }],
  ])('with %s is unknown', (_what, entry, unknown) => {
    expect(busyOf(entry)).toMatchObject({ type: 'unknown', ...unknown })
  })

  it('counts statuses in any case, and one that is unknown as busy', () => {
    const scheduleItems = [
      item('Free', '2026-03-30T06:00:00', '2026-03-30T07:00:00'),
      item('WorkingElsewhere', '2026-03-30T07:00:00', '2026-03-30T08:00:00'),
      item('unknown', '2026-03-30T08:00:00', '2026-03-30T09:00:00'),
    ]
    expect(busyOf({ error: null, scheduleItems })).toEqual(
      known('2026-03-30T08:00:00Z', '2026-03-30T09:00:00Z'),
    )
  })

  it.each([
    ['a Windows name', { name: 'Pacific Standard Time' }, '2026-03-31T07:00:00Z', '2026-04-01T07:00:00Z'],
    ['an IANA name', { name: 'Europe/Berlin' }, '2026-03-30T22:00:00Z', '2026-03-31T22:00:00Z'],
    ['UTC', { name: 'UTC' }, '2026-03-31T00:00:00Z', '2026-04-01T00:00:00Z'],
    [
      'a custom zone’s rules, in either of its seasons',
      { name: 'Customized Time Zone', bias: 480, daylightOffset: { daylightBias: -60 } },
      '2026-03-31T07:00:00Z',
      '2026-04-01T08:00:00Z',
    ],
    ['no zone, anywhere on earth', undefined, '2026-03-30T10:00:00Z', '2026-04-01T12:00:00Z'],
    [
      'a name nobody knows, anywhere on earth',
      { name: 'Customized' },
      '2026-03-30T10:00:00Z',
      '2026-04-01T12:00:00Z',
    ],
  ])('places an all-day item by %s', (_what, timeZone, start, end) => {
    const scheduleItems = [item('oof', '2026-03-31T00:00:00', '2026-04-01T00:00:00')]
    expect(busyOf({ scheduleItems, workingHours: { timeZone } })).toEqual(known(start, end))
  })

  it('leaves an item alone that only begins at midnight', () => {
    const scheduleItems = [item('busy', '2026-03-31T00:00:00', '2026-03-31T01:00:00')]
    expect(busyOf({ scheduleItems, workingHours: { timeZone: { name: 'Tokyo Standard Time' } } })).toEqual(
      known('2026-03-31T00:00:00Z', '2026-03-31T01:00:00Z'),
    )
  })
})
