import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, secondHour, untilConfirmed, week } from './times.ts'

export const rescheduleRace: Scenario = {
  name: 'reschedule-race',
  title: 'Two want it moved at once, and a third moves it by hand',
  shows:
    'Of two requests at once the later one counts, and one time is proposed; what the organizer did to the event by hand before the change is not overwritten but named, and put right on a word. It is one event from beginning to end.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: chen },
  meetings: { main: { ...week, required: ['Ada', 'Ben', 'Chen'] } },
  steps: [
    ...untilConfirmed,
    {
      type: 'reschedule',
      window: { from: '2031-03-24T00:00', to: '2031-03-28T00:00' },
      bookBy: '2031-03-16T12:00:00Z',
      answers: [200, 200],
    },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'act_on_event', who: 'Ada', act: { type: 'move', ...secondHour } },
    { type: 'approve' },
    { type: 'wait_for', state: 'in_repair', code: 'event_changed' },
    { type: 'resolve_repair', choice: { type: 'restore_event' } },
    { type: 'wait_for', state: 'confirmed' },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: {
          start: '2031-03-24T13:00:00.000Z',
          end: '2031-03-24T14:00:00.000Z',
          invited: ['Ben', 'Chen'],
        },
        told: [
          'proposal.awaiting_approval',
          'meeting.confirmed',
          'proposal.awaiting_approval',
          'repair.opened',
          'meeting.rescheduled',
        ],
      },
    },
    ledger: { created: 1, patched: 1, cancelled: 0, byHand: 1, mails: 2 },
    dead: 1,
  },
}
