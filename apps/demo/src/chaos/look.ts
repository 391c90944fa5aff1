/** Reads what is there when a run is over, as the database's owner and from the providers themselves. */
import type { SimulatorControl } from '@aftercommit/simulator'
import { z } from 'zod'
import type { Asked } from './client.ts'
import { readHoldLog } from './hold-log.ts'
import type { Owner } from './owner.ts'
import { SeenApproval, SeenMeeting, SeenRow, Told, type Seen } from './seen.ts'

export const RECEIVER = 'client'

const MEETINGS = `
  select meeting_id as id, intent->>'purpose' as purpose, state, standing_proposal_id as "standingProposalId" from meeting`

const ROWS = `
  with started as (select outbox_id, min(started_at) as at from outbox_attempt group by outbox_id)
  select o.*, s.at as "startedAt" from (
    select id, action, aggregate_id as "meetingId", ordering_key as "orderingKey", state::text, null as outcome,
      last_code as code, not_before as "notBefore", null::timestamptz as "endedAt", payload,
      state = 'scheduled' and available_at > app_now() as "isForLater" from outbox
    union all
    select id, action, aggregate_id, ordering_key, null, outcome, reason, not_before, finished_at, payload, false
      from outbox_history
    union all
    select id, action, aggregate_id, ordering_key, null, 'dead', code, not_before, died_at, payload, false
      from outbox_dead) o
  left join started s on s.outbox_id = o.id order by o.id`

const APPROVALS = `
  select proposal_id as "proposalId", meeting_id as "meetingId", draft->>'operationId' as "operationId",
    draft->>'start' as start, draft->>'end' as end from approval`

const Recorded = z.object({ proposalId: z.string(), meetingId: z.string() })
const recordedIn = (table: 'calendar_event' | 'completion') =>
  `select proposal_id as "proposalId", meeting_id as "meetingId" from ${table}`

export const lookAround = async (
  owner: Owner,
  control: SimulatorControl,
  asked: readonly Asked[],
): Promise<Seen> => {
  const read = async <T>(row: z.ZodType<T>, text: string): Promise<readonly T[]> =>
    z.array(row).parse((await owner.query(text)).rows)
  const { received } = await control.readWebhooks(RECEIVER)
  return {
    asked,
    meetings: await read(SeenMeeting, MEETINGS),
    rows: await read(SeenRow, ROWS),
    approvals: await read(SeenApproval, APPROVALS),
    written: await read(Recorded, recordedIn('calendar_event')),
    completed: await read(Recorded, recordedIn('completion')),
    holds: await readHoldLog(owner),
    ledger: await control.readLedger(),
    requests: await control.readRequests(),
    told: received.map(({ body }) => Told.parse(JSON.parse(body))),
  }
}
