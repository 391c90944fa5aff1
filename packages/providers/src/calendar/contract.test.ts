import { randomUUID } from 'node:crypto'
import { simulatorControl, startSimulator } from '@aftercommit/simulator'
import type { Simulator } from '@aftercommit/simulator'
import {
  contractContext,
  contractDraft,
  contractScene,
  FAILURES,
  ORGANIZER,
  PORT_METHODS,
  portCalls,
  WEEK,
} from './contract.testing.ts'
import type { ContractScene, ContractSubject, PortMethod } from './contract.testing.ts'
import type { CalendarBusy } from './calendar.ts'
import { googleRefreshTokenSource } from './google-tokens.ts'
import { googleCalendar } from './google.ts'
import { microsoftRefreshTokenSource } from './microsoft-tokens.ts'
import { microsoftCalendar } from './microsoft.ts'

const client = { clientId: 'client', clientSecret: randomUUID() }

const google: ContractSubject = {
  provider: 'google',
  operations: {
    busy: 'freebusy.query',
    insert: 'events.insert',
    get: 'events.get',
    list: 'events.list',
    cancel: 'events.delete',
  },
  limits: { days: 60, addresses: 50 },
  connect: (url, refreshToken) =>
    googleCalendar({
      rootUrl: `${url}/google/`,
      tokens: googleRefreshTokenSource({ ...client, refreshToken, tokenUrl: `${url}/google/token` }),
    }),
}

const microsoft: ContractSubject = {
  provider: 'microsoft',
  operations: {
    busy: 'calendar.getSchedule',
    insert: 'events.create',
    get: 'events.get',
    list: 'events.list',
    cancel: 'events.cancel',
  },
  limits: { days: 58, addresses: 20 },
  connect: (url, refreshToken) =>
    microsoftCalendar({
      baseUrl: `${url}/graph/`,
      tokens: microsoftRefreshTokenSource({
        ...client,
        tenant: 'organizations',
        refreshToken,
        loginUrl: `${url}/login`,
      }),
    }),
}

const known = (...busy: readonly (readonly [string, string])[]) => ({
  type: 'known',
  busy: busy.map(([start, end]) => ({ start: new Date(start), end: new Date(end) })),
})

let simulator: Simulator
beforeAll(async () => {
  simulator = await startSimulator()
})
afterAll(() => simulator.stop())

