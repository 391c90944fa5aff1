import { BERLIN } from '../../zones.ts'
import type { Scenario } from '../scenario.ts'
import { ada, asking, BEGINNING, ben, chen, week } from './times.ts'

export const connectedButUnreadable: Scenario = {
  name: 'connected-but-unreadable',
  title: 'A connected calendar that does not tell',
  shows:
    'A calendar is connected and cannot be read, inside an answer that looks like success: its owner is not taken for free but asked in words, once, and booked within what they said.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: { ...chen, readable: 'no_access' } },
  meetings: { main: { ...week, ...asking, required: ['Ada', 'Ben', 'Chen'] } },
  steps: [
    { type: 'open_meeting' },
    { type: 'wait_for', state: 'gathering' },
    {
      type: 'reply_on_page',
      who: 'Chen',
      zone: BERLIN,
      times: [{ date: '2031-03-18', from: '15:00', to: '16:00' }],
    },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'approve' },
    { type: 'wait_for', state: 'confirmed' },
  ],
  expects: {
    meetings: {
      main: {
        state: 'confirmed',
        event: {
          start: '2031-03-18T14:00:00.000Z',
          end: '2031-03-18T15:00:00.000Z',
          invited: ['Ben', 'Chen'],
        },
        told: ['proposal.awaiting_approval', 'meeting.confirmed'],
      },
    },
    ledger: { created: 1, patched: 0, cancelled: 0, byHand: 0, mails: 2 },
    dead: 0,
  },
}
