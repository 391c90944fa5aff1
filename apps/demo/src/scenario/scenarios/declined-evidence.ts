import type { Scenario } from '../scenario.ts'
import { ada, asking, BEGINNING, ben, chen, dana, firstHour, week } from './times.ts'

export const declinedEvidence: Scenario = {
  name: 'declined-evidence',
  title: 'Somebody who is asked cannot take part',
  shows:
    'A person without a calendar says no on the reply page: the search stops with a repair that names her, the substitute whom the meeting named takes her place, and only then is it approved and booked.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Dana: dana, Chen: chen },
  meetings: {
    main: { ...week, ...asking, required: ['Ada', 'Ben', 'Dana'], substitutes: { Dana: ['Chen'] } },
  },
  steps: [
    { type: 'open_meeting' },
    { type: 'wait_for', state: 'gathering' },
    { type: 'refuse_on_page', who: 'Dana' },
    { type: 'wait_for', state: 'in_repair', code: 'participant_declined', names: ['Dana'] },
    { type: 'resolve_repair', choice: { type: 'substitute_person', who: 'Dana' } },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'approve' },
    { type: 'wait_for', state: 'confirmed' },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: { ...firstHour, invited: ['Ben', 'Chen'] },
        told: ['repair.opened', 'proposal.awaiting_approval', 'meeting.confirmed'],
      },
    },
    ledger: { created: 1, patched: 0, cancelled: 0, byHand: 0, mails: 2 },
    dead: 0,
  },
}
