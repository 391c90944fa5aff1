import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, firstHour, week } from './times.ts'

const down = { type: 'answer', status: 503, body: 'Service Unavailable' } as const

export const providerOutage: Scenario = {
  name: 'provider-outage',
  title: 'Both providers are down for a while',
  shows:
    'An outage while calendars are read and another in the middle of the write: everything waits, longer each time, and the event is written once.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: chen },
  meetings: { main: { ...week, required: ['Ada', 'Ben', 'Chen'] } },
  faults: [
    {
      id: 'Google answers 503 to six reads',
      provider: 'google',
      operation: 'freebusy.query',
      who: 'Ben',
      times: 6,
      act: down,
      harmlessBecause: 'What is not known is not free; it is read again later.',
    },
    {
      id: 'Microsoft answers 503 to six reads',
      provider: 'microsoft',
      operation: 'calendar.getSchedule',
      who: 'Chen',
      times: 6,
      act: down,
      harmlessBecause: 'What is not known is not free; it is read again later.',
    },
    {
      id: 'Google answers 503 to the write, twice',
      provider: 'google',
      operation: 'events.insert',
      who: 'Ada',
      times: 2,
      act: down,
      harmlessBecause: 'Google is asked what became of it before it is written again.',
    },
  ],
  steps: [
    { type: 'open_meeting' },
    { type: 'wait_for', state: 'awaiting_approval', withinHours: 2 },
    { type: 'approve' },
    { type: 'wait_for', state: 'confirmed', withinHours: 2 },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: { ...firstHour, invited: ['Ben', 'Chen'] },
        told: ['proposal.awaiting_approval', 'meeting.confirmed'],
      },
    },
    ledger: { created: 1, patched: 0, cancelled: 0, byHand: 0, mails: 1 },
    dead: 0,
  },
}
