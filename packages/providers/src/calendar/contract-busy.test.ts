import type { CalendarBusy } from './calendar.ts'
import { ORGANIZER, UNREADABLE, WEEK } from './contract.testing.ts'
import { forEachCalendar } from './stage.testing.ts'

const known = (...busy: readonly (readonly [string, string])[]) => ({
  type: 'known',
  busy: busy.map(([start, end]) => ({ start: new Date(start), end: new Date(end) })),
})

forEachCalendar((subject, stage) => {
  const { readBusy, busyOf } = stage

  describe('reading free and busy', () => {
    it('merges busy times and cuts them to the window', async () => {
      await stage.scene.putPeople([
        stage.scene.person('bo@example.com', {
          busy: [
            { start: '2026-03-26T22:00:00Z', end: '2026-03-27T06:00:00Z' },
            { start: '2026-03-30T08:00:00Z', end: '2026-03-30T09:00:00Z', status: 'tentative' },
            { start: '2026-03-30T09:00:00+00:00', end: '2026-03-30T10:00:00Z', status: 'oof' },
            { start: '2026-03-30T09:30:00Z', end: '2026-03-30T09:45:00Z' },
            { start: '2026-03-31T12:00:00+02:00', end: '2026-03-31T13:00:00+02:00' },
          ],
        }),
      ])
      expect(await busyOf('bo@example.com')).toEqual(
        known(
          ['2026-03-27T00:00:00Z', '2026-03-27T06:00:00Z'],
          ['2026-03-30T08:00:00Z', '2026-03-30T10:00:00Z'],
          ['2026-03-31T10:00:00Z', '2026-03-31T11:00:00Z'],
        ),
      )
    })

    it('takes an empty busy set for what it is, known and free', async () => {
      expect(await busyOf(ORGANIZER)).toEqual(known())
    })

    it('does not count what the calendar itself shows as free', async () => {
      const at = { start: '2026-03-30T08:00:00Z', end: '2026-03-30T09:00:00Z' }
      await stage.scene.putPeople([
        stage.scene.person('bo@example.com', {
          busy: [
            { ...at, status: 'free' },
            { ...at, status: 'workingElsewhere' },
          ],
        }),
      ])
      expect(await busyOf('bo@example.com')).toEqual(known())
    })

    it.each([
      ['Europe/Berlin', '+02:00'],
      ['America/Los_Angeles', '-07:00'],
      ['Australia/Sydney', '+11:00'],
      ['Asia/Kolkata', '+05:30'],
    ])('places an all-day entry where its owner lives, in %s', async (timeZone, offset) => {
      await stage.scene.putPeople([
        stage.scene.person('bo@example.com', {
          timeZone,
          busy: [{ start: '2026-03-31', end: '2026-04-02', status: 'oof' }],
        }),
      ])
      expect(await busyOf('bo@example.com')).toEqual(
        known([`2026-03-31T00:00:00${offset}`, `2026-04-02T00:00:00${offset}`]),
      )
    })

    it('takes each occurrence of a series, by the clock before and after it changes, and none that was taken out', async () => {
      await stage.scene.putPeople([
        stage.scene.person('bo@example.com', {
          busy: [
            {
              // Nine o'clock in Berlin, from long before the window on.
              start: '2026-02-02T08:00:00Z',
              end: '2026-02-02T09:00:00Z',
              repeats: { every: 'day', until: '2026-04-01', except: ['2026-03-30'] },
            },
            {
              start: '2025-08-07T14:00:00Z',
              end: '2025-08-07T14:30:00Z',
              status: 'tentative',
              repeats: { every: 'week', until: '2026-12-31' },
            },
          ],
        }),
      ])
      expect(await busyOf('bo@example.com')).toEqual(
        known(
          ['2026-03-27T08:00:00Z', '2026-03-27T09:00:00Z'],
          ['2026-03-28T08:00:00Z', '2026-03-28T09:00:00Z'],
          ['2026-03-29T07:00:00Z', '2026-03-29T08:00:00Z'],
          ['2026-03-31T07:00:00Z', '2026-03-31T08:00:00Z'],
          ['2026-04-01T07:00:00Z', '2026-04-01T08:00:00Z'],
          ['2026-04-02T14:00:00Z', '2026-04-02T14:30:00Z'],
        ),
      )
    })

    it('takes each day of a series of whole days, where its owner lives', async () => {
      await stage.scene.putPeople([
        stage.scene.person('bo@example.com', {
          timeZone: 'America/Los_Angeles',
          busy: [
            {
              start: '2026-02-06',
              end: '2026-02-07',
              status: 'oof',
              repeats: { every: 'week', until: '2026-12-31' },
            },
          ],
        }),
      ])
      expect(await busyOf('bo@example.com')).toEqual(known(['2026-03-27T07:00:00Z', '2026-03-28T07:00:00Z']))
    })

    it.each([1, 5, 29, 30])('reads a window of %i minutes like any other', async (minutes) => {
      const start = new Date('2026-03-30T08:00:00Z')
      const window = { start, end: new Date(start.getTime() + minutes * 60_000) }
      await stage.scene.putPeople([
        stage.scene.person('bo@example.com', {
          busy: [{ start: '2026-03-30T07:00:00Z', end: '2026-03-30T12:00:00Z' }],
        }),
      ])
      expect(await busyOf('bo@example.com', window)).toEqual({ type: 'known', busy: [window] })
      expect(await busyOf(ORGANIZER, window)).toEqual(known())
    })

    it('covers either season of an owner whose zone is told by its rules alone', async () => {
      await stage.scene.putPeople([
        stage.scene.person('bo@example.com', {
          timeZone: 'Europe/Madrid',
          busy: [{ start: '2026-04-01', end: '2026-04-02' }],
        }),
      ])
      const start = '2026-03-31T22:00:00Z'
      // Google places it exactly. Outlook's rules are not worked out: the hour more is the price.
      const end = subject.provider === 'google' ? '2026-04-01T22:00:00Z' : '2026-04-01T23:00:00Z'
      expect(await busyOf('bo@example.com')).toEqual(known([start, end]))
    })

    it('counts an all-day entry that only reaches into the window from its owner’s zone', async () => {
      await stage.scene.putPeople([
        stage.scene.person('bo@example.com', {
          timeZone: 'Australia/Sydney',
          busy: [{ start: '2026-04-03', end: '2026-04-04' }],
        }),
      ])
      expect(await busyOf('bo@example.com')).toEqual(known(['2026-04-02T13:00:00Z', '2026-04-03T00:00:00Z']))
    })

    it.each(UNREADABLE)(
      'knows nothing of a calendar that is %s, and everything of the others',
      async (readable) => {
        await stage.scene.putPeople([
          stage.scene.person('bo@example.com', { readable }),
          stage.scene.person('cy@example.com', {
            busy: [{ start: '2026-03-30T08:00:00Z', end: '2026-03-30T09:00:00Z' }],
          }),
        ])
        const answer = await readBusy([ORGANIZER, 'bo@example.com', 'cy@example.com', 'nobody@example.org'])
        const busy = answer.type === 'read' ? answer.busyByAddress : new Map<string, CalendarBusy>()
        expect(busy.get(ORGANIZER)).toEqual(known())
        expect(busy.get('cy@example.com')).toEqual(known(['2026-03-30T08:00:00Z', '2026-03-30T09:00:00Z']))
        expect(busy.get('nobody@example.org')).toMatchObject({ type: 'unknown', reason: 'not_found' })
        expect(busy.get('bo@example.com')).toMatchObject({
          type: 'unknown',
          reason: subject.unknownReasons[readable],
        })
      },
    )

    it('answers under the address as it was asked, whatever its case', async () => {
      expect(await busyOf('Ada@Example.com')).toEqual(known())
    })

    it('reads a window beyond the provider’s limit in parts and joins what spans them', async () => {
      const start = new Date('2026-01-01T00:00:00Z')
      const end = new Date('2026-06-01T00:00:00Z')
      const edge = new Date(start.getTime() + subject.limits.days * 86_400_000)
      const around = [new Date(edge.getTime() - 3_600_000), new Date(edge.getTime() + 3_600_000)]
      const [from, to] = around.map((instant) => instant.toISOString())
      await stage.scene.putPeople([
        stage.scene.person('bo@example.com', {
          busy: [
            { start: from ?? '', end: to ?? '' },
            { start: '2026-05-31T23:00:00Z', end: '2026-06-01T01:00:00Z' },
          ],
        }),
      ])
      expect(await busyOf('bo@example.com', { start, end })).toEqual(
        known([from ?? '', to ?? ''], ['2026-05-31T23:00:00Z', '2026-06-01T00:00:00Z']),
      )
      expect(await stage.scene.requestsOf('busy')).toBe(3)
    })

    it('reads more people than fit one request in groups', async () => {
      const addresses = Array.from({ length: 61 }, (_, index) => `person${index}@example.com`)
      await stage.scene.putPeople(addresses.map((address) => stage.scene.person(address)))
      const answer = await readBusy(addresses)
      expect(answer.type === 'read' && [...answer.busyByAddress]).toEqual(
        addresses.map((address) => [address, known()]),
      )
      expect(await stage.scene.requestsOf('busy')).toBe(Math.ceil(61 / subject.limits.addresses))
    })

    it('fails the whole read when one part of it fails, and asks for nothing more', async () => {
      await stage.scene.breakNext('busy', { type: 'answer', status: 429, body: {} }, 1)
      const window = { start: new Date('2026-01-01T00:00:00Z'), end: new Date('2026-09-01T00:00:00Z') }
      expect(await readBusy([ORGANIZER], window)).toMatchObject({ type: 'throttled' })
      expect(await stage.scene.requestsOf('busy')).toBe(2)
    })

    it('asks nobody about nobody', async () => {
      expect(await readBusy([])).toEqual({ type: 'read', busyByAddress: new Map() })
      expect(await stage.scene.requestsOf('busy')).toBe(0)
    })

    it('refuses a window that does not end after it starts, for that is our mistake', async () => {
      const { start } = WEEK
      await expect(readBusy([ORGANIZER], { start, end: start })).rejects.toThrow(RangeError)
    })
  })
})
