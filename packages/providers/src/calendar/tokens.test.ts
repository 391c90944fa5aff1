import type { CallContext } from '../call.ts'
import { cachedTokens } from './tokens.ts'
import type { RefreshAnswer } from './tokens.ts'

const contextOf = (overrides: Partial<CallContext> = {}): CallContext => ({
  signal: new AbortController().signal,
  timeoutMs: 2_000,
  record: () => undefined,
  ...overrides,
})

/** A refresh that answers when the test says so, before or after it was asked. */
const scriptedRefresh = () => {
  const waiting: ((answer: RefreshAnswer) => void)[] = []
  const answers: RefreshAnswer[] = []
  let asked = 0
  const match = () => {
    const [ask, answer] = [waiting[0], answers[0]]
    if (ask === undefined || answer === undefined) return
    waiting.shift()
    answers.shift()
    ask(answer)
  }
  return {
    refresh: () => {
      asked += 1
      return new Promise<RefreshAnswer>((resolve) => {
        waiting.push(resolve)
        match()
      })
    },
    answerNext: (answer: RefreshAnswer) => {
      answers.push(answer)
      match()
    },
    asked: () => asked,
  }
}
const refreshed = (accessToken: string, lifetimeMs = 3_600_000): RefreshAnswer => ({
  type: 'refreshed',
  accessToken,
  lifetimeMs,
})
const token = (accessToken: string) => ({ type: 'token', accessToken })

describe('cached tokens', () => {
  it('are handed out until a minute before they expire', async () => {
    let now = new Date('2026-03-24T10:00:00Z')
    const answers = [refreshed('first'), refreshed('second')]
    const tokens = cachedTokens(
      () => Promise.resolve(answers.shift() ?? refreshed('too many')),
      () => now,
    )
    expect(await tokens(contextOf())).toEqual(token('first'))
    now = new Date('2026-03-24T10:58:59.999Z')
    expect(await tokens(contextOf())).toEqual(token('first'))
    now = new Date('2026-03-24T10:59:00Z')
    expect(await tokens(contextOf())).toEqual(token('second'))
  })

  it('that live less than a minute serve the call they were fetched for', async () => {
    const answers = [refreshed('first', 1_000), refreshed('second', 1_000)]
    const tokens = cachedTokens(
      () => Promise.resolve(answers.shift() ?? refreshed('too many')),
      () => new Date(0),
    )
    expect(await tokens(contextOf())).toEqual(token('first'))
    expect(await tokens(contextOf())).toEqual(token('second'))
  })

  it('are refreshed once for all who ask at the same time', async () => {
    const script = scriptedRefresh()
    const tokens = cachedTokens(script.refresh, () => new Date(0))
    const asks = [tokens(contextOf()), tokens(contextOf()), tokens(contextOf())]
    script.answerNext(refreshed('shared'))
    expect(await Promise.all(asks)).toEqual([token('shared'), token('shared'), token('shared')])
    expect(script.asked()).toBe(1)
  })

  it('tell everyone who waited that the grant is gone', async () => {
    const script = scriptedRefresh()
    const tokens = cachedTokens(script.refresh, () => new Date(0))
    const asks = [tokens(contextOf()), tokens(contextOf())]
    script.answerNext({ type: 'revoked', code: 'invalid_grant' })
    const revoked = { type: 'revoked', code: 'invalid_grant' }
    expect(await Promise.all(asks)).toEqual([revoked, revoked])
  })

  it('do not let one caller’s interruption become another’s', async () => {
    const script = scriptedRefresh()
    const tokens = cachedTokens(script.refresh, () => new Date(0))
    const leader = tokens(contextOf())
    const follower = tokens(contextOf())
    script.answerNext({ type: 'unavailable', code: 'aborted' })
    expect(await leader).toEqual({ type: 'unavailable', code: 'aborted' })
    script.answerNext(refreshed('own'))
    expect(await follower).toEqual(token('own'))
    expect(script.asked()).toBe(2)
  })

  it('do not keep a caller longer than it may wait for another’s refresh', async () => {
    const script = scriptedRefresh()
    const tokens = cachedTokens(script.refresh, () => new Date(0))
    const leader = tokens(contextOf())
    const impatient = await tokens(contextOf({ timeoutMs: 20 }))
    expect(impatient).toEqual({ type: 'unavailable', code: 'deadline_exceeded' })
    script.answerNext(refreshed('late'))
    expect(await leader).toEqual(token('late'))
  })

  it('forget the token that was refused, and no other', async () => {
    const answers = [refreshed('first'), refreshed('second')]
    const tokens = cachedTokens(
      () => Promise.resolve(answers.shift() ?? refreshed('too many')),
      () => new Date(0),
    )
    await tokens(contextOf())
    tokens.forget?.('first')
    expect(await tokens(contextOf())).toEqual(token('second'))
    // Another call's late 401 for the old token must not cost the new one.
    tokens.forget?.('first')
    expect(await tokens(contextOf())).toEqual(token('second'))
  })

  it('are asked for again after a failure', async () => {
    const answers: RefreshAnswer[] = [{ type: 'unavailable', code: 'http_503' }, refreshed('second')]
    const tokens = cachedTokens(
      () => Promise.resolve(answers.shift() ?? refreshed('too many')),
      () => new Date(0),
    )
    expect(await tokens(contextOf())).toEqual({ type: 'unavailable', code: 'http_503' })
    expect(await tokens(contextOf())).toEqual(token('second'))
  })
})
