import { randomBytes, randomUUID } from 'node:crypto'
import { simulatorControl, startSimulator } from '@aftercommit/simulator'
import {
  contractContext,
  contractDraft,
  FAILURES,
  ORGANIZER,
  PORT_METHODS,
  portCalls,
  WEEK,
} from './contract.testing.ts'
import type { ContractScene, PortMethod } from './contract.testing.ts'
import { forEachCalendar } from './stage.testing.ts'

const outcomeOf = (failure: { readonly type: string; readonly code: string }): string =>
  `${failure.type}:${failure.code}`

forEachCalendar((subject, stage) => {
  const { readBusy, read, cancel } = stage

  describe.each(PORT_METHODS)('every failure of %s', (method: PortMethod) => {
    const callOnce = async (context = contractContext()) => {
      const ref = await stage.scene.refTo(contractDraft())
      const before = await stage.scene.requestsOf(method)
      const answer = await portCalls(stage.scene.calendar, ref)[method](context)
      return { answer, context, requests: (await stage.scene.requestsOf(method)) - before }
    }
    /** The scene's own insert passes before the fault strikes. */
    const breakIt = (act: Parameters<ContractScene['breakNext']>[1]) =>
      stage.scene.breakNext(method, act, method === 'insert' ? 1 : 0)

    it.each([...FAILURES, ...subject.refusals])(
      'is told apart and tried once: $when',
      async ({ act, failure }) => {
        await breakIt(act)
        const { answer, context, requests } = await callOnce()
        expect(answer).toEqual(failure)
        expect(requests).toBe(1)
        expect(context.calls).toMatchObject([
          { provider: subject.provider, operation: subject.operations[method], outcome: outcomeOf(failure) },
        ])
      },
    )

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
      const ref = await stage.scene.refTo(contractDraft())
      const gone = await startSimulator()
      const token = stage.scene.refreshToken
      await simulatorControl(gone.url).putPeople([stage.scene.person(ORGANIZER, { refreshToken: token })])
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
      const ref = await stage.scene.refTo(contractDraft())
      const before = await stage.scene.requestsOf(method)
      const answer = await portCalls(stage.scene.calendar, ref)[method](
        contractContext({ signal: AbortSignal.abort() }),
      )
      expect(answer).toEqual({ type: 'not_sent', code: 'aborted' })
      expect(await stage.scene.requestsOf(method)).toBe(before)
    })

    it('is told apart: the grant is gone, and the provider is not bothered', async () => {
      const ref = await stage.scene.refTo(contractDraft())
      const before = await stage.scene.requestsOf(method)
      const calendar = subject.connect(stage.url, randomUUID())
      expect(await portCalls(calendar, ref)[method](contractContext())).toMatchObject({
        type: 'refused',
        reason: 'grant_revoked',
        code: 'invalid_grant',
      })
      expect(await stage.scene.requestsOf(method)).toBe(before)
    })
  })

  describe('the connection’s token', () => {
    it('is fetched once for many calls at once', async () => {
      await Promise.all(Array.from({ length: 5 }, () => readBusy([ORGANIZER])))
      expect(await stage.scene.requestsOf('token')).toBe(1)
      expect(await stage.scene.requestsOf('busy')).toBe(5)
    })

    it('is fetched anew after the provider refused it', async () => {
      await readBusy([ORGANIZER])
      await stage.scene.breakNext('busy', { type: 'answer', status: 401, body: {} })
      expect(await readBusy([ORGANIZER])).toMatchObject({ type: 'refused', reason: 'unauthenticated' })
      expect(await readBusy([ORGANIZER])).toMatchObject({ type: 'read' })
      expect(await stage.scene.requestsOf('token')).toBe(2)
    })

    it('is seen to be revoked on the call after the provider refused it', async () => {
      await readBusy([ORGANIZER])
      await stage.scene.putPeople([stage.scene.person(ORGANIZER, { refreshToken: null })])
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
        await stage.scene.breakNext('token', act)
        expect(await readBusy([ORGANIZER])).toMatchObject(failure)
        expect(await stage.scene.requestsOf('token')).toBe(1)
        expect(await stage.scene.requestsOf('busy')).toBe(0)
        expect(await readBusy([ORGANIZER])).toMatchObject({ type: 'read' })
      },
    )
  })

  it('sends the trace it belongs to with every exchange, and none when there is none', async () => {
    const traceParent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`
    const callAll = async (context: ReturnType<typeof contractContext>) => {
      const ref = await stage.scene.refTo(contractDraft())
      const before = (await stage.scene.control.readRequests()).length
      const calls = portCalls(subject.connect(stage.url, stage.scene.refreshToken), ref)
      for (const method of PORT_METHODS) await calls[method](context)
      const requests = await stage.scene.control.readRequests()
      return requests.slice(before).map(({ traceparent }) => traceparent)
    }
    // Every method, and the token before the first.
    expect(await callAll(contractContext({ traceParent }))).toEqual(
      Array(PORT_METHODS.length + 1).fill(traceParent),
    )
    expect(await callAll(contractContext())).toEqual(Array(PORT_METHODS.length + 1).fill(undefined))
  })

  it('notes every exchange once, and nothing that names a person', async () => {
    const context = contractContext()
    const { eventId } = await stage.scene.written(contractDraft())
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
