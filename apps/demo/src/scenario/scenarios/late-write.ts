import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, firstHour, secondHour, untilApproved, week } from './times.ts'

const HELD = 'the first write is under way for longer than anybody waits'

export const lateWrite: Scenario = {
  name: 'late-write',
  title: 'A write lands long after it was given up',
  shows:
    'A write is proved absent, its hour is taken by something else, and another hour is booked; then the old write lands all the same. The later sweep finds it and cancels it, and one event stands.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: chen },
  meetings: { main: { ...week, required: ['Ada', 'Ben', 'Chen'] } },
  callTimeoutMs: 1_500,
  faults: [
    {
      id: HELD,
      provider: 'google',
      operation: 'events.insert',
      who: 'Ada',
      act: { type: 'hold', when: 'before_effect' },
      harmlessBecause: 'Google is asked until what it does not show cannot be there any more.',
    },
  ],
  steps: [
    ...untilApproved,
    { type: 'wait_for', state: 'write_uncertain' },
    { type: 'fill_time', who: 'Ben', ...firstHour },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'approve' },
    { type: 'wait_for', state: 'confirmed' },
    { type: 'let_go', fault: HELD },
    { type: 'pass_time', hours: 1 },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: { ...secondHour, invited: ['Ben', 'Chen'] },
        told: ['proposal.awaiting_approval', 'proposal.awaiting_approval', 'meeting.confirmed'],
      },
    },
    ledger: { created: 2, patched: 0, cancelled: 1, byHand: 0, mails: 2 },
    dead: 0,
  },
}
