import { BERLIN } from '../../zones.ts'
import type { Scenario } from '../scenario.ts'
import { asking, dana, night } from './times.ts'

export const dstOverlap: Scenario = {
  name: 'dst-overlap',
  title: 'In the night in which the clock shows an hour twice',
  shows:
    'Half past two comes twice in that night: which of the two is meant is asked back and not guessed, and the event stands at the one that was chosen.',
  beginsAt: '2031-10-20T08:00:00Z',
  cast: { Ada: night, Dana: dana },
  meetings: {
    main: {
      ...asking,
      purpose: 'Migration',
      durationMinutes: 60,
      timeZone: BERLIN,
      window: { from: '2031-10-26T00:00', to: '2031-10-26T06:00' },
      bookBy: '2031-10-24T12:00:00Z',
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
      times: [{ date: '2031-10-26', from: '02:30', to: '03:30' }],
      answers: 'asked_again',
    },
    {
      type: 'reply_on_page',
      who: 'Dana',
      zone: BERLIN,
      times: [{ date: '2031-10-26', from: '02:30', to: '03:30', fromFold: 'later' }],
    },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'approve' },
    { type: 'wait_for', state: 'confirmed' },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: { start: '2031-10-26T01:30:00.000Z', end: '2031-10-26T02:30:00.000Z', invited: ['Dana'] },
        told: ['proposal.awaiting_approval', 'meeting.confirmed'],
      },
    },
    ledger: { created: 1, patched: 0, cancelled: 0, byHand: 0, mails: 2 },
    dead: 0,
  },
}
