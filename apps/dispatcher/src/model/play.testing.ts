/** One run: the real system around one tenant, and what the model knows of what people and providers did. */
import type { Engine } from '@aftercommit/outbox/engine'
import { routesOf } from '@aftercommit/api'
import { newSealingKey, sealingOf } from '@aftercommit/platform/sealing'
import type { SimulatorControl } from '@aftercommit/simulator'
import type { TestDatabase } from '@aftercommit/testing'
import type { Response, Test } from 'supertest'
import { z } from 'zod'
import type { Client, ConnectedPerson, SchedulingWorld } from '../scheduling-world.testing.ts'
import { cast, firstMonday, names, type Name, type Organizer } from './cast.testing.ts'
import { look, type Seen } from './seen.testing.ts'

export interface KnownMeeting {
  readonly number: number
  readonly id: string
  readonly organizer: Organizer
  /** Who approves; nobody when approval is automatic. */
  readonly approver: string | undefined
  /** Who takes part by everything that was agreed to, by address. */
  readonly roles: Map<string, 'required' | 'optional'>
  /** When it is to be: days from the run's beginning on, and the hours of each. */
  window: { readonly day: number; readonly days: number; readonly from: string; readonly to: string }
  /** What somebody allowed to be written to people; nothing until it was told. */
  outreach: { readonly messagesMax: number; readonly spacingHours: number } | undefined
  /** Raised when people are asked anew by somebody's word. */
  asking: number
  /** Somebody with the right to do so cancelled it, and nobody chose otherwise since. */
  isCancelled: boolean
  /** Copies of its event that were put there by no action of ours, and that nobody had taken away since. */
  planted: number
  /** A write of it stood still on its way, and may have its effect after it was given up. */
  mayComeLate: boolean
  /** Somebody chose that the event stands whatever has come into the slot. */
  isRestored: boolean
  /** Somebody chose that the meeting stands, whatever has become of its event. */
  isKept: boolean
  /** After which effect a person last chose how it goes on. */
  chosenAfter: number
  /** The turn in which somebody agreed to other people. */
  peopleChangedIn: number | undefined
  /** Who took part when the meeting was confirmed last, and by which proposal. */
  booked:
    { readonly proposalId: string; readonly roles: ReadonlyMap<string, 'required' | 'optional'> } | undefined
  /** The booking that stands while its change is sought. */
  kept: Kept | undefined
}

export interface Kept {
  readonly eventId: string
  readonly start: string
  /** The turn in which the change was asked for, and how often the meeting had been approved by then. */
  readonly turn: number
  readonly approvals: number
}

/** A mail that arrived, with the time that the database had then. */
export interface Arrived {
  readonly sequence: number
  readonly to: string
  readonly messageId: string
  readonly at: Date
  readonly askingByMeeting: ReadonlyMap<string, number>
}

export interface Knowledge {
  readonly meetings: KnownMeeting[]
  /** By address: after which effect nobody may write to them any more. */
  readonly refusals: Map<string, number>
  /** By participant: after which effect they may not be asked any more, for they have told. */
  readonly answers: Map<string, { readonly meetingId: string; readonly sequence: number }>
  /** By participant: after which effect somebody else has their place. */
  readonly replaced: Map<string, number>
  /** By event: the turn in which a person last laid hands on it, and when that was. */
  readonly touched: Map<string, { readonly turn: number; readonly at: Date }>
  /** By proposal: the turn in which its proof was first seen as it is. */
  readonly proved: Map<string, { readonly verifiedAt: string; readonly turn: number }>
  readonly busy: {
    readonly address: string
    readonly start: Date
    readonly end: Date
    readonly turn: number
  }[]
  readonly mails: Arrived[]
}

/** A broken promise, by the name of its invariant. */
export class Broken extends Error {
  constructor(invariant: string, what: string) {
    super(`${invariant}: ${what}`)
    this.name = 'Broken'
  }
}

export interface Play {
  readonly world: SchedulingWorld
  readonly database: TestDatabase
  readonly control: SimulatorControl
  readonly client: Client
  readonly startedAt: Date
  readonly people: Map<Name, ConnectedPerson>
  readonly known: Knowledge
  dispatcher: Engine
  seen: Seen
  /** Counts the steps of the run. */
  turn: number
  /** What was done, a line per step. */
  readonly story: string[]
  post(path: string, body: unknown): Promise<Response>
  get(path: string): Promise<Response>
  /** A page or its form: any answer but one that says that we are at fault. */
  page(test: Test): Promise<Response>
  advance(ms: number): Promise<void>
  /** Notes the mails that have arrived since, at the time at which that was seen. */
  noteMails(seen: Pick<Seen, 'ledger' | 'now'>): void
  putPerson(name: Name, change: Partial<ConnectedPerson>): Promise<void>
}

