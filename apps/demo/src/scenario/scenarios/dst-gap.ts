import { BERLIN } from '../../zones.ts'
import type { Scenario } from '../scenario.ts'
import { asking, dana, night } from './times.ts'

export const dstGap: Scenario = {
  name: 'dst-gap',
  title: 'In the night in which the clock skips an hour',
  shows:
    'A time that the clock skips is asked back and not guessed; from one to four by the clock is two hours in that night, and two hours are booked.',
  beginsAt: '2031-03-24T08:00:00Z',
  cast: { Ada: night, Dana: dana },
  meetings: {
    main: {
      ...asking,
      purpose: 'Migration',
      durationMinutes: 120,
      timeZone: BERLIN,
      window: { from: '2031-03-30T00:00', to: '2031-03-30T06:00' },
      bookBy: '2031-03-28T12:00:00Z',
      organizer: 'Ada',
      approval: 'organizer',
      required: ['Ada', 'Dana'],
    },
  },
  steps: [
    { type: 'open_meeting' },
    { type: 'wait_for', state: 'gathering' },
    {
      type: 'reply_on_page',
      who: 'Dana',
      zone: BERLIN,
      times: [{ date: '2031-03-30', from: '02:30', to: '05:00' }],
      answers: 'asked_again',
    },
    {
      type: 'reply_on_page',
      who: 'Dana',
      zone: BERLIN,
      times: [{ date: '2031-03-30', from: '01:00', to: '04:00' }],
    },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'approve' },
    { type: 'wait_for', state: 'confirmed' },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: { start: '2031-03-30T00:00:00.000Z', end: '2031-03-30T02:00:00.000Z', invited: ['Dana'] },
        told: ['proposal.awaiting_approval', 'meeting.confirmed'],
      },
    },
    ledger: { created: 1, patched: 0, cancelled: 0, byHand: 0, mails: 2 },
    dead: 0,
  },
}
