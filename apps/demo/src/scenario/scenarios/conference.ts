import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, firstHour, untilApproved, week } from './times.ts'

const withConference = { ...week, conference: true, required: ['Ada', 'Ben', 'Chen'] }
const ledger = { created: 1, patched: 0, cancelled: 0, byHand: 0, mails: 1 }
const event = { ...firstHour, invited: ['Ben', 'Chen'] }

export const conferencePending: Scenario = {
  name: 'conference-pending',
  title: 'A video conference that does not come',
  shows:
    'The event stands and its conference is still being made, for hours: that is not called confirmed, and somebody is told.',
  beginsAt: BEGINNING,
  cast: { Ada: { ...ada, onlineMeetings: 'pending' }, Ben: ben, Chen: chen },
  meetings: { main: withConference },
  steps: [
    ...untilApproved,
    { type: 'wait_for', state: 'verifying' },
    { type: 'wait_for', state: 'in_repair', code: 'conference_pending', withinHours: 3 },
  ],
  expects: {
    meetings: {
      main: {
        state: 'in_repair',
        repair: { code: 'conference_pending', owner: 'organizer' },
        event,
        told: ['proposal.awaiting_approval', 'repair.opened'],
      },
    },
    ledger,
    dead: 1,
  },
}

export const conferenceFailed: Scenario = {
  name: 'conference-failed',
  title: 'A video conference that cannot be made',
  shows:
    'The event stands without the conference that was approved with it: that is not called confirmed, and the repair names the field.',
  beginsAt: BEGINNING,
  cast: { Ada: { ...ada, onlineMeetings: false }, Ben: ben, Chen: chen },
  meetings: { main: withConference },
  steps: [...untilApproved, { type: 'wait_for', state: 'in_repair', code: 'event_differs' }],
  expects: {
    meetings: {
      main: {
        state: 'in_repair',
        repair: { code: 'event_differs', owner: 'organizer' },
        event,
        told: ['proposal.awaiting_approval', 'repair.opened'],
      },
    },
    ledger,
    dead: 0,
  },
}
