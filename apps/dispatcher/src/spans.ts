/**
 * What a dispatcher does, as spans: one per attempt, under the trace of the request that caused it, and one per call.
 * Made around handlers and transactions from outside; the engine knows nothing of it. Names, codes and counts only.
 */
import { go, type Attempt, type Outcome, type Registration } from '@aftercommit/outbox'
import type { Db, Tx } from '@aftercommit/platform/db'
import type { Span, SpanAttributes, Spans } from '@aftercommit/platform/spans'

type Handler = Registration<Tx>['handler']
type Prepare = NonNullable<Handler['prepare']>
type Envelope = Parameters<Prepare>[1]
type Settled = Parameters<NonNullable<Handler['settle']>>[2]
type Reconcile = NonNullable<Handler['reconcile']>
type Reconciled = Awaited<ReturnType<Reconcile['ask']>>

/** What an attempt carries from one step of its handler to the next. */
interface Carried {
  readonly inner: unknown
  readonly span: Span
}

/** How a transaction ended, for whoever wrote something about it into a span. */
export interface Endings {
  readonly heard: (tx: Tx, hear: (ended: Ending) => void) => void
  readonly tell: (tx: Tx, ended: Ending) => void
}
type Ending = 'committed' | 'stale' | 'rolled_back'

const endings = (): Endings => {
  const listeners = new WeakMap<Tx, (ended: Ending) => void>()
  return {
    heard: (tx, hear) => void listeners.set(tx, hear),
    tell: (tx, ended) => listeners.get(tx)?.(ended),
  }
}

export interface Traced {
  readonly db: Db
  readonly registrations: readonly Registration<Tx>[]
}

export const withSpans = (spans: Spans, { db, registrations }: Traced): Traced => {
  const ends = endings()
  return {
    db: tellingEnds(db, ends),
    registrations: registrations.map(({ action, handler }) => ({
      action,
      handler: tracedHandler(handler, attemptSpans(spans, action.name), ends),
    })),
  }
}

const tellingEnds = (db: Db, ends: Endings): Db => ({
  ...db,
  transact: async (tenantId, work) => {
    let opened: Tx | undefined
    const tell = (ended: Ending): void => {
      if (opened) ends.tell(opened, ended)
    }
    try {
      const result = await db.transact(tenantId, (tx) => {
        opened = tx
        return work(tx)
      })
      tell('committed')
      return result
    } catch (error) {
      tell(error instanceof Error && error.name === 'StaleFence' ? 'stale' : 'rolled_back')
      throw error
    }
  },
})

interface AttemptSpans {
  /** Begins the span of an attempt at an effect, or at asking about one. */
  readonly begin: (envelope: Envelope, kind: 'effect' | 'reconcile') => Span
  /** The span that is open for this row in this process. */
  readonly of: (envelope: Envelope) => Span
  readonly noteCall: (span: Span, call: Parameters<Attempt['record']>[0]) => void
}

const attemptSpans = (spans: Spans, action: string): AttemptSpans => {
  // The engine reads a row's envelope once per claim, and hands the same one to every step.
  const spanByEnvelope = new WeakMap<Envelope, Span>()
  const begin = (envelope: Envelope, kind: 'effect' | 'reconcile' | 'settle'): Span => {
    const span = spans.begin(kind === 'reconcile' ? `${action}#reconcile` : action, {
      parent: envelope.traceParent,
      kind: 'internal',
      attributes: {
        'aftercommit.action': action,
        'aftercommit.kind': kind,
        'aftercommit.row_id': envelope.id,
        'aftercommit.attempts_before': envelope.attempts,
      },
    })
    spanByEnvelope.set(envelope, span)
    return span
  }
  return {
    begin,
    // A row that ends without an attempt: its lease ran out too often, or what it followed is dead.
    of: (envelope) => spanByEnvelope.get(envelope) ?? begin(envelope, 'settle'),
    noteCall: (span, { provider, operation, startedAt, durationMs, status, outcome, requestId }) =>
      spans
        .begin(`${provider} ${operation}`, {
          parent: span.traceParent,
          kind: 'client',
          at: startedAt,
          attributes: {
            'aftercommit.provider': provider,
            'aftercommit.operation': operation,
            'aftercommit.outcome': outcome,
            'aftercommit.request_id': requestId,
            'http.response.status_code': status,
          },
        })
        .end({
          at: new Date(startedAt.getTime() + durationMs),
          failed: status === undefined || status >= 400,
        }),
  }
}

