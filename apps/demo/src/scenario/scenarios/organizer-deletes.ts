import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, firstHour, untilConfirmed, week } from './times.ts'

export const organizerDeletes: Scenario = {
  name: 'organizer-deletes',
  title: 'The organizer deletes the event by hand',
  shows:
    'A booked event that is gone is noticed by the next look and named. It is made again only on a word, after another approval.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: chen },
  meetings: { main: { ...week, required: ['Ada', 'Ben', 'Chen'] } },
  steps: [
    ...untilConfirmed,
    { type: 'act_on_event', who: 'Ada', act: { type: 'delete' } },
    { type: 'wait_for', state: 'in_repair', code: 'event_gone', withinHours: 1 },
    { type: 'resolve_repair', choice: { type: 'search_again' } },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'approve' },
    { type: 'wait_for', state: 'confirmed' },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: { ...firstHour, invited: ['Ben', 'Chen'] },
        told: [
          'proposal.awaiting_approval',
          'meeting.confirmed',
          'repair.opened',
          'proposal.awaiting_approval',
          'meeting.confirmed',
        ],
      },
    },
    ledger: { created: 2, patched: 0, cancelled: 0, byHand: 1, mails: 2 },
    dead: 0,
  },
}
