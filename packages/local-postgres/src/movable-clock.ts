/**
 * A clock that can be moved, for tests and scenarios. In a database that is marked for it, and in no other, `app_now()` is
 * replaced, not switched: production's own function knows no offset, and no setting gives it one.
 *
 * The mark can be set only while a database holds nothing. Every database of the product is migrated before anything else,
 * and no migration makes the mark, so none of them can ever get it.
 */

/** A connection as the database's owner. */
export interface OwnerConnection {
  query(text: string, values?: unknown[]): Promise<unknown>
}

const MARK = `
  do $$ begin
    if exists (select from pg_class
                 where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')) then
      raise exception 'this database holds something already, so its clock stays as it is';
    end if;
    create table test_clock (offset_ms float8 not null);
    insert into test_clock values (0);
    grant select on test_clock to public;
  end $$`

const REPLACE = `
  do $$ begin
    if to_regclass('public.test_clock') is null then
      raise exception 'this database was not made for tests, so its clock stays as it is';
    end if;
  end $$;
  create or replace function app_now() returns timestamptz language sql stable parallel safe
    as $$ select now() + make_interval(secs => (select offset_ms from public.test_clock) / 1000) $$;`

/** Marks an empty database as one for tests. Rejects when it holds anything. */
export const markAsTestDatabase = async (owner: OwnerConnection): Promise<void> => {
  await owner.query(MARK)
}

/** After the migrations: lets the clock of a marked database be moved. Rejects for any other database. */
export const makeClockMovable = async (owner: OwnerConnection): Promise<void> => {
  await owner.query(REPLACE)
}

/** Moves the clock on, or back. It runs on from there. */
export const moveClock = async (owner: OwnerConnection, ms: number): Promise<void> => {
  await owner.query('update test_clock set offset_ms = offset_ms + $1', [ms])
}

/** Sets the clock to a moment. It runs on from there. */
export const setClock = async (owner: OwnerConnection, at: Date): Promise<void> => {
  await owner.query('update test_clock set offset_ms = extract(epoch from $1::timestamptz - now()) * 1000', [
    at.toISOString(),
  ])
}
