/**
 * An observer in the database of a run, and in no other: it notes who moved, started or ended each row of the outbox, and
 * under which fence. Every process has a login of its own, so the database itself knows who it was. It changes nothing.
 */
import { z } from 'zod'
import type { Owner } from './owner.ts'

const INSTALL = `
  create table chaos_hold_log (
    seq bigint generated always as identity primary key,
    at timestamptz not null,
    row_id bigint not null,
    op text not null,
    target_id bigint,
    state_before text not null,
    state_after text,
    fence_before bigint not null,
    fence_after bigint,
    lease_until timestamptz,
    login text not null,
    tx text not null);
  create function chaos_note_hold() returns trigger language plpgsql security definer set search_path = public as $$
  begin
    insert into chaos_hold_log (at, row_id, op, target_id, state_before, state_after, fence_before, fence_after,
        lease_until, login, tx)
      values (app_now(), old.id,
        case when tg_op = 'DELETE' then 'removed' when new.fence is distinct from old.fence then 'moved' else 'started' end,
        old.target_id, old.state, case when tg_op = 'UPDATE' then new.state end, old.fence,
        case when tg_op = 'UPDATE' then new.fence end, old.lease_until, session_user, pg_current_xact_id()::text);
    return null;
  end $$;
  create trigger chaos_removed after delete on outbox for each row execute function chaos_note_hold();
  create trigger chaos_moved after update on outbox for each row
    when (old.fence is distinct from new.fence
          or (new.started_at is not null and new.started_at is distinct from old.started_at))
    execute function chaos_note_hold();`

export const HoldNote = z.object({
  rowId: z.string(),
  op: z.enum(['moved', 'started', 'removed']),
  at: z.date(),
  /** Of a question: the row it asks about. */
  targetId: z.string().nullable(),
  stateBefore: z.string(),
  stateAfter: z.string().nullable(),
  fenceBefore: z.string(),
  fenceAfter: z.string().nullable(),
  leaseUntil: z.date().nullable(),
  login: z.string(),
  /** The transaction in which it happened. */
  tx: z.string(),
})
export type HoldNote = z.output<typeof HoldNote>

export const installHoldLog = async (owner: Owner): Promise<void> => {
  await owner.query(INSTALL)
}

/** Everything noted, in the order in which it happened to each row. */
export const readHoldLog = async (owner: Owner): Promise<readonly HoldNote[]> => {
  const { rows } = await owner.query(
    `select row_id as "rowId", op, at, target_id as "targetId", state_before as "stateBefore",
       state_after as "stateAfter", fence_before as "fenceBefore", fence_after as "fenceAfter",
       lease_until as "leaseUntil", login, tx from chaos_hold_log order by seq`,
  )
  return z.array(HoldNote).parse(rows)
}
