import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, inDoubt, untilApproved, week } from './times.ts'

export const cancelledInDoubt: Scenario = {
  name: 'cancelled-in-doubt',
  title: 'Cancelled while nobody knows whether it was written',
  shows:
    'The organizer cancels while the fate of the write is unknown: the event that comes to light is cancelled first, and only then is the meeting called cancelled.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: chen },
  meetings: { main: { ...week, required: ['Ada', 'Ben', 'Chen'] } },
  faults: inDoubt,
  steps: [
    ...untilApproved,
    { type: 'wait_for', state: 'write_uncertain' },
    { type: 'cancel' },
    { type: 'wait_for', state: 'cancelled' },
  ],
  expects: {
    meetings: {
      main: { state: 'cancelled', event: null, told: ['proposal.awaiting_approval', 'meeting.cancelled'] },
    },
    ledger: { created: 1, patched: 0, cancelled: 1, byHand: 0, mails: 1 },
    dead: 0,
  },
}
