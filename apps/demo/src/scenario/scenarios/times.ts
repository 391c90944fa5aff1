/** The calendar that most scenarios share: a week of March 2031, in which nobody's clock changes. */
import { BERLIN, NEW_YORK } from '../../zones.ts'
import type { Asked, CastMember, Fault, Scenario } from '../scenario.ts'

/** A Monday, early in the morning. */
export const BEGINNING = '2031-03-10T07:00:00Z'

const workingHours = { startsAt: '09:00', endsAt: '17:00', days: [1, 2, 3, 4, 5] }

export const ada: CastMember = {
  address: 'ada@google.example',
  timeZone: BERLIN,
  provider: 'google',
  connected: true,
  workingHours,
}
export const ben: CastMember = {
  address: 'ben@google.example',
  timeZone: NEW_YORK,
  provider: 'google',
  connected: true,
  workingHours,
}
export const chen: CastMember = {
  address: 'chen@microsoft.example',
  timeZone: BERLIN,
  provider: 'microsoft',
  connected: true,
  workingHours,
}

/** A mailbox, and no calendar that we could read. */
export const dana: CastMember = { address: 'dana@mail.example', timeZone: BERLIN }
/** Somebody who may be asked to meet at any hour. */
export const night: CastMember = {
  address: ada.address,
  timeZone: BERLIN,
  provider: 'google',
  connected: true,
}

/** People whose calendars do not tell may be written to. */
export const asking: Pick<Asked, 'outreach'> = { outreach: { messagesMax: 2, spacingHours: 24 } }

/** An hour in the week after. */
export const week: Omit<Asked, 'required'> = {
  purpose: 'Contract review',
  durationMinutes: 60,
  timeZone: BERLIN,
  window: { from: '2031-03-17T00:00', to: '2031-03-22T00:00' },
  bookBy: '2031-03-16T12:00:00Z',
  organizer: 'Ada',
  approval: 'organizer',
}

/** The first hours of that week that the working days in Berlin and New York share. */
export const firstHour = { start: '2031-03-17T13:00:00.000Z', end: '2031-03-17T14:00:00.000Z' }
export const secondHour = { start: '2031-03-17T14:00:00.000Z', end: '2031-03-17T15:00:00.000Z' }

/** From a request to an approval that is asked for, and given. */
export const untilApproved: Scenario['steps'] = [
  { type: 'open_meeting' },
  { type: 'wait_for', state: 'awaiting_approval' },
  { type: 'approve' },
]

export const untilConfirmed: Scenario['steps'] = [...untilApproved, { type: 'wait_for', state: 'confirmed' }]

/** The answer to the write is lost, and for a minute nobody can be asked what became of it. */
export const inDoubt: readonly Fault[] = [
  {
    id: 'the answer to the write is lost',
    provider: 'google',
    operation: 'events.insert',
    who: 'Ada',
    act: { type: 'drop', when: 'after_effect' },
    harmlessBecause: 'Google is asked what became of it, and nothing is written meanwhile.',
  },
  {
    id: 'Google does not tell what became of it for a while',
    provider: 'google',
    operation: 'events.list',
    who: 'Ada',
    act: {
      type: 'answer',
      status: 429,
      headers: { 'retry-after': '60' },
      body: { error: { code: 429, errors: [{ domain: 'usageLimits', reason: 'rateLimitExceeded' }] } },
    },
    harmlessBecause: 'It is asked again when Google wants to be asked.',
  },
]
