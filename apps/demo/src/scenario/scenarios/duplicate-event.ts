import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, firstHour, inDoubt, untilApproved, week } from './times.ts'

export const duplicateEvent: Scenario = {
  name: 'duplicate-event',
  title: 'The event is there twice',
  shows:
    'The answer to the write is lost and another program copies the event: two that carry our identity are found, nobody guesses which counts, and on the organizer’s word one is kept and the other cancelled.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: chen },
  meetings: { main: { ...week, required: ['Ada', 'Ben', 'Chen'] } },
  faults: inDoubt,
  steps: [
    ...untilApproved,
    { type: 'wait_for', state: 'write_uncertain' },
    { type: 'copy_event' },
    { type: 'wait_for', state: 'in_repair', code: 'several_events' },
    { type: 'resolve_repair', choice: { type: 'keep_one' } },
    { type: 'wait_for', state: 'confirmed' },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: { ...firstHour, invited: ['Ben', 'Chen'] },
        told: ['proposal.awaiting_approval', 'repair.opened', 'meeting.confirmed'],
      },
    },
    ledger: { created: 2, patched: 0, cancelled: 1, byHand: 0, mails: 1 },
    dead: 1,
  },
}