const tracedHandler = (handler: Handler, attempts: AttemptSpans, ends: Endings): Handler => {
  const { settle, reconcile } = handler
  // A handler that performs on its envelope is given it all the same; only then can its span begin.
  const read: Prepare = handler.prepare ?? ((_tx, envelope) => Promise.resolve(go(envelope)))
  return {
    prepare: async (tx, envelope) => {
      const span = attempts.begin(envelope, 'effect')
      span.event('prepare')
      const prepared = await read(tx, envelope)
      if (prepared.type !== 'go') {
        if (!settle) span.end(endOf(prepared))
        return prepared
      }
      return { type: 'go', plan: { inner: prepared.plan, span } satisfies Carried }
    },
    perform: async (plan, attempt) => {
      const { inner, span } = carriedIn(plan)
      span.event('perform')
      const outcome = await handler.perform(inner, under(span, attempt, attempts))
      span.event('performed', factsOf(outcome))
      if (!settle) span.end(endOf(outcome))
      return outcome
    },
    ...(settle && {
      settle: async (tx: Tx, envelope: Envelope, outcome: Settled, plan: unknown) => {
        const span = attempts.of(envelope)
        span.event('settle', factsOf(outcome))
        ends.heard(tx, (ended) => {
          span.event(ended)
          // What was rolled back is tried again, until the lease is over.
          if (ended !== 'rolled_back') span.end(endOf(outcome, ended))
        })
        return settle(tx, envelope, outcome, plan === undefined ? undefined : carriedIn(plan).inner)
      },
    }),
    ...(reconcile && { reconcile: tracedReconcile(reconcile, attempts) }),
  }
}

const tracedReconcile = (reconcile: Reconcile, attempts: AttemptSpans): Reconcile => ({
  load: async (tx, envelope) => {
    const span = attempts.begin(envelope, 'reconcile')
    span.event('prepare')
    return { inner: await reconcile.load(tx, envelope), span } satisfies Carried
  },
  ask: async (question, correlation, attempt) => {
    const { inner, span } = carriedIn(question)
    span.event('perform')
    const answer = await reconcile.ask(inner, correlation, under(span, attempt, attempts))
    span.event('performed', factsOf(answer))
    // The other answers settle the row in question, and end with it.
    if (answer.type !== 'found' && answer.type !== 'conflicting') span.end(endOf(answer))
    return answer
  },
})

/** Whoever is called hangs under the attempt, and so does what is recorded of the call. */
const under = (span: Span, attempt: Attempt, { noteCall }: AttemptSpans): Attempt => ({
  ...attempt,
  traceParent: span.traceParent,
  record: (call) => {
    attempt.record(call)
    noteCall(span, call)
  },
})

/** Throws for what these handlers did not make: that is a defect. */
const carriedIn = (plan: unknown): Carried => {
  if (!isCarried(plan)) throw new Error('a plan that was not prepared under a span')
  return plan
}

const isCarried = (plan: unknown): plan is Carried =>
  typeof plan === 'object' && plan !== null && 'inner' in plan && 'span' in plan

type Ended = Outcome<unknown> | Settled | Reconciled

const factsOf = (outcome: Ended): SpanAttributes => ({
  'aftercommit.outcome': outcome.type,
  'aftercommit.code': 'code' in outcome ? outcome.code : 'reason' in outcome ? outcome.reason : undefined,
  'aftercommit.failure_class': 'class' in outcome ? outcome.class : undefined,
})

const endOf = (outcome: Ended, ended: Ending = 'committed') => ({
  failed: outcome.type === 'dead' || ended === 'stale',
  attributes: { ...factsOf(outcome), ...(ended === 'stale' && { 'aftercommit.stale': true }) },
})
