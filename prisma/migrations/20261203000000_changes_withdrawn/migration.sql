-- A change that is sought for a booked meeting can be given up by a person.
alter table meeting_decision drop constraint meeting_decision_type_check;
alter table meeting_decision add constraint meeting_decision_type_check
  check (type in ('rescheduled', 'cancelled', 'lapsed', 'change_lapsed', 'change_withdrawn', 'looked_again',
                  'calendar_connected', 'calendar_reconnected', 'contact_refused'));
