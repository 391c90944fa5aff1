import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, secondHour, untilConfirmed, week } from './times.ts'

export const guestDeclines: Scenario = {
  name: 'guest-declines',
  title: 'A required guest declines after the booking',
  shows:
    'A guest’s no at the provider is noticed by the next look and named; the event stands until another time is approved, and is then moved, not made anew.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: chen },
  meetings: { main: { ...week, required: ['Ada', 'Ben', 'Chen'] } },
  steps: [
    ...untilConfirmed,
    {
      type: 'act_on_event',
      who: 'Ben',
      act: { type: 'respond', address: ben.address, response: 'declined' },
    },
    { type: 'wait_for', state: 'in_repair', code: 'participant_declined', names: ['Ben'], withinHours: 1 },
    { type: 'resolve_repair', choice: { type: 'search_again' } },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'approve' },
    { type: 'wait_for', state: 'confirmed' },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: { ...secondHour, invited: ['Ben', 'Chen'] },
        told: [
          'proposal.awaiting_approval',
          'meeting.confirmed',
          'repair.opened',
          'proposal.awaiting_approval',
          'meeting.rescheduled',
        ],
      },
    },
    ledger: { created: 1, patched: 1, cancelled: 0, byHand: 1, mails: 2 },
    dead: 0,
  },
}
