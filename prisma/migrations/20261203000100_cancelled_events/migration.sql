-- When an event was taken away at its provider. Null: it stands, or it was taken away before this was noted.
alter table calendar_event add column cancelled_at timestamptz;
grant update (cancelled_at) on calendar_event to aftercommit_dispatcher;