const routes = routesOf({ seal: sealingOf(newSealingKey('model')).seal })
const Problem = z.object({ type: z.string() })
/** What every route may answer to a request that is not in order. */
const everywhere: readonly string[] = ['malformed-input', 'not-found']

const mustBeDeclared = (method: string, path: string, answer: Response): Response => {
  const [address = ''] = path.split('?')
  const route = routes.find(
    (each) =>
      each.method === method && new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(address),
  )
  const told = `${method} ${route?.path ?? path} answered ${answer.status}: ${answer.text}`
  if (!route || answer.status >= 500) throw new Broken('declared_answers', told)
  if (answer.status < 300) {
    const declared = [route.answer.status, route.answer.again?.status]
    if (!declared.includes(answer.status) || !route.answer.schema.safeParse(answer.body).success) {
      throw new Broken('declared_answers', told)
    }
    return answer
  }
  const problem = Problem.safeParse(JSON.parse(answer.text)).data?.type.replace('/problems/', '') ?? ''
  if (![...route.problems, ...everywhere].includes(problem)) throw new Broken('declared_answers', told)
  return answer
}

/** An empty world, an empty database, Monday morning: no run knows of another. */
export const raiseCurtain = async (world: SchedulingWorld, database: TestDatabase): Promise<Play> => {
  const { control } = world
  const startedAt = firstMonday(new Date())
  await Promise.all([control.reset(), empty(database)])
  await setClock(database, startedAt)
  const client = await world.createClient()
  // The database's clock is moved on, and a receiver that checks signatures checks their time as well.
  await control.putWebhookSettings(client.webhookName, { secret: null })
  const people = new Map(
    await Promise.all(
      names.map(async (name): Promise<[Name, ConnectedPerson]> => [
        name,
        await client.connectPerson(cast[name]),
      ]),
    ),
  )
  return playOf({ world, database, client, startedAt, people, seen: await look(database, control) })
}

type Parts = Pick<Play, 'world' | 'database' | 'client' | 'startedAt' | 'people' | 'seen'>

const playOf = (parts: Parts): Play => {
  const { world, database, client, people } = parts
  const { control } = world
  const known: Knowledge = {
    meetings: [],
    refusals: new Map(),
    answers: new Map(),
    replaced: new Map(),
    touched: new Map(),
    proved: new Map(),
    busy: [],
    mails: [],
  }
  const play: Play = {
    ...parts,
    control,
    known,
    dispatcher: world.createDispatcher(),
    turn: 0,
    story: [],
    post: async (path, body) => mustBeDeclared('post', path, await client.post(path, body)),
    get: async (path) => mustBeDeclared('get', path, await client.get(path)),
    page: async (test) => {
      const answer = await test
      if (answer.status >= 500) throw new Broken('declared_answers', `a page answered ${answer.status}`)
      return answer
    },
    advance: async (ms) => {
      const [ledger, { rows }] = await Promise.all([
        control.readLedger(),
        database.owner.query<{ now: Date }>('select app_now() as now'),
      ])
      play.noteMails({ ledger, now: rows[0]?.now ?? new Date(0) })
      await database.advanceClock(ms)
    },
    noteMails: (seen) => noteMails(known, seen),
    putPerson: async (name, change) => {
      const before = people.get(name)
      if (!before) throw new Error(`nobody is called ${name}`)
      const next = { ...before, ...change }
      people.set(name, next)
      const { connectionId: _, ...person } = next
      await control.putPeople([person])
    },
  }
  return play
}

const noteMails = (known: Knowledge, { ledger, now: at }: Pick<Seen, 'ledger' | 'now'>): void => {
  const last = known.mails.at(-1)?.sequence ?? 0
  const askingByMeeting = new Map(known.meetings.map(({ id, asking }) => [id, asking]))
  for (const { effect, sequence, to, messageId } of ledger) {
    if (effect !== 'mail_received' || sequence <= last) continue
    known.mails.push({
      sequence,
      to: to ?? '',
      messageId: (messageId ?? '').replace(/^<|@.*$/g, ''),
      at,
      askingByMeeting,
    })
  }
}

const setClock = async ({ owner }: TestDatabase, at: Date): Promise<void> => {
  await owner.query('update test_clock set offset_ms = extract(epoch from $1::timestamptz - now()) * 1000', [
    at.toISOString(),
  ])
}

/** Without the triggers that keep history: what is taken away here was never anybody's. */
const empty = async ({ owner }: TestDatabase): Promise<void> => {
  const { rows } = await owner.query<{ name: string }>(
    `select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname in ('tenant_id', 'replica_id', 'account'))`,
  )
  const client = await owner.connect()
  try {
    await client.query(
      `set session_replication_role = replica; ${rows.map(({ name }) => `delete from ${name}`).join('; ')};
       set session_replication_role = origin`,
    )
  } finally {
    client.release()
  }
}

export const lastSequence = ({ ledger }: Pick<Seen, 'ledger'>): number => ledger.at(-1)?.sequence ?? 0
