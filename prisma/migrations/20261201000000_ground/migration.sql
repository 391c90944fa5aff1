-- Roles, the clock, the tenant, and the tables every domain leans on.

-- Group roles without login. Deployments create logins and grant them exactly one of these.
-- Roles belong to the cluster, so another database may have made them already.
do $$
declare r text;
begin
  foreach r in array array['aftercommit_api', 'aftercommit_dispatcher', 'aftercommit_operator'] loop
    begin
      execute format('create role %I nologin', r);
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
end $$;

revoke create on schema public from public;
grant usage on schema public to aftercommit_api, aftercommit_dispatcher, aftercommit_operator;

-- The one clock. Every predicate on time reads it, and no worker's own clock is ever compared with a stored time.
-- Test databases replace this function with one that adds an offset; the shipped one has no offset to switch on.
create function app_now() returns timestamptz
  language sql stable parallel safe
  as $$ select now() $$;

-- The tenant of this transaction. Raises when unset: an empty result would read as "the subject is gone".
create function current_tenant() returns uuid
  language plpgsql stable parallel safe
  as $$
declare t text := current_setting('aftercommit.tenant', true);
begin
  if coalesce(t, '') = '' then
    raise exception 'no tenant is set; open the transaction through transact()' using errcode = 'AC001';
  end if;
  return t::uuid;
end $$;

create table tenant (
  tenant_id  uuid primary key,
  name       text not null check (length(name) between 1 and 200),
  created_at timestamptz not null default app_now()
);
alter table tenant enable row level security;
create policy own on tenant using (tenant_id = (select current_tenant()));
grant select on tenant to aftercommit_api, aftercommit_dispatcher, aftercommit_operator;

-- A key is shown once, at creation; only its SHA-256 is kept.
create table api_key (
  key_hash   bytea primary key check (octet_length(key_hash) = 32),
  tenant_id  uuid not null references tenant,
  label      text not null check (length(label) between 1 and 200),
  created_at timestamptz not null default app_now(),
  revoked_at timestamptz
);
create index api_key_tenant on api_key (tenant_id);
alter table api_key enable row level security;
create policy own on api_key using (tenant_id = (select current_tenant()));
grant select on api_key to aftercommit_api;

-- The one read that happens before a tenant is known. It answers for an exact hash and for nothing else.
create function tenant_of_api_key(p_hash bytea) returns uuid
  language sql stable security definer set search_path = pg_catalog, public, pg_temp
  as $$ select tenant_id from api_key where key_hash = p_hash and revoked_at is null $$;
revoke all on function tenant_of_api_key(bytea) from public;
grant execute on function tenant_of_api_key(bytea) to aftercommit_api;
