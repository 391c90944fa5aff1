import type pg from 'pg'
import { legalMoves } from './states.ts'

/**
 * Notes every state a row enters, whoever moves it: triggers see what the statements do and not what they mean to.
 * A row that leaves the hot table is paired with the record it leaves behind by id and transaction.
 */
export const WATCH_MOVES = `
  create table watched (
    seq bigint generated always as identity, xid xid8 not null default pg_current_xact_id(),
    outbox_id bigint not null, was text, became text);

  create function watch_hot() returns trigger language plpgsql security definer as $$
  begin
    if tg_op = 'INSERT' then
      insert into watched (outbox_id, was, became)
        values (new.id, (select 'dead' from outbox_dead d where d.id = new.id), new.state);
    elsif tg_op = 'DELETE' then
      insert into watched (outbox_id, was) values (old.id, old.state);
    elsif old.state is distinct from new.state then
      insert into watched (outbox_id, was, became) values (new.id, old.state, new.state);
    end if;
    return null;
  end $$;

  create function watch_ended() returns trigger language plpgsql security definer as $$
  begin
    if tg_table_name = 'outbox_dead' then
      if tg_op = 'UPDATE' and new.resolution is not null then return null; end if;
      insert into watched (outbox_id, became) values (new.id, 'dead');
    else
      insert into watched (outbox_id, became) values (new.id, new.outcome);
    end if;
    return null;
  end $$;

  create trigger watch after insert or update or delete on outbox for each row execute function watch_hot();
  create trigger watch after insert on outbox_history for each row execute function watch_ended();
  create trigger watch after insert or update on outbox_dead for each row execute function watch_ended();`

/** Every distinct move seen so far, as `from → to`; rows written for the first time come from nowhere. */
export const observedMoves = async (owner: pg.Pool): Promise<readonly string[]> => {
  const { rows } = await owner.query<{ move: string }>(
    `select distinct was || ' → ' || became as move from (
       select was, became from watched where was is not null and became is not null
       union all
       select w.was, e.became from watched w
         left join watched e on e.outbox_id = w.outbox_id and e.xid = w.xid and e.was is null
           and e.became in ('succeeded', 'suppressed', 'superseded', 'dead')
         where w.became is null) moves
     where was is not null order by 1`,
  )
  return rows.map(({ move }) => move)
}

export const legal: ReadonlySet<string> = new Set(
  Object.entries(legalMoves).flatMap(([from, tos]) => tos.map((to) => `${from} → ${to}`)),
)

export const illegalMoves = async (owner: pg.Pool): Promise<readonly string[]> =>
  (await observedMoves(owner)).filter((move) => !legal.has(move))
