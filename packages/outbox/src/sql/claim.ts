/** Taking rows to work on, and noting that the work begins. */
import type { Sql } from '../connection.ts'
import { acceptedOf, CLAIMED_COLUMNS, onePerRow, type Accepted, type ClaimedRow, type Hold } from './rows.ts'

const CLAIM = `select ${CLAIMED_COLUMNS} from outbox_claim($1, $2, $3, $4, $5, $6, $7) o`

const CLAIM_SOLO = `
  with picked as materialized (
    select id from outbox
    where state = 'ready' and solo and lane = any($4) and available_at <= app_now() and action = any($1)
    order by array_position($4, lane), available_at, id limit 1 for update skip locked)
  update outbox o set state = 'leased', fence = o.fence + 1, claims = o.claims + 1, lease_owner = $3,
    lease_until = app_now() + make_interval(secs => lease.ms / 1000), claimed_at = app_now(), started_at = null
  from unnest($1::text[], $2::float8[]) as lease(action, ms)
  where o.id = any(array(select id from picked)) and lease.action = o.action
  returning ${CLAIMED_COLUMNS}`

/** Who claims, what it knows, and for how long it may hold a row of each kind. */
export interface Claimant {
  readonly replicaId: string
  readonly leases: readonly { readonly action: string; readonly leaseMs: number }[]
}

const claimantValues = ({ leases, replicaId }: Claimant): readonly [string[], number[], string] => [
  leases.map((lease) => lease.action),
  leases.map((lease) => lease.leaseMs),
  replicaId,
]

/** A place in a lane. */
export type Place = Pick<ClaimedRow, 'turn' | 'id'>

const FIRST_PLACE: Place = { turn: '-9223372036854775808', id: '0' }

/** Whether one place comes before another; negative if so. */
export const comparePlaces = (a: Place, b: Place): number =>
  Number(BigInt(a.turn) - BigInt(b.turn)) || Number(BigInt(a.id) - BigInt(b.id))

/**
 * Takes up to `rowsMax` ready rows of one lane; see the function in the migration. Run outside a transaction, so that the claim is short and committed before any work
 * begins. With `from`, rows before that place are not looked at.
 */
export const claimRows = async (
  sql: Sql,
  claimant: Claimant,
  lane: string,
  rowsMax: number,
  from: Place = FIRST_PLACE,
): Promise<readonly ClaimedRow[]> => {
  const values = [...claimantValues(claimant), lane, rowsMax, from.turn, from.id]
  const { rows } = await sql.query<ClaimedRow>(CLAIM, values)
  return rows.sort(comparePlaces)
}

/** Tells the turn that a lane is at. It never goes back. */
export const noteLaneTurn = async (sql: Sql, lane: string, turn: bigint): Promise<void> => {
  await sql.query(
    `insert into outbox_lane as l (lane, turn) values ($1, $2)
     on conflict (lane) do update set turn = excluded.turn where l.turn < excluded.turn`,
    [lane, String(turn)],
  )
}

/** Takes one row that an expired lease marked to be claimed alone, from the first of the lanes that has one. */
export const claimSoloRow = async (
  sql: Sql,
  claimant: Claimant,
  lanes: readonly string[],
): Promise<ClaimedRow | undefined> => {
  const { rows } = await sql.query<ClaimedRow>(CLAIM_SOLO, [...claimantValues(claimant), lanes])
  return rows[0]
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
  const [actions, leasesMs] = claimantValues(claimant)
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
    [actions, leasesMs, rowsMax],
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
     where o.id = any($1::bigint[]) and o.fence = ($2::bigint[])[array_position($1::bigint[], o.id)]
       and o.lease_until > app_now()
     returning o.id, o.fence`,
    [mine.map(({ id }) => id), mine.map(({ fence }) => fence)],
  )
  return acceptedOf(rows)
}
