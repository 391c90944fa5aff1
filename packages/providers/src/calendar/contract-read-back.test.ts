import { contractContext, contractDraft, ORGANIZER } from './contract.testing.ts'
import { forEachCalendar } from './stage.testing.ts'

forEachCalendar((subject, stage) => {
  const { insert, read, update, find, cancel } = stage
  const isGoogle = subject.provider === 'google'

  describe('what is read back of an event', () => {
    it.each(['accepted', 'tentative', 'declined', 'needs_action'] as const)(
      'shows that an attendee has %s',
      async (response) => {
        const { eventId } = await stage.scene.written(contractDraft())
        const act = { type: 'respond', address: 'bo@example.com', response } as const
        await stage.scene.control.actOnEvent(eventId, act)
        expect(await read(eventId)).toMatchObject({
          event: { attendees: [{ address: 'bo@example.com', response }, { response: 'needs_action' }] },
        })
      },
    )

    it('tells the organizer from those who were invited', async () => {
      const attendees = [
        { address: ORGANIZER, displayName: 'Ada', role: 'required' },
        { address: 'bo@example.com', displayName: 'Bo', role: 'required' },
      ] as const
      const { eventId } = await stage.scene.written(contractDraft({ attendees }))
      expect(await read(eventId)).toMatchObject({
        event: {
          attendees: [
            { address: ORGANIZER, organizer: true },
            { address: 'bo@example.com', organizer: false },
          ],
        },
      })
    })

    it('has no instants once somebody made it an all-day event', async () => {
      const { eventId } = await stage.scene.written(contractDraft())
      const act = { type: 'make_all_day', start: '2026-03-29', end: '2026-03-30' } as const
      await stage.scene.control.actOnEvent(eventId, act)
      expect(await read(eventId)).toMatchObject({
        event: { status: 'confirmed', start: undefined, end: undefined },
      })
    })

    it('shows that somebody changed who may see it', async () => {
      const { eventId, visibility } = await stage.scene.written(contractDraft())
      expect(visibility).toBe('default')
      const act = { type: 'set_visibility', visibility: 'private' } as const
      await stage.scene.control.actOnEvent(eventId, act)
      expect(await read(eventId)).toMatchObject({ event: { visibility: 'private' } })
    })

    it('has an etag that changes with every change, and an identity that does not', async () => {
      const draft = contractDraft()
      const before = await stage.scene.written(draft)
      const move = { type: 'move', start: '2026-03-30T08:00:00Z', end: '2026-03-30T09:00:00Z' } as const
      await stage.scene.control.actOnEvent(before.eventId, move)
      const answer = await read(before.eventId)
      const after = answer.type === 'found' ? answer.event : undefined
      expect(after?.etag).not.toBe(before.etag)
      expect(after).toMatchObject({ icalUid: before.icalUid, operationId: draft.operationId })
    })

    it('waits for a conference that Google makes later and Microsoft at once', async () => {
      const { eventId, conference } = await stage.scene.written(contractDraft({ conference: true }))
      expect(conference).toBe(isGoogle ? 'pending' : 'ready')
      expect(await read(eventId)).toMatchObject({ event: { conference: 'ready' } })
    })

    it('has the instants of an event that somebody moved in a zone without a name', async () => {
      const draft = contractDraft()
      const event = await stage.scene.written(draft)
      const moved = { start: '2026-03-29T10:00:00Z', end: '2026-03-29T11:00:00Z' }
      // Google has names for all its zones; Outlook has this one for rules that somebody's old client brought along.
      const timeZone = isGoogle ? 'Asia/Kathmandu' : 'tzone://Microsoft/Custom'
      await stage.scene.control.actOnEvent(event.eventId, { type: 'move', ...moved, timeZone })
      expect(await read(event.eventId)).toMatchObject({
        type: 'found',
        event: { start: new Date(moved.start), end: new Date(moved.end) },
      })
      expect(await update(event, draft, undefined)).toMatchObject({
        type: 'written',
        event: { start: draft.start, end: draft.end },
      })
    })

    it('passes on the name by which Exchange tells an attendee instead of the address', async () => {
      await stage.scene.putPeople([stage.scene.person('bo@example.com', { legacyDn: true })])
      const { eventId } = await stage.scene.written(contractDraft())
      const answer = await read(eventId)
      const addresses = answer.type === 'found' ? answer.event.attendees.map(({ address }) => address) : []
      expect(addresses[0]).toMatch(isGoogle ? /^bo@example\.com$/ : /^\/o=ExchangeLabs\/ou=.+\/cn=.+-bo$/)
      expect(addresses[1]).toBe('cy@example.com')
    })
  })

  describe('an identity that is taken', () => {
    it('by an event that says something else is told as such, with the id of that event', async () => {
      const draft = contractDraft()
      const { eventId } = await stage.scene.written(draft)
      expect(await insert({ ...draft, title: 'Another' })).toEqual({ type: 'already_exists', eventId })
      expect(await read(eventId)).toMatchObject({ event: { title: draft.title } })
      expect(await stage.scene.createdEvents()).toBe(1)
    })

    it('by an event that was cancelled stays taken at Google, and the next epoch is free at both', async () => {
      const draft = contractDraft()
      const { eventId } = await stage.scene.written(draft)
      await cancel(eventId)
      if (isGoogle) {
        expect(await insert(draft)).toEqual({ type: 'already_exists', eventId })
        expect(await read(eventId)).toMatchObject({ type: 'found', event: { status: 'cancelled' } })
      } else {
        expect(await read(eventId)).toEqual({ type: 'not_found' })
      }
      expect(await insert({ ...draft, epoch: 1 })).toMatchObject({ type: 'written' })
    })

    it('by an event that no read shows yet is told as such, and the event appears later', async () => {
      const draft = contractDraft()
      await stage.scene.control.setConsistency({ provider: subject.provider, readsMissFor: 2 })
      const { eventId } = await stage.scene.written(draft)
      expect(await insert({ ...draft, title: 'Another' })).toEqual({ type: 'already_exists', eventId })
      expect(await find(draft.operationId)).toEqual({ type: 'read', events: [] })
      expect(await read(eventId)).toEqual({ type: 'not_found' })
      expect(await find(draft.operationId)).toMatchObject({ events: [{ eventId }] })
    })
  })

  it('a grant that covers free/busy alone is forbidden to write, and reads free/busy all the same', async () => {
    const { refreshToken } = stage.scene
    await stage.scene.putPeople([stage.scene.person(ORGANIZER, { refreshToken, granted: 'free_busy' })])
    const code = isGoogle ? 'insufficientPermissions' : 'ErrorAccessDenied'
    const forbidden = { type: 'refused', reason: 'forbidden', code, status: 403 }
    expect(await insert()).toEqual(forbidden)
    expect(await read('any')).toEqual(forbidden)
    expect(await cancel('any')).toEqual(forbidden)
    expect(await stage.busyOf(ORGANIZER)).toEqual({ type: 'known', busy: [] })
    expect(await stage.scene.createdEvents()).toBe(0)
  })

  it('a mailbox that is gone does not make its events absent', async () => {
    const { eventId } = await stage.scene.written(contractDraft())
    const { refreshToken } = stage.scene
    const gone = { refreshToken, readable: 'no_mailbox' } as const
    await stage.scene.putPeople([stage.scene.person(ORGANIZER, gone)])
    const answer = await read(eventId, contractContext())
    expect(answer).toMatchObject(
      isGoogle ? { type: 'found' } : { type: 'refused', reason: 'not_found', status: 404 },
    )
  })
})
