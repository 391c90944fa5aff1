-- In which order exceptions were opened: those of one meeting are opened in one transaction, at one time.
alter table meeting_exception add column sequence bigint generated always as identity;
drop index meeting_exception_open;
create index meeting_exception_open on meeting_exception (tenant_id, lapses_at, sequence) where state = 'open';