describe.each([google, microsoft])('the $provider calendar', (subject) => {
  let scene: ContractScene
  beforeEach(async () => {
    scene = await contractScene(subject, {
      url: simulator.url,
      control: simulatorControl(simulator.url),
    })
  })

  const readBusy = (addresses: readonly string[], window = WEEK, context = contractContext()) =>
    scene.calendar.readFreeBusy({ addresses, window }, context)
  const busyOf = async (address: string, window = WEEK) => {
    const answer = await readBusy([address], window)
    return answer.type === 'read' ? answer.busyByAddress.get(address) : answer
  }
  const insert = (draft = contractDraft(), context = contractContext()) =>
    scene.calendar.insertEvent(draft, context)
  const read = (eventId: string, context = contractContext()) =>
    scene.calendar.readEvent({ calendarAddress: ORGANIZER, eventId }, context)
  const find = (operationId: string, context = contractContext()) =>
    scene.calendar.findEvents(ORGANIZER, operationId, context)
  const cancel = (eventId: string, context = contractContext()) =>
    scene.calendar.cancelEvent({ calendarAddress: ORGANIZER, eventId }, context)
  const liveEvents = async (operationId: string) => {
    const answer = await find(operationId)
    if (answer.type !== 'read') throw new Error(`the calendar could not be searched: ${answer.type}`)
    return answer.events.filter(({ status }) => status !== 'cancelled')
  }

  describe('reading free and busy', () => {
    it('merges busy times and cuts them to the window', async () => {
      await scene.putPeople([
        scene.person('bo@example.com', {
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
      await scene.putPeople([
        scene.person('bo@example.com', {
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
      await scene.putPeople([
        scene.person('bo@example.com', {
          timeZone,
          busy: [{ start: '2026-03-31', end: '2026-04-02', status: 'oof' }],
        }),
      ])
      expect(await busyOf('bo@example.com')).toEqual(
        known([`2026-03-31T00:00:00${offset}`, `2026-04-02T00:00:00${offset}`]),
      )
    })

    it('counts an all-day entry that only reaches into the window from its owner’s zone', async () => {
      await scene.putPeople([
        scene.person('bo@example.com', {
          timeZone: 'Australia/Sydney',
          busy: [{ start: '2026-04-03', end: '2026-04-04' }],
        }),
      ])
      expect(await busyOf('bo@example.com')).toEqual(known(['2026-04-02T13:00:00Z', '2026-04-03T00:00:00Z']))
    })

    it.each(['no_access', 'unknown_person', 'internal_error', 'too_many_entries', 'left_out'] as const)(
      'knows nothing of a calendar that is %s, and everything of the others',
      async (readable) => {
        await scene.putPeople([
          scene.person('bo@example.com', { readable }),
          scene.person('cy@example.com', {
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
          ...(readable === 'left_out' ? { reason: 'missing' } : {}),
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
      await scene.putPeople([
        scene.person('bo@example.com', {
          busy: [
            { start: from ?? '', end: to ?? '' },
            { start: '2026-05-31T23:00:00Z', end: '2026-06-01T01:00:00Z' },
          ],
        }),
      ])
      expect(await busyOf('bo@example.com', { start, end })).toEqual(
        known([from ?? '', to ?? ''], ['2026-05-31T23:00:00Z', '2026-06-01T00:00:00Z']),
      )
      expect(await scene.requestsOf('busy')).toBe(3)
    })

    it('reads more people than fit one request in groups', async () => {
      const addresses = Array.from({ length: 61 }, (_, index) => `person${index}@example.com`)
      await scene.putPeople(addresses.map((address) => scene.person(address)))
      const answer = await readBusy(addresses)
      expect(answer.type === 'read' && [...answer.busyByAddress]).toEqual(
        addresses.map((address) => [address, known()]),
      )
      expect(await scene.requestsOf('busy')).toBe(Math.ceil(61 / subject.limits.addresses))
    })

    it('fails the whole read when one part of it fails, and asks for nothing more', async () => {
      await scene.breakNext('busy', { type: 'answer', status: 429, body: {} }, 1)
      const window = { start: new Date('2026-01-01T00:00:00Z'), end: new Date('2026-09-01T00:00:00Z') }
      expect(await readBusy([ORGANIZER], window)).toMatchObject({ type: 'throttled' })
      expect(await scene.requestsOf('busy')).toBe(2)
    })

    it('asks nobody about nobody', async () => {
      expect(await readBusy([])).toEqual({ type: 'read', busyByAddress: new Map() })
      expect(await scene.requestsOf('busy')).toBe(0)
    })

    it('refuses a window that does not end after it starts, for that is our mistake', async () => {
      const { start } = WEEK
      await expect(readBusy([ORGANIZER], { start, end: start })).rejects.toThrow(RangeError)
    })
  })

  describe('writing and reading events', () => {
    it('writes what the draft says and nothing beyond it', async () => {
      const draft = contractDraft()
      const { eventId } = await scene.written(draft)
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
          timeZone: subject.provider === 'google' ? 'Europe/Berlin' : 'UTC',
          attendees: [
            { address: 'bo@example.com', role: 'required', response: 'needs_action', organizer: false },
            { address: 'cy@example.com', role: 'optional', response: 'needs_action', organizer: false },
          ],
          location: 'Hall 3',
          conference: 'none',
          visibility: 'default',
          operationId: draft.operationId,
        },
      })
    })

    it('brings a conference that was asked for, and none that was not', async () => {
      const { eventId } = await scene.written(contractDraft({ conference: true, location: undefined }))
      expect(await read(eventId)).toMatchObject({
        event: { conference: 'ready', location: undefined },
      })
    })

    it('shows that a conference was asked for where there can be none', async () => {
      await scene.putPeople([
        scene.person(ORGANIZER, { refreshToken: scene.refreshToken, onlineMeetings: false }),
      ])
      const { eventId } = await scene.written(contractDraft({ conference: true }))
      const conference = subject.provider === 'google' ? 'failed' : 'none'
      expect(await read(eventId)).toMatchObject({ event: { conference } })
    })

    it('writes one event however often one draft is sent', async () => {
      const draft = contractDraft()
      const { eventId } = await scene.written(draft)
      const again = await insert(draft)
      const sameEvent = again.type === 'written' ? again.event.eventId : 'eventId' in again && again.eventId
      expect(sameEvent).toBe(eventId)
      expect(await scene.createdEvents()).toBe(1)
    })

    it('shows what people did to the event since', async () => {
      const { eventId } = await scene.written(contractDraft())
      const moved = { start: '2026-03-29T10:00:00Z', end: '2026-03-29T11:00:00Z' }
      await scene.control.actOnEvent(eventId, { type: 'move', ...moved })
      await scene.control.actOnEvent(eventId, {
        type: 'respond',
        address: 'bo@example.com',
        response: 'declined',
      })
      await scene.control.actOnEvent(eventId, { type: 'add_attendee', address: 'eve@example.com' })
      expect(await read(eventId)).toMatchObject({
        event: {
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

    it('answers not found for an event that never was, and for one that is not visible yet', async () => {
      expect(await read('neverwas')).toEqual({ type: 'not_found' })
      await scene.control.setConsistency({ provider: subject.provider, readsMissFor: 1 })
      const { eventId } = await scene.written(contractDraft())
      expect(await read(eventId)).toEqual({ type: 'not_found' })
      expect(await read(eventId)).toMatchObject({ type: 'found' })
    })
  })

  describe('finding events by our identity', () => {
    it('finds them over empty pages and past everybody else’s events', async () => {
      const draft = contractDraft()
      for (let other = 0; other < 3; other += 1) await scene.written(contractDraft())
      const { eventId } = await scene.written(draft)
      await scene.control.setPaging({ provider: subject.provider, scannedPerPage: 1 })
      expect(await find(draft.operationId)).toMatchObject({
        type: 'read',
        events: [{ eventId, operationId: draft.operationId }],
      })
      expect(await scene.requestsOf('list')).toBe(4)
    })

    it('finds none for an identity that wrote nothing', async () => {
      await scene.written(contractDraft())
      expect(await find(randomUUID())).toEqual({ type: 'read', events: [] })
    })

    it('finds the events of all epochs of one operation', async () => {
      const draft = contractDraft()
      const first = await scene.written(draft)
      expect(await cancel(first.eventId)).toEqual({ type: 'cancelled' })
      const second = await scene.written({ ...draft, epoch: 1 })
      expect(second.eventId).not.toBe(first.eventId)
      expect((await liveEvents(draft.operationId)).map(({ eventId }) => eventId)).toEqual([second.eventId])
    })
  })

  describe('cancelling', () => {
    it('cancels once and finds the event gone afterwards', async () => {
      const draft = contractDraft()
      const { eventId } = await scene.written(draft)
      expect(await cancel(eventId)).toEqual({ type: 'cancelled' })
      expect(await cancel(eventId)).toEqual({ type: 'already_gone' })
      expect(await liveEvents(draft.operationId)).toEqual([])
    })

    it('counts an event that a person deleted as already gone', async () => {
      const { eventId } = await scene.written(contractDraft())
      await scene.control.actOnEvent(eventId, { type: 'delete' })
      expect(await cancel(eventId)).toEqual({ type: 'already_gone' })
    })

    it('does not know whether it cancelled when the answer is lost, and a second try tells', async () => {
      const { eventId } = await scene.written(contractDraft())
      await scene.breakNext('cancel', { type: 'drop', when: 'after_effect' })
      expect(await cancel(eventId)).toMatchObject({ type: 'uncertain' })
      expect(await cancel(eventId)).toEqual({ type: 'already_gone' })
    })

    it('takes a page of HTML for no answer at all', async () => {
      const { eventId } = await scene.written(contractDraft())
      await scene.breakNext('cancel', { type: 'html' })
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
      await scene.breakNext('insert', act)
      expect(await insert(draft)).toMatchObject({ type })
      expect(await scene.requestsOf('insert')).toBe(1)
      expect(await liveEvents(draft.operationId)).toHaveLength(1)
      expect(await scene.createdEvents()).toBe(1)
    })

    it('is dropped before the effect, and none is found', async () => {
      const draft = contractDraft()
      await scene.breakNext('insert', { type: 'drop', when: 'before_effect' })
      expect(await insert(draft)).toMatchObject({ type: 'uncertain' })
      expect(await liveEvents(draft.operationId)).toEqual([])
      expect(await insert(draft)).toMatchObject({ type: 'written' })
    })

    it('is given up at the deadline, and one event is found', async () => {
      const draft = contractDraft()
      await scene.breakNext('insert', { type: 'hold', when: 'after_effect' })
      expect(await insert(draft, contractContext({ timeoutMs: 150 }))).toEqual({
        type: 'uncertain',
        code: 'deadline_exceeded',
      })
      expect(await liveEvents(draft.operationId)).toHaveLength(1)
    })

    it('is interrupted by us, which is not the provider’s failure', async () => {
      const stopping = new AbortController()
      const draft = contractDraft()
      const fault = await scene.breakNext('insert', { type: 'hold', when: 'after_effect' })
      const answer = insert(draft, contractContext({ signal: stopping.signal }))
      await scene.control.waitForFault(fault.id)
      stopping.abort()
      expect(await answer).toEqual({ type: 'uncertain', code: 'aborted' })
      expect(await liveEvents(draft.operationId)).toHaveLength(1)
    })
  })

  describe.each(PORT_METHODS)('every failure of %s', (method: PortMethod) => {
    const callOnce = async (context = contractContext()) => {
      const ref = await scene.refTo(contractDraft())
      const before = await scene.requestsOf(method)
      const answer = await portCalls(scene.calendar, ref)[method](context)
      return { answer, context, requests: (await scene.requestsOf(method)) - before }
    }
    /** The scene's own insert passes before the fault strikes. */
    const breakIt = (act: Parameters<ContractScene['breakNext']>[1]) =>
      scene.breakNext(method, act, method === 'insert' ? 1 : 0)

    it.each(FAILURES)('is told apart and tried once: $when', async ({ act, failure }) => {
      await breakIt(act)
      const { answer, context, requests } = await callOnce()
      expect(answer).toEqual(failure)
      expect(requests).toBe(1)
      expect(context.calls).toMatchObject([
        { provider: subject.provider, operation: subject.operations[method], outcome: outcomeOf(failure) },
      ])
    })

    it('is told apart and tried once: a lost answer', async () => {
      await breakIt({ type: 'drop', when: 'before_effect' })
      const { answer, requests } = await callOnce()
      expect(answer).toMatchObject({ type: 'uncertain' })
      expect(requests).toBe(1)
    })

    it('is told apart and tried once: success that is no JSON', async () => {
      await breakIt({
        type: 'answer',
        status: 200,
        body: '{"id":"half',
        headers: { 'content-type': 'application/json' },
      })
      const { answer, requests } = await callOnce()
      expect(answer).toMatchObject({ type: 'malformed' })
      expect(requests).toBe(1)
    })

    it('is told apart: the deadline', async () => {
      await breakIt({ type: 'hold', when: 'before_effect' })
      const { answer } = await callOnce(contractContext({ timeoutMs: 100 }))
      expect(answer).toEqual({ type: 'uncertain', code: 'deadline_exceeded' })
    })

    it('is told apart: nobody listens', async () => {
      const ref = await scene.refTo(contractDraft())
      const gone = await startSimulator()
      const token = scene.refreshToken
      await simulatorControl(gone.url).putPeople([scene.person(ORGANIZER, { refreshToken: token })])
      const calendar = subject.connect(gone.url, token)
      // The token is fetched and kept while the provider is still there.
      await calendar.findEvents(ORGANIZER, randomUUID(), contractContext())
      await gone.stop()
      expect(await portCalls(calendar, ref)[method](contractContext())).toEqual({
        type: 'not_sent',
        code: 'ECONNREFUSED',
      })
    })

    it('is told apart: we were told to stop before we began', async () => {
      const ref = await scene.refTo(contractDraft())
      const before = await scene.requestsOf(method)
      const answer = await portCalls(scene.calendar, ref)[method](
        contractContext({ signal: AbortSignal.abort() }),
      )
      expect(answer).toEqual({ type: 'not_sent', code: 'aborted' })
      expect(await scene.requestsOf(method)).toBe(before)
    })

    it('is told apart: the grant is gone, and the provider is not bothered', async () => {
      const ref = await scene.refTo(contractDraft())
      const before = await scene.requestsOf(method)
      const calendar = subject.connect(simulator.url, randomUUID())
      expect(await portCalls(calendar, ref)[method](contractContext())).toMatchObject({
        type: 'refused',
        reason: 'grant_revoked',
        code: 'invalid_grant',
      })
      expect(await scene.requestsOf(method)).toBe(before)
    })
  })

  describe('the connection’s token', () => {
    it('is fetched once for many calls at once', async () => {
      await Promise.all(Array.from({ length: 5 }, () => readBusy([ORGANIZER])))
      expect(await scene.requestsOf('token')).toBe(1)
      expect(await scene.requestsOf('busy')).toBe(5)
    })

    it('is fetched anew after the provider refused it', async () => {
      await readBusy([ORGANIZER])
      await scene.breakNext('busy', { type: 'answer', status: 401, body: {} })
      expect(await readBusy([ORGANIZER])).toMatchObject({ type: 'refused', reason: 'unauthenticated' })
      expect(await readBusy([ORGANIZER])).toMatchObject({ type: 'read' })
      expect(await scene.requestsOf('token')).toBe(2)
    })

    it('is seen to be revoked on the call after the provider refused it', async () => {
      await readBusy([ORGANIZER])
      await scene.putPeople([scene.person(ORGANIZER, { refreshToken: null })])
      expect(await readBusy([ORGANIZER])).toMatchObject({ type: 'refused', reason: 'unauthenticated' })
      expect(await readBusy([ORGANIZER])).toMatchObject({ type: 'refused', reason: 'grant_revoked' })
    })

    it.each([
      ['a lost answer', { type: 'drop', when: 'before_effect' }, { type: 'not_sent' }],
      ['a 503', { type: 'answer', status: 503, body: 'busy' }, { type: 'not_sent', code: 'http_503' }],
      [
        'a 429 that says how long to wait',
        { type: 'answer', status: 429, body: {}, headers: { 'retry-after': '120' } },
        { type: 'not_sent', code: 'http_429', retryAfterMs: 120_000 },
      ],
      ['a page of HTML', { type: 'html' }, { type: 'not_sent', code: 'token_shape' }],
      [
        'a refused client secret',
        { type: 'answer', status: 401, body: { error: 'invalid_client' } },
        { type: 'not_sent', code: 'invalid_client' },
      ],
    ] as const)(
      'cannot be had: %s stops the call, is tried once, and is not remembered',
      async (_why, act, failure) => {
        await scene.breakNext('token', act)
        expect(await readBusy([ORGANIZER])).toMatchObject(failure)
        expect(await scene.requestsOf('token')).toBe(1)
        expect(await scene.requestsOf('busy')).toBe(0)
        expect(await readBusy([ORGANIZER])).toMatchObject({ type: 'read' })
      },
    )
  })

  it('notes every exchange once, and nothing that names a person', async () => {
    const context = contractContext()
    const { eventId } = await scene.written(contractDraft())
    await readBusy([ORGANIZER], WEEK, context)
    await read(eventId, context)
    await cancel(eventId, context)
    const { busy, get, cancel: cancelOperation } = subject.operations
    expect(context.calls.map(({ operation, outcome }) => [operation, outcome])).toEqual([
      [busy, 'read'],
      [get, 'found'],
      [cancelOperation, 'cancelled'],
    ])
    expect(
      context.calls.every(({ requestId, status }) => requestId !== undefined && status !== undefined),
    ).toBe(true)
    expect(JSON.stringify(context.calls)).not.toMatch(/example|Roof|Bearer/)
  })
})

const outcomeOf = (failure: { readonly type: string; readonly code: string }): string =>
  `${failure.type}:${failure.code}`

describe('an attendee whose address the provider refuses', () => {
  const attendees = [{ address: 'bo@bad.invalid', displayName: 'Bo', role: 'required' }] as const
  const sceneOf = (subject: ContractSubject) =>
    contractScene(subject, { url: simulator.url, control: simulatorControl(simulator.url) })

  it('is refused by Google, and nothing is written', async () => {
    const scene = await sceneOf(google)
    expect(await scene.calendar.insertEvent(contractDraft({ attendees }), contractContext())).toEqual({
      type: 'refused',
      reason: 'invalid_attendee',
      code: 'invalid',
      status: 400,
    })
    expect(await scene.createdEvents()).toBe(0)
  })

  it('is refused by Microsoft in words that prove nothing, for the event exists', async () => {
    const scene = await sceneOf(microsoft)
    const draft = contractDraft({ attendees })
    expect(await scene.calendar.insertEvent(draft, contractContext())).toEqual({
      type: 'uncertain',
      code: 'ErrorInvalidRecipients',
      claimed: 'invalid_attendee',
    })
    expect(await scene.calendar.findEvents(ORGANIZER, draft.operationId, contractContext())).toMatchObject({
      events: [{ operationId: draft.operationId }],
    })
  })
})
