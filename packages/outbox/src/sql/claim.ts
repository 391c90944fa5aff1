/** Taking rows to work on, and noting that the work begins. */
import type { Sql } from '../connection.ts'
import {
  acceptedOf,
  bigints,
  CLAIMED_COLUMNS,
  compareBigints,
  FRESH_COLUMNS,
  HELD,
  onePerRow,
  type Accepted,
  type ClaimedRow,
  type Hold,
} from './rows.ts'

const CLAIM = `
  select ${FRESH_COLUMNS} from outbox_lease(array(select outbox_pick($1, $6, $7, $8, $9)), $1, $2, $3, $4, $5) o`

const CLAIM_SOLO = `
  select ${FRESH_COLUMNS} from outbox_lease(array(
    select id from outbox
    where state = 'ready' and solo and lane = any($6) and available_at <= app_now() and action = any($1)
    order by array_position($6, lane), available_at, id limit 1 for update skip locked), $1, $2, $3, $4, $5) o`

/** On what terms rows of an action are held. */
export interface ClaimTerms {
  readonly action: string
  readonly leaseMs: number
  /** How many rows of one account may run at a time, over all replicas; unbounded when left out. */
  readonly accountConcurrencyMax?: number | undefined
  /** The claim starts the row as well: nothing lies between it and contact. */
  readonly starts?: boolean
}

/** Who claims, and which actions it knows. */
export interface Claimant {
  readonly replicaId: string
  readonly terms: readonly ClaimTerms[]
}

const claimantValues = ({ terms, replicaId }: Claimant): readonly unknown[] => [
  terms.map(({ action }) => action),
  terms.map(({ leaseMs }) => leaseMs),
  terms.map(({ accountConcurrencyMax = null }) => accountConcurrencyMax),
  terms.map(({ starts = false }) => starts),
  replicaId,
]

/** A place in a lane. */
export type Place = Pick<ClaimedRow, 'turn' | 'id'>

const FIRST_PLACE: Place = { turn: '-9223372036854775808', id: '0' }

/** Whether one place comes before another; negative if so. */
export const comparePlaces = (a: Place, b: Place): number =>
  compareBigints(a.turn, b.turn) || compareBigints(a.id, b.id)

/** What a claim found: rows to run now, and how many it paused instead, because their accounts are busy. */
export interface Claim {
  readonly rows: readonly ClaimedRow[]
  readonly paused: number
  /** The place of the last of all of them. */
  readonly last: Place | undefined
}

const claimOf = (found: readonly ClaimedRow[]): Claim => {
  const inOrder = [...found].sort(comparePlaces)
  const rows = inOrder.filter(({ state }) => state === 'leased')
  return { rows, paused: found.length - rows.length, last: inOrder.at(-1) }
}

/**
 * Takes up to `rowsMax` ready rows of one lane; see outbox_pick and outbox_lease in the migration. Run outside a
 * transaction, so that the claim is short and committed before any work begins. With `from`, rows before that place are
 * not looked at.
 */
export const claimRows = async (
  sql: Sql,
  claimant: Claimant,
  lane: string,
  rowsMax: number,
  from: Place = FIRST_PLACE,
): Promise<Claim> => {
  const values = [...claimantValues(claimant), lane, rowsMax, from.turn, from.id]
  const { rows } = await sql.query<ClaimedRow>(CLAIM, values)
  return claimOf(rows)
}

/** Tells the turn that a lane is at. It never goes back. */
export const noteLaneTurn = async (sql: Sql, lane: string, turn: bigint): Promise<void> => {
  await sql.query(
    `insert into outbox_lane as l (lane, turn) values ($1, $2)
     on conflict (lane) do update set turn = excluded.turn where l.turn < excluded.turn`,
    [lane, String(turn)],
  )
}

/**
 * Takes one row that an expired lease marked to be claimed alone, from the first of the lanes that has one, or pauses it if
 * its account is busy. It is never started by its claim: it may have been claimed only to be ended as a crash loop, and what
 * is started then has perhaps called somebody.
 */
export const claimSoloRow = async (
  sql: Sql,
  claimant: Claimant,
  lanes: readonly string[],
): Promise<Claim> => {
  const alone = { ...claimant, terms: claimant.terms.map((terms) => ({ ...terms, starts: false })) }
  const { rows } = await sql.query<ClaimedRow>(CLAIM_SOLO, [...claimantValues(alone), lanes])
  return claimOf(rows)
}

/**
 * Takes over rows whose lease ran out, under a new fence, so that whoever held them can settle nothing. The caller
 * decides what each becomes; if it dies too, the new lease runs out and the row is taken over again. The owner stays
 * the one that lost it, for the attempt record.
 */
export const takeOverLostRows = async (
  sql: Sql,
  claimant: Claimant,
  rowsMax: number,
): Promise<readonly ClaimedRow[]> => {
  const { terms } = claimant
  const { rows } = await sql.query<ClaimedRow>(
    `with lost as materialized (
       select id from outbox
       where state = 'leased' and lease_until < app_now() and action = any($1)
       order by lease_until limit $3 for update skip locked)
     update outbox o set fence = o.fence + 1, lost_leases = o.lost_leases + 1,
       lease_until = app_now() + make_interval(secs => lease.ms / 1000)
     from unnest($1::text[], $2::float8[]) as lease(action, ms)
     where o.id = any(array(select id from lost)) and lease.action = o.action
     returning ${CLAIMED_COLUMNS}`,
    [terms.map(({ action }) => action), terms.map(({ leaseMs }) => leaseMs), rowsMax],
  )
  return rows
}

/**
 * Notes, before contact, that contact may happen from now on, and counts the attempt. Answers the rows for which the
 * note was accepted: a holder whose fence moved on or whose lease ran out must not call anybody. A note whose answer
 * was lost may be made again: it counts once.
 */
export const markStarted = async (sql: Sql, holds: readonly Hold[]): Promise<Accepted> => {
  const mine = onePerRow(holds)
  const { rows } = await sql.query<Hold>(
    `update outbox o set started_at = app_now(),
       attempts = o.attempts + case when o.started_at is null then 1 else 0 end,
       budget_from = coalesce(o.budget_from, app_now()), first_started_at = coalesce(o.first_started_at, app_now())
     where ${HELD} and o.lease_until > app_now()
     returning o.id, o.fence`,
    [bigints(mine.map(({ id }) => id)), bigints(mine.map(({ fence }) => fence))],
  )
  return acceptedOf(rows)
}
