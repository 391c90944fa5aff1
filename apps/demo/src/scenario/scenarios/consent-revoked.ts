import type { Scenario } from '../scenario.ts'
import { ada, BEGINNING, ben, chen, week } from './times.ts'

export const consentRevoked: Scenario = {
  name: 'consent-revoked',
  title: 'Consent is taken back between approval and write',
  shows:
    'A required person takes back the consent after a time was found: nothing is written on the strength of an old answer, and the repair names the person.',
  beginsAt: BEGINNING,
  cast: { Ada: ada, Ben: ben, Chen: chen },
  meetings: { main: { ...week, required: ['Ada', 'Ben', 'Chen'] } },
  steps: [
    { type: 'open_meeting' },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'revoke_consent', who: 'Chen' },
    { type: 'approve' },
    { type: 'wait_for', state: 'in_repair', code: 'grant_revoked', names: ['Chen'] },
  ],
  expects: {
    meetings: {
      main: {
        state: 'in_repair',
        repair: { code: 'grant_revoked', owner: 'calendar_owner' },
        event: null,
        told: ['proposal.awaiting_approval', 'repair.opened'],
      },
    },
    ledger: { created: 0, patched: 0, cancelled: 0, byHand: 0, mails: 1 },
    dead: 1,
  },
}
