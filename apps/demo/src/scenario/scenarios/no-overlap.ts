import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, week } from './times.ts'

export const noOverlap: Scenario = {
  name: 'no-overlap',
  title: 'No time at which all can',
  shows:
    'That there is no common time is an answer, with who stands in the way and what comes nearest; nothing is written and nobody is asked to repair it.',
  beginsAt: BEGINNING,
  cast: {
    Ada: ada,
    Ben: { ...ben, busy: [{ start: '2031-03-17T00:00:00Z', end: '2031-03-22T00:00:00Z' }] },
    Chen: chen,
  },
  meetings: { main: { ...week, required: ['Ada', 'Ben', 'Chen'] } },
  steps: [{ type: 'open_meeting' }, { type: 'wait_for', state: 'no_overlap' }],
  expects: {
    meetings: { main: { state: 'no_overlap', event: null, told: ['meeting.no_overlap'] } },
    ledger: { created: 0, patched: 0, cancelled: 0, byHand: 0, mails: 0 },
    dead: 0,
  },
}
