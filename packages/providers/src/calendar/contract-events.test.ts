import { randomUUID } from 'node:crypto'
import { contractContext, contractDraft, ORGANIZER } from './contract.testing.ts'
import { forEachCalendar } from './stage.testing.ts'

forEachCalendar((subject, stage) => {
  const { insert, read, update, find, cancel, liveEvents } = stage
  const isGoogle = subject.provider === 'google'

  describe('writing and reading events', () => {
    it('writes what the draft says and nothing beyond it', async () => {
      const draft = contractDraft()
      const { eventId } = await stage.scene.written(draft)
      const answer = await read(eventId)
      const { etag, icalUid } = answer.type === 'found' ? answer.event : { etag: '', icalUid: '' }
      expect([etag, icalUid]).not.toContain('')
      expect(answer).toEqual({
        type: 'found',
        event: {
          provider: subject.provider,
          calendarAddress: ORGANIZER,
          eventId,
          etag,
          icalUid,
          status: 'confirmed',
          title: draft.title,
          start: draft.start,
          end: draft.end,
          timeZone: isGoogle ? 'Europe/Berlin' : 'UTC',
          attendees: [
            { address: 'bo@example.com', role: 'required', response: 'needs_action', organizer: false },
            { address: 'cy@example.com', role: 'optional', response: 'needs_action', organizer: false },
          ],
          location: 'Hall 3',
          conference: 'none',
          conferenceUrl: undefined,
          visibility: 'default',
          operationId: draft.operationId,
        },
      })
    })

    it('brings a conference that was asked for, and none that was not', async () => {
      const { eventId } = await stage.scene.written(contractDraft({ conference: true, location: undefined }))
      const at = isGoogle ? /^https:\/\/meet\.google\.com\// : /^https:\/\/teams\.microsoft\.com\//
      expect(await read(eventId)).toMatchObject({
        event: {
          conference: 'ready',
          conferenceUrl: expect.stringMatching(at) as unknown,
          location: undefined,
        },
      })
    })

    it('shows that a conference was asked for where there can be none', async () => {
      await stage.scene.putPeople([
        stage.scene.person(ORGANIZER, { refreshToken: stage.scene.refreshToken, onlineMeetings: false }),
      ])
      const { eventId } = await stage.scene.written(contractDraft({ conference: true }))
      const conference = isGoogle ? 'failed' : 'none'
      expect(await read(eventId)).toMatchObject({ event: { conference, conferenceUrl: undefined } })
    })

    it('writes one event however often one draft is sent', async () => {
      const draft = contractDraft()
      const { eventId } = await stage.scene.written(draft)
      const again = await insert(draft)
      const sameEvent = again.type === 'written' ? again.event.eventId : 'eventId' in again && again.eventId
      expect(sameEvent).toBe(eventId)
      expect(await stage.scene.createdEvents()).toBe(1)
    })

    it.each([
      'Europe/Madrid',
      'America/Argentina/Ushuaia',
      'Asia/Kathmandu',
      'Australia/Lord_Howe',
      'Antarctica/Troll',
    ])(
      'writes and moves an event of the zone %s, which Graph does not name, at its instants',
      async (timeZone) => {
        const draft = contractDraft({ timeZone })
        const event = await stage.scene.written(draft)
        expect(event).toMatchObject({ start: draft.start, end: draft.end })
        const later = { start: new Date('2026-10-25T00:30:00Z'), end: new Date('2026-10-25T01:30:00Z') }
        expect(await update(event, { ...draft, ...later }, event.etag)).toMatchObject({ type: 'written' })
        expect(await read(event.eventId)).toMatchObject({ type: 'found', event: later })
        expect(await stage.scene.control.readEvents(ORGANIZER)).toMatchObject([
          { start: later.start.toISOString(), end: later.end.toISOString() },
        ])
      },
    )

    it('shows what people did to the event since', async () => {
      const { eventId } = await stage.scene.written(contractDraft())
      const moved = { start: '2026-03-29T10:00:00Z', end: '2026-03-29T11:00:00Z' }
      await stage.scene.control.actOnEvent(eventId, { type: 'move', ...moved })
      await stage.scene.control.actOnEvent(eventId, {
        type: 'respond',
        address: 'bo@example.com',
        response: 'declined',
      })
      await stage.scene.control.actOnEvent(eventId, { type: 'add_attendee', address: 'eve@example.com' })
      await stage.scene.control.actOnEvent(eventId, { type: 'rename', title: 'Party' })
      await stage.scene.control.actOnEvent(eventId, { type: 'set_location', location: null })
      expect(await read(eventId)).toMatchObject({
        event: {
          title: 'Party',
          location: undefined,
          start: new Date(moved.start),
          end: new Date(moved.end),
          attendees: [
            { address: 'bo@example.com', response: 'declined' },
            { address: 'cy@example.com', response: 'needs_action' },
            { address: 'eve@example.com', response: 'needs_action' },
          ],
        },
      })
    })

    it('shows an event that a person deleted as gone, and at Google also that it came back', async () => {
      const draft = contractDraft()
      const { eventId } = await stage.scene.written(draft)
      await stage.scene.control.actOnEvent(eventId, { type: 'delete' })
      if (isGoogle) {
        expect(await read(eventId)).toMatchObject({ type: 'found', event: { status: 'cancelled' } })
        await stage.scene.control.actOnEvent(eventId, { type: 'restore' })
        const { operationId } = draft
        expect(await read(eventId)).toMatchObject({ event: { status: 'confirmed', operationId } })
      } else {
        expect(await read(eventId)).toEqual({ type: 'not_found' })
      }
    })

    it('answers not found for an event that never was, and for one that is not visible yet', async () => {
      expect(await read('neverwas')).toEqual({ type: 'not_found' })
      await stage.scene.control.setConsistency({ provider: subject.provider, readsMissFor: 1 })
      const { eventId } = await stage.scene.written(contractDraft())
      expect(await read(eventId)).toEqual({ type: 'not_found' })
      expect(await read(eventId)).toMatchObject({ type: 'found' })
    })
  })

  describe('finding events by our identity', () => {
    it('finds them over empty pages and past everybody else’s events', async () => {
      const draft = contractDraft()
      for (let other = 0; other < 3; other += 1) await stage.scene.written(contractDraft())
      const { eventId } = await stage.scene.written(draft)
      await stage.scene.control.setPaging({ provider: subject.provider, scannedPerPage: 1 })
      expect(await find(draft.operationId)).toMatchObject({
        type: 'read',
        events: [{ eventId, operationId: draft.operationId }],
      })
      expect(await stage.scene.requestsOf('list')).toBe(4)
    })

    it('finds none for an identity that wrote nothing', async () => {
      await stage.scene.written(contractDraft())
      expect(await find(randomUUID())).toEqual({ type: 'read', events: [] })
    })

    it('finds the events of all epochs of one operation', async () => {
      const draft = contractDraft()
      const first = await stage.scene.written(draft)
      expect(await cancel(first.eventId)).toEqual({ type: 'cancelled' })
      const second = await stage.scene.written({ ...draft, epoch: 1 })
      expect(second.eventId).not.toBe(first.eventId)
      expect((await liveEvents(draft.operationId)).map(({ eventId }) => eventId)).toEqual([second.eventId])
    })
  })

  it('is known by the id that its provider answered or listed, and our own names open nothing', async () => {
    const draft = contractDraft()
    const written = await stage.scene.written(draft)
    const found = await liveEvents(draft.operationId)
    expect(found.map(({ eventId }) => eventId)).toEqual([written.eventId])
    for (const own of [draft.operationId, draft.operationId.replaceAll('-', ''), written.icalUid]) {
      expect(await read(own)).toEqual({ type: 'not_found' })
      expect(await update({ eventId: own }, { ...draft, title: 'Party' }, undefined)).toEqual({
        type: 'not_found',
      })
      expect(await cancel(own)).toEqual({ type: 'already_gone' })
    }
    expect(await read(written.eventId)).toMatchObject({ event: { title: draft.title, status: 'confirmed' } })
    expect(await update(written, { ...draft, title: 'Party' }, undefined)).toMatchObject({ type: 'written' })
    expect(await cancel(written.eventId)).toEqual({ type: 'cancelled' })
    expect(await liveEvents(draft.operationId)).toEqual([])
  })

  describe('cancelling', () => {
    it('cancels once and finds the event gone afterwards', async () => {
      const draft = contractDraft()
      const { eventId } = await stage.scene.written(draft)
      expect(await cancel(eventId)).toEqual({ type: 'cancelled' })
      expect(await cancel(eventId)).toEqual({ type: 'already_gone' })
      expect(await liveEvents(draft.operationId)).toEqual([])
    })

    it('counts an event that a person deleted as already gone', async () => {
      const { eventId } = await stage.scene.written(contractDraft())
      await stage.scene.control.actOnEvent(eventId, { type: 'delete' })
      expect(await cancel(eventId)).toEqual({ type: 'already_gone' })
    })

    it('does not know whether it cancelled when the answer is lost, and a second try tells', async () => {
      const { eventId } = await stage.scene.written(contractDraft())
      await stage.scene.breakNext('cancel', { type: 'drop', when: 'after_effect' })
      expect(await cancel(eventId)).toMatchObject({ type: 'uncertain' })
      expect(await cancel(eventId)).toEqual({ type: 'already_gone' })
    })

    it('cancels at a second try when the first never arrived', async () => {
      const draft = contractDraft()
      const { eventId } = await stage.scene.written(draft)
      await stage.scene.breakNext('cancel', { type: 'drop', when: 'before_effect' })
      expect(await cancel(eventId)).toMatchObject({ type: 'uncertain' })
      expect(await liveEvents(draft.operationId)).toHaveLength(1)
      expect(await cancel(eventId)).toEqual({ type: 'cancelled' })
    })

    it('names no etag, so that what people did to the event since does not keep it', async () => {
      const draft = contractDraft()
      const { eventId } = await stage.scene.written(draft)
      await stage.scene.control.actOnEvent(eventId, { type: 'rename', title: 'Party' })
      expect(await cancel(eventId)).toEqual({ type: 'cancelled' })
      expect(await liveEvents(draft.operationId)).toEqual([])
    })

    it('takes a page of HTML for no answer at all', async () => {
      const { eventId } = await stage.scene.written(contractDraft())
      await stage.scene.breakNext('cancel', { type: 'html' })
      expect(await cancel(eventId)).toMatchObject({ type: 'malformed' })
    })
  })

  describe('a write whose answer is lost', () => {
    it.each([
      ['dropped after the effect', { type: 'drop', when: 'after_effect' }, 'uncertain'],
      ['cut in half', { type: 'truncate' }, 'uncertain'],
      ['replaced by a page of HTML', { type: 'html' }, 'malformed'],
    ] as const)('is %s, and one event is found', async (_how, act, type) => {
      const draft = contractDraft()
      await stage.scene.breakNext('insert', act)
      expect(await insert(draft)).toMatchObject({ type })
      expect(await stage.scene.requestsOf('insert')).toBe(1)
      expect(await liveEvents(draft.operationId)).toHaveLength(1)
      expect(await stage.scene.createdEvents()).toBe(1)
    })

    it('is dropped before the effect, and none is found', async () => {
      const draft = contractDraft()
      await stage.scene.breakNext('insert', { type: 'drop', when: 'before_effect' })
      expect(await insert(draft)).toMatchObject({ type: 'uncertain' })
      expect(await liveEvents(draft.operationId)).toEqual([])
      expect(await insert(draft)).toMatchObject({ type: 'written' })
    })

    it('is given up at the deadline, and one event is found', async () => {
      const draft = contractDraft()
      await stage.scene.breakNext('insert', { type: 'hold', when: 'after_effect' })
      expect(await insert(draft, contractContext({ timeoutMs: 150 }))).toEqual({
        type: 'uncertain',
        code: 'deadline_exceeded',
      })
      expect(await liveEvents(draft.operationId)).toHaveLength(1)
    })

    it('is interrupted by us, which is not the provider’s failure', async () => {
      const stopping = new AbortController()
      const draft = contractDraft()
      const fault = await stage.scene.breakNext('insert', { type: 'hold', when: 'after_effect' })
      const answer = insert(draft, contractContext({ signal: stopping.signal }))
      await stage.scene.control.waitForFault(fault.id)
      stopping.abort()
      expect(await answer).toEqual({ type: 'uncertain', code: 'aborted' })
      expect(await liveEvents(draft.operationId)).toHaveLength(1)
    })
  })

  it('an attendee whose address is refused is told by Google as such, and by Microsoft in words that prove nothing', async () => {
    const attendees = [{ address: 'bo@bad.invalid', displayName: 'Bo', role: 'required' }] as const
    const draft = contractDraft({ attendees })
    if (isGoogle) {
      expect(await insert(draft)).toEqual({
        type: 'refused',
        reason: 'invalid_attendee',
        code: 'invalid',
        status: 400,
      })
      expect(await liveEvents(draft.operationId)).toEqual([])
    } else {
      expect(await insert(draft)).toEqual({
        type: 'uncertain',
        code: 'ErrorInvalidRecipients',
        claimed: 'invalid_attendee',
      })
      expect(await liveEvents(draft.operationId)).toHaveLength(1)
    }
  })
})
