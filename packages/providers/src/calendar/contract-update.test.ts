import { contractContext, contractDraft, ORGANIZER } from './contract.testing.ts'
import type { EventDraft, ProviderEvent } from './calendar.ts'
import { forEachCalendar } from './stage.testing.ts'

const later = { start: new Date('2026-03-31T13:00:00Z'), end: new Date('2026-03-31T14:30:00Z') }
/** A move by hand. */
const elsewhen = { start: '2026-03-30T08:00:00Z', end: '2026-03-30T09:00:00Z' }

forEachCalendar((subject, stage) => {
  const { insert, read, update, find, cancel } = stage
  const isGoogle = subject.provider === 'google'

  /** An event as its draft wrote it, with the etag under which it was last read. */
  const existing = async (
    changes: Partial<EventDraft> = {},
  ): Promise<{ readonly draft: EventDraft; readonly event: ProviderEvent }> => {
    const draft = contractDraft(changes)
    const { eventId } = await stage.scene.written(draft)
    return { draft, event: await held(eventId) }
  }
  const held = async (eventId: string): Promise<ProviderEvent> => {
    const answer = await read(eventId)
    if (answer.type !== 'found') throw new Error(`the event could not be read: ${answer.type}`)
    return answer.event
  }
  const patches = async () =>
    (await stage.scene.control.readLedger()).filter(
      ({ effect, by }) => effect === 'event_patched' && by === 'api',
    )

  describe('changing an event in place', () => {
    it('makes it hold what the draft says, and keeps what it is', async () => {
      const { draft, event } = await existing()
      const changed: EventDraft = {
        ...draft,
        ...later,
        title: 'Roof inspection, moved',
        attendees: [
          { address: 'bo@example.com', displayName: 'Bo', role: 'optional' },
          { address: 'Eve@example.com', displayName: 'Eve', role: 'required' },
        ],
        location: undefined,
      }
      const answer = await update(event, changed, event.etag)
      expect(answer).toMatchObject({ type: 'written', event: { eventId: event.eventId, ...later } })
      const after = await held(event.eventId)
      expect(after).toEqual({
        ...event,
        ...later,
        etag: after.etag,
        title: changed.title,
        attendees: [
          { address: 'bo@example.com', role: 'optional', response: 'needs_action', organizer: false },
          { address: 'eve@example.com', role: 'required', response: 'needs_action', organizer: false },
        ],
        location: undefined,
      })
      expect(after.etag).not.toBe(event.etag)
      expect(await find(draft.operationId)).toMatchObject({ events: [{ eventId: event.eventId, ...later }] })
      expect(await patches()).toMatchObject([
        {
          eventId: event.eventId,
          operationId: draft.operationId,
          attendees: ['bo@example.com', 'eve@example.com'],
          start: later.start.toISOString(),
          end: later.end.toISOString(),
        },
      ])
      expect(await stage.scene.createdEvents()).toBe(1)
    })

    it('leaves the identity of the write taken', async () => {
      const { draft, event } = await existing()
      await update(event, { ...draft, ...later }, event.etag)
      // The draft as it was first sent, from a dispatcher that knows nothing of the change.
      const again = await insert(draft)
      const sameEvent = again.type === 'written' ? again.event.eventId : 'eventId' in again && again.eventId
      expect(sameEvent).toBe(event.eventId)
      expect(await stage.scene.createdEvents()).toBe(1)
    })

    it('gives times back to an event that somebody made an all-day one', async () => {
      const { draft, event } = await existing()
      const days = { start: '2026-03-29', end: '2026-03-30' } as const
      await stage.scene.control.actOnEvent(event.eventId, { type: 'make_all_day', ...days })
      const { etag } = await held(event.eventId)
      expect(await update(event, draft, etag)).toMatchObject({ type: 'written' })
      expect(await held(event.eventId)).toMatchObject({ start: draft.start, end: draft.end })
    })

    it('says again what somebody said otherwise, and leaves alone what a draft does not speak of', async () => {
      const { draft, event } = await existing()
      const { control } = stage.scene
      await control.actOnEvent(event.eventId, { type: 'rename', title: 'Party' })
      await control.actOnEvent(event.eventId, { type: 'set_location', location: 'Pub' })
      await control.actOnEvent(event.eventId, { type: 'remove_attendee', address: 'bo@example.com' })
      await control.actOnEvent(event.eventId, { type: 'set_visibility', visibility: 'private' })
      const { etag } = await held(event.eventId)
      expect(await update(event, draft, etag)).toMatchObject({ type: 'written' })
      const after = await held(event.eventId)
      expect(after).toEqual({ ...event, etag: after.etag, visibility: 'private' })
    })

    it('carries no answer over to the new time', async () => {
      const { draft, event } = await existing()
      const yes = { type: 'respond', address: 'bo@example.com', response: 'accepted' } as const
      await stage.scene.control.actOnEvent(event.eventId, yes)
      const { etag } = await held(event.eventId)
      await update(event, { ...draft, ...later }, etag)
      // We send none. Google then holds none; what Exchange makes of it is not documented, and here it stays.
      const response = isGoogle ? 'needs_action' : 'accepted'
      expect(await held(event.eventId)).toMatchObject({ attendees: [{ response }, {}] })
    })
  })

  describe('the conference of an event that is changed', () => {
    it('stays the one that it has', async () => {
      const { draft, event } = await existing({ conference: true })
      expect(event.conferenceUrl).toMatch(/^https:\/\//)
      expect(await update(event, { ...draft, ...later }, event.etag)).toMatchObject({ type: 'written' })
      const { conference, conferenceUrl } = await held(event.eventId)
      expect([conference, conferenceUrl]).toEqual(['ready', event.conferenceUrl])
    })

    it('stays also when the draft asks for none', async () => {
      const { draft, event } = await existing({ conference: true })
      await update(event, { ...draft, ...later, conference: false }, event.etag)
      expect(await held(event.eventId)).toMatchObject({ conferenceUrl: event.conferenceUrl })
    })

    it('is made where the draft wants one and there is none', async () => {
      const { draft, event } = await existing()
      await update(event, { ...draft, conference: true }, event.etag)
      expect(await held(event.eventId)).toMatchObject({
        conference: 'ready',
        conferenceUrl: expect.stringMatching(/^https:\/\/(meet\.google|teams\.microsoft)\.com\//) as unknown,
      })
    })

    it.each([
      ['lost', { type: 'drop', when: 'before_effect' }, { type: 'not_sent' }],
      ['a page of HTML', { type: 'html' }, { type: 'not_sent', code: 'event_shape' }],
      [
        'a 429',
        { type: 'answer', status: 429, body: {}, headers: { 'retry-after': '7' } },
        { type: 'throttled', code: 'http_429', retryAfterMs: 7_000 },
      ],
      [
        'a 401',
        { type: 'answer', status: 401, body: {} },
        { type: 'refused', reason: 'unauthenticated', code: 'http_401', status: 401 },
      ],
    ] as const)(
      'is looked for first, and nothing is written when the look is %s',
      async (_how, act, failure) => {
        const { draft, event } = await existing({ conference: true })
        await stage.scene.breakNext('get', act)
        expect(await update(event, { ...draft, ...later }, event.etag)).toMatchObject(failure)
        expect(await stage.scene.requestsOf('update')).toBe(0)
      },
    )
  })

  describe('an etag', () => {
    it('that is stale keeps a change from being overwritten, and the one of today lets it be', async () => {
      const { draft, event } = await existing()
      await stage.scene.control.actOnEvent(event.eventId, { type: 'move', ...elsewhen })
      expect(await update(event, { ...draft, ...later }, event.etag)).toEqual({ type: 'stale' })
      const moved = await held(event.eventId)
      expect(moved.start).toEqual(new Date(elsewhen.start))
      expect(await patches()).toEqual([])
      expect(await update(event, { ...draft, ...later }, moved.etag)).toMatchObject({ type: 'written' })
    })

    it('is stale after an attendee’s answer too', async () => {
      const { draft, event } = await existing()
      const no = { type: 'respond', address: 'cy@example.com', response: 'declined' } as const
      await stage.scene.control.actOnEvent(event.eventId, no)
      expect(await update(event, { ...draft, ...later }, event.etag)).toEqual({ type: 'stale' })
    })

    it('that is not given overwrites', async () => {
      const { draft, event } = await existing()
      await stage.scene.control.actOnEvent(event.eventId, { type: 'move', ...elsewhen })
      expect(await update(event, draft, undefined)).toMatchObject({ type: 'written' })
      expect(await held(event.eventId)).toMatchObject({ start: draft.start })
    })

    it('that was not given cannot have been stale: such a 412 says nothing about the event', async () => {
      const { draft, event } = await existing()
      await stage.scene.breakNext('update', { type: 'answer', status: 412, body: {} })
      const code = 'http_412'
      const refused = { type: 'refused', reason: 'stale', code, status: 412 }
      expect(await update(event, draft, undefined)).toEqual(refused)
    })
  })

  describe('an event that is not there to be changed', () => {
    it('never was', async () => {
      expect(await update({ eventId: 'neverwas' }, contractDraft(), undefined)).toEqual({ type: 'not_found' })
    })

    it.each([
      ['by a person', (eventId: string) => stage.scene.control.actOnEvent(eventId, { type: 'delete' })],
      ['by us', (eventId: string) => cancel(eventId)],
    ] as const)('was deleted %s', async (_by, remove) => {
      const { draft, event } = await existing()
      await remove(event.eventId)
      expect(await update(event, { ...draft, ...later }, undefined)).toEqual({ type: 'not_found' })
      const asked = { ...draft, ...later, conference: true }
      expect(await update(event, asked, undefined)).toEqual({ type: 'not_found' })
      // Which of the two Google says first is not documented.
      const guarded = await update(event, { ...draft, ...later }, event.etag)
      expect(guarded).toEqual({ type: isGoogle ? 'stale' : 'not_found' })
      expect(await patches()).toEqual([])
    })
  })

  describe('a change whose answer is lost', () => {
    it.each([
      ['dropped after the effect', { type: 'drop', when: 'after_effect' }, 'uncertain'],
      ['cut in half', { type: 'truncate' }, 'uncertain'],
      ['replaced by a page of HTML', { type: 'html' }, 'malformed'],
    ] as const)(
      'is %s: a read shows that it was made, and a second try does not make it twice',
      async (_how, act, type) => {
        const { draft, event } = await existing()
        const changed = { ...draft, ...later }
        await stage.scene.breakNext('update', act)
        expect(await update(event, changed, event.etag)).toMatchObject({ type })
        expect(await stage.scene.requestsOf('update')).toBe(1)
        expect(await update(event, changed, event.etag)).toEqual({ type: 'stale' })
        expect(await held(event.eventId)).toMatchObject(later)
        expect(await patches()).toHaveLength(1)
      },
    )

    it('is dropped before the effect: a read shows the event as it was, and a second try makes it', async () => {
      const { draft, event } = await existing()
      await stage.scene.breakNext('update', { type: 'drop', when: 'before_effect' })
      expect(await update(event, { ...draft, ...later }, event.etag)).toMatchObject({ type: 'uncertain' })
      expect(await held(event.eventId)).toEqual(event)
      expect(await update(event, { ...draft, ...later }, event.etag)).toMatchObject({ type: 'written' })
    })

    it('is given up at the deadline, and may land afterwards', async () => {
      const { draft, event } = await existing()
      const fault = await stage.scene.breakNext('update', { type: 'hold', when: 'before_effect' })
      const answer = await update(
        event,
        { ...draft, ...later },
        event.etag,
        contractContext({ timeoutMs: 150 }),
      )
      expect(answer).toEqual({ type: 'uncertain', code: 'deadline_exceeded' })
      expect(await held(event.eventId)).toMatchObject({ start: draft.start })
      await stage.scene.control.releaseFault(fault.id)
      expect(await held(event.eventId)).toMatchObject(later)
    })
  })

  describe('a change that is refused', () => {
    it('for an attendee’s address is told by Google as such, and by Microsoft in words that prove nothing', async () => {
      const { draft, event } = await existing()
      const attendees = [{ address: 'bo@bad.invalid', displayName: 'Bo', role: 'required' }] as const
      const answer = await update(event, { ...draft, ...later, attendees }, event.etag)
      const reason = 'invalid_attendee'
      if (isGoogle) {
        expect(answer).toEqual({ type: 'refused', reason, code: 'invalid', status: 400 })
        expect(await held(event.eventId)).toEqual(event)
      } else {
        expect(answer).toEqual({ type: 'uncertain', code: 'ErrorInvalidRecipients', claimed: reason })
        expect(await held(event.eventId)).toMatchObject(later)
      }
    })

    it('because the grant covers free/busy alone changes nothing', async () => {
      const { draft, event } = await existing()
      const { refreshToken } = stage.scene
      await stage.scene.putPeople([stage.scene.person(ORGANIZER, { refreshToken, granted: 'free_busy' })])
      const code = isGoogle ? 'insufficientPermissions' : 'ErrorAccessDenied'
      const forbidden = { type: 'refused', reason: 'forbidden', code, status: 403 }
      expect(await update(event, { ...draft, ...later }, event.etag)).toEqual(forbidden)
      expect(await patches()).toEqual([])
    })

    it('as forbidden is not taken for a deletion while the event is there', async () => {
      const { draft, event } = await existing()
      const error = { code: 403, message: 'Forbidden', errors: [{ domain: 'global', reason: 'forbidden' }] }
      await stage.scene.breakNext('update', { type: 'answer', status: 403, body: { error } })
      expect(await update(event, draft, event.etag)).toMatchObject({ type: 'refused', reason: 'forbidden' })
    })
  })
})
