/** Every scenario, in the order in which docs/scenarios.md tells them. */
import type { Scenario } from '../scenario.ts'
import { cancelledInDoubt } from './cancelled-in-doubt.ts'
import { conferenceFailed, conferencePending } from './conference.ts'
import { connectedButUnreadable } from './connected-but-unreadable.ts'
import { consentRevoked } from './consent-revoked.ts'
import { declinedEvidence } from './declined-evidence.ts'
import { dstGap } from './dst-gap.ts'
import { dstOverlap } from './dst-overlap.ts'
import { duplicateEvent } from './duplicate-event.ts'
import { guestDeclines } from './guest-declines.ts'
import { hardMeeting } from './hard-meeting.ts'
import { lateWrite } from './late-write.ts'
import { noOverlap } from './no-overlap.ts'
import { organizerDeletes } from './organizer-deletes.ts'
import { providerOutage } from './provider-outage.ts'
import { rescheduleRace } from './reschedule-race.ts'
import { twoMeetingsOnePerson } from './two-meetings-one-person.ts'

export const scenarios: readonly Scenario[] = [
  hardMeeting,
  noOverlap,
  declinedEvidence,
  guestDeclines,
  rescheduleRace,
  organizerDeletes,
  cancelledInDoubt,
  consentRevoked,
  providerOutage,
  dstGap,
  dstOverlap,
  twoMeetingsOnePerson,
  connectedButUnreadable,
  duplicateEvent,
  lateWrite,
  conferencePending,
  conferenceFailed,
]
