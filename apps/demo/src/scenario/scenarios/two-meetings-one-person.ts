import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, firstHour, secondHour, week } from './times.ts'

export const twoMeetingsOnePerson: Scenario = {
  name: 'two-meetings-one-person',
  title: 'Two meetings want the same person at the same time',
  shows:
    'Two meetings were offered the same hour of one person: the first approval takes it, the second is told and looks for another hour, before anything is in any calendar.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: chen },
  meetings: {
    review: { ...week, required: ['Ada', 'Ben', 'Chen'] },
    planning: { ...week, purpose: 'Planning', required: ['Ada', 'Ben'] },
  },
  steps: [
    { type: 'open_meeting', meeting: 'review' },
    { type: 'open_meeting', meeting: 'planning' },
    { type: 'wait_for', meeting: 'review', state: 'awaiting_approval' },
    { type: 'wait_for', meeting: 'planning', state: 'awaiting_approval' },
    { type: 'approve', meeting: 'review' },
    { type: 'approve', meeting: 'planning', answer: 'slot_held' },
    { type: 'wait_for', meeting: 'planning', state: 'awaiting_approval' },
    { type: 'approve', meeting: 'planning' },
    { type: 'wait_for', meeting: 'planning', state: 'confirmed' },
    { type: 'wait_for', meeting: 'review', state: 'confirmed' },
  ],
  expects: {
    meetings: {
      review: {
        state: 'confirmed',
        event: { ...firstHour, invited: ['Ben', 'Chen'] },
        told: ['proposal.awaiting_approval', 'meeting.confirmed'],
      },
      planning: {
        state: 'confirmed',
        event: { ...secondHour, invited: ['Ben'] },
        told: ['proposal.awaiting_approval', 'proposal.awaiting_approval', 'meeting.confirmed'],
      },
    },
    ledger: { created: 2, patched: 0, cancelled: 0, byHand: 0, mails: 3 },
    dead: 0,
  },
}
