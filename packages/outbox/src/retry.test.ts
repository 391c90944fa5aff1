import fc from 'fast-check'
import { failureClasses, type Outcome } from './outcome.ts'
import { backoffMs, normalise, restMs, type Budget, type Limits } from './retry.ts'

const backoff = fc.record({
  baseMs: fc.integer({ min: 1, max: 60_000 }),
  maxMs: fc.integer({ min: 1, max: 86_400_000 }),
})
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const code = fc.constantFrom('busy', 'timed_out', 'refused')
/** What a provider's header can turn into, including what it should not. */
const afterMs = fc.oneof(
  fc.double(),
  fc.integer({ min: -1_000, max: 1_000_000_000 }),
  fc.constantFrom(NaN, Infinity, -Infinity),
)

const limits: fc.Arbitrary<Limits> = fc.record({
  attemptsMax: fc.integer({ min: 1, max: 20 }),
  elapsedMaxMs: fc.integer({ min: 0, max: 604_800_000 }),
  backoff,
  repeat: fc.constantFrom('safe', 'reconcile_first', 'give_up', 'resend'),
  repairOwner: fc.constant('operations'),
  ageMaxMs: fc.integer({ min: 0, max: 1_209_600_000 }),
})
const budget: fc.Arbitrary<Budget> = fc.record({
  attempts: fc.integer({ min: 0, max: 25 }),
  elapsedMs: fc.integer({ min: 0, max: 604_800_000 }),
  ageMs: fc.integer({ min: 0, max: 1_209_600_000 }),
})
const outcome: fc.Arbitrary<Outcome<string>> = fc.oneof(
  fc.record({ type: fc.constant('done' as const), facts: fc.string() }),
  fc.record({ type: fc.constant('retry' as const), code, afterMs }, { requiredKeys: ['type', 'code'] }),
  fc.record({ type: fc.constant('throttled' as const), code, afterMs }),
  fc.record({ type: fc.constant('unknown' as const), code, correlation: fc.constant({ operationId: 'o' }) }),
  fc.record({ type: fc.constant('suppressed' as const), reason: code }),
  fc.record({ type: fc.constant('obsolete' as const), reason: code }),
  fc.record(
    {
      type: fc.constant('dead' as const),
      class: fc.constantFrom(...failureClasses),
      code,
      owner: fc.string(),
    },
    { requiredKeys: ['type', 'class', 'code'] },
  ),
)

test('a backoff lies between nothing and its ceiling, which doubles up to a maximum', () => {
  fc.assert(
    fc.property(backoff, fc.integer({ min: -5, max: 10_000 }), random, (policy, attempt, chance) => {
      const delayMs = backoffMs(policy, attempt, chance)
      const ceiling = Math.min(policy.maxMs, policy.baseMs * 2 ** Math.max(0, Math.min(attempt - 1, 30)))
      expect(Number.isInteger(delayMs)).toBe(true)
      expect(delayMs).toBeGreaterThanOrEqual(0)
      expect(delayMs).toBeLessThanOrEqual(ceiling)
    }),
  )
})

test('a backoff’s ceiling never falls from one attempt to the next', () => {
  fc.assert(
    fc.property(backoff, fc.integer({ min: 1, max: 60 }), (policy, attempt) => {
      expect(backoffMs(policy, attempt + 1, 1)).toBeGreaterThanOrEqual(backoffMs(policy, attempt, 1))
    }),
  )
})

test('a row that waits always has a whole, finite, non-negative wait, whatever the provider asked for', () => {
  fc.assert(
    fc.property(outcome, limits, budget, random, (reported, of, left, chance) => {
      const settled = normalise(reported, of, left, chance)
      if (settled.type !== 'retrying' && settled.type !== 'throttled') return
      expect(Number.isSafeInteger(settled.delayMs)).toBe(true)
      expect(settled.delayMs).toBeGreaterThanOrEqual(0)
    }),
    { numRuns: 1_000 },
  )
})

test('no row is retried past its attempts or its time', () => {
  fc.assert(
    fc.property(outcome, limits, budget, random, (reported, of, left, chance) => {
      const settled = normalise(reported, of, left, chance)
      if (settled.type !== 'retrying') return
      expect(left.attempts).toBeLessThan(of.attemptsMax)
      expect(left.elapsedMs + settled.delayMs).toBeLessThanOrEqual(of.elapsedMaxMs)
    }),
    { numRuns: 1_000 },
  )
})

test('no row is throttled past its age', () => {
  fc.assert(
    fc.property(outcome, limits, budget, random, (reported, of, left, chance) => {
      const settled = normalise(reported, of, left, chance)
      if (settled.type !== 'throttled') return
      expect(left.ageMs + settled.delayMs).toBeLessThanOrEqual(of.ageMaxMs ?? 0)
    }),
    { numRuns: 1_000 },
  )
})

test('only a failure that is transient, or unknown where that may be repeated, is retried', () => {
  fc.assert(
    fc.property(outcome, limits, budget, random, (reported, of, left, chance) => {
      if (normalise(reported, of, left, chance).type !== 'retrying') return
      const repeatable = reported.type === 'unknown' && (of.repeat === 'safe' || of.repeat === 'resend')
      expect(reported.type === 'retry' || repeatable).toBe(true)
    }),
    { numRuns: 1_000 },
  )
})

test('every death names a class, a code and an owner', () => {
  fc.assert(
    fc.property(outcome, limits, budget, random, (reported, of, left, chance) => {
      const settled = normalise(reported, of, left, chance)
      if (settled.type !== 'dead') return
      expect(failureClasses).toContain(settled.class)
      expect(settled.code).not.toBe('')
      expect(typeof settled.owner).toBe('string')
    }),
  )
})

test('what a provider asked for is honoured in full by a retry', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000_000 }), limits, random, (askedMs, of, chance) => {
      const roomy = { ...of, elapsedMaxMs: 1e9, attemptsMax: 9, backoff: { baseMs: 1_000, maxMs: 60_000 } }
      const settled = normalise(
        { type: 'retry', code: 'busy', afterMs: askedMs },
        roomy,
        { attempts: 1, elapsedMs: 0, ageMs: 0 },
        chance,
      )
      expect(settled).toMatchObject({ type: 'retrying' })
      if (settled.type === 'retrying') expect(settled.delayMs).toBeGreaterThanOrEqual(askedMs)
    }),
  )
})

test('an unknown outcome is a question exactly where one can be asked, and a death where nobody can be', () => {
  fc.assert(
    fc.property(limits, budget, random, (of, left, chance) => {
      const settled = normalise({ type: 'unknown', code: 'lost', correlation: {} }, of, left, chance)
      if (of.repeat === 'reconcile_first') expect(settled.type).toBe('unknown')
      else if (of.repeat === 'give_up') expect(settled).toMatchObject({ type: 'dead', class: 'uncertain' })
      else expect(['retrying', 'dead']).toContain(settled.type)
    }),
  )
})

test('a throttled account rests for a while and for a day at most', () => {
  fc.assert(
    fc.property(afterMs, backoff, (askedMs, policy) => {
      const delayMs = restMs(askedMs, policy)
      expect(delayMs).toBeGreaterThanOrEqual(1)
      expect(delayMs).toBeLessThanOrEqual(24 * 60 * 60_000)
    }),
  )
})
