-- The API's manners: what a key may do, what was answered to a repeated request, and whether the schema is there.

-- `read` allows GET, `write` allows POST; neither implies the other.
alter table api_key add column scopes text[] not null default '{read,write}'
  check (scopes <@ array['read', 'write'] and cardinality(scopes) > 0);

-- Read together with tenant_of_api_key, before a tenant is known. A revoked key has no scopes.
create function scopes_of_api_key(p_hash bytea) returns text[]
  language sql stable security definer set search_path = pg_catalog, public, pg_temp
  as $$ select scopes from api_key where key_hash = p_hash and revoked_at is null $$;
revoke all on function scopes_of_api_key(bytea) from public;
grant execute on function scopes_of_api_key(bytea) to aftercommit_api;

-- What was answered to a request that carried an Idempotency-Key. Written in the transaction of its command, so a
-- row and its answer are there exactly when the command's effects are; the answer's columns are null only before
-- that transaction ends, where nobody else sees them.
create table idempotency_key (
  tenant_id   uuid not null references tenant,
  operation   text not null,
  key         text not null check (length(key) between 1 and 255),
  -- SHA-256 of method, path and body: a key belongs to one request, not to one operation.
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  status      int,
  headers     json,
  -- `json`, not `jsonb`: the answer is given again as it was given.
  body        json,
  created_at  timestamptz not null default app_now(),
  expires_at  timestamptz not null default app_now() + interval '24 hours',
  primary key (tenant_id, operation, key)
);
create index idempotency_key_expired on idempotency_key (tenant_id, expires_at);
alter table idempotency_key enable row level security;
create policy own on idempotency_key using (tenant_id = (select current_tenant()))
  with check (tenant_id = (select current_tenant()));
grant select, insert, update, delete on idempotency_key to aftercommit_api;

-- Whether a migration has been applied. A process is ready when the newest one that it was built against has been.
-- plpgsql, because the table belongs to the migration runner and is looked for only when asked.
create function has_migration(p_name text) returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp
  as $$
begin
  return exists (select from _prisma_migrations
                   where migration_name = p_name and finished_at is not null and rolled_back_at is null);
end $$;
revoke all on function has_migration(text) from public;
grant execute on function has_migration(text) to aftercommit_api, aftercommit_dispatcher, aftercommit_operator;
