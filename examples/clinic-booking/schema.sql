-- The clinic's own tables, in the clinic's own schema. Aftercommit's stand beside them in "public", in the same database:
-- only so can one commit cover both.
create schema clinic;

create table clinic.appointment (
  appointment_id uuid primary key,
  clinic_id      uuid not null,
  patient_ref    text not null check (length(patient_ref) between 1 and 100),
  starts_at      timestamptz not null,
  confirmation   text not null default 'pending' check (confirmation in ('pending', 'sent', 'failed'))
);

-- A clinic is a tenant. current_tenant() is that of the transaction, and raises when there is none.
alter table clinic.appointment enable row level security;
create policy own on clinic.appointment using (clinic_id = (select public.current_tenant()));

-- Group roles, of which the logins are members. Roles belong to the cluster, so they may be there already.
do $$
declare r text;
begin
  foreach r in array array['clinic_app', 'clinic_worker'] loop
    begin
      execute format('create role %I nologin', r);
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
end $$;
grant usage on schema clinic, public to clinic_app, clinic_worker;

-- The application writes its own rows, and of the outbox it may do these two things and nothing else. Both run as the
-- owner, for the one tenant that the transaction is bound to.
grant select, insert, update on clinic.appointment to clinic_app;
grant execute on function public.outbox_enqueue(jsonb, uuid), public.outbox_supersede(text, uuid, text[], text) to clinic_app;

-- The worker runs rows for all clinics, but reads and writes appointments only as the clinic whose row it holds.
grant aftercommit_dispatcher to clinic_worker;
grant select, update on clinic.appointment to clinic_worker;
