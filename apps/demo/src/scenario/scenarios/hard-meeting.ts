import { addDays, dateIn, formatInstant, localToInstant, nextOffsetChange } from '@aftercommit/time'
import { BERLIN, NEW_YORK } from '../../zones.ts'
import type { Fault, Scenario } from '../scenario.ts'
import { ada, ben, chen } from './times.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const FROZEN = 'the call in the middle of which a dispatcher is frozen'
const LOST = 'the answer to the write is lost after Google stored the event'

const CHEN = 'chen@google.example'

/** Google reports a calendar that it could not read inside an answer that is otherwise a success. */
const unreadable = {
  kind: 'calendar#freeBusy',
  calendars: { [CHEN]: { errors: [{ domain: 'global', reason: 'internalError' }], busy: [] } },
}

const faults: readonly Fault[] = [
  {
    id: FROZEN,
    provider: 'google',
    operation: 'events.get',
    who: 'Ada',
    act: { type: 'hold', when: 'after_effect' },
    harmlessBecause: 'The work is delivered twice, and whoever comes second holds the higher fencing token.',
  },
  {
    id: 'one calendar answers with an error inside a 200',
    provider: 'google',
    operation: 'freebusy.query',
    who: 'Chen',
    act: { type: 'answer', status: 200, body: unreadable },
    harmlessBecause: 'A calendar that cannot be read is not free: it is read again.',
  },
  {
    id: 'Microsoft throttles once',
    provider: 'microsoft',
    operation: 'calendar.getSchedule',
    who: 'Ben',
    act: {
      type: 'answer',
      status: 429,
      headers: { 'retry-after': '1' },
      body: {
        error: {
          code: 'ApplicationThrottled',
          message: 'Application is over its MailboxConcurrency limit.',
        },
      },
    },
    harmlessBecause: 'That account rests as long as asked, and no attempt is spent.',
  },
  {
    id: LOST,
    provider: 'google',
    operation: 'events.insert',
    who: 'Ada',
    // The write before it is refused, and has nothing to lose.
    later: true,
    act: { type: 'drop', when: 'after_effect' },
    harmlessBecause: 'Nothing is written again before Google has been asked what became of it.',
  },
]

/** Everything that goes wrong at once, from a moment on: the real one for `npm start`, one in 2031 for the scenario. */
export const hardMeetingAt = (now: Date): Scenario => {
  const clockChange = nextOffsetChange(NEW_YORK, new Date(now.getTime() + 7 * DAY_MS))
  if (!clockChange) throw new Error("New York's clocks no longer change; the story needs another city")
  const sunday = dateIn(clockChange, BERLIN)
  const day = (offset: number): string => addDays(sunday, offset)
  const days = (from: number, to: number) => ({
    start: `${day(from)}T00:00:00Z`,
    end: `${day(to)}T00:00:00Z`,
  })
  const hourInBerlin = (hoursFromNow: number): string =>
    formatInstant(new Date(now.getTime() + hoursFromNow * HOUR_MS), BERLIN, 'HH:mm')
  const slot = afternoonSlot(day(2))
  return {
    name: 'hard-meeting',
    title: 'The hard meeting',
    shows:
      'Five people, two providers, two zones and a change of clocks between them, one of them without a calendar and with an address that Google refuses; a claim delivered twice, a dispatcher killed, a throttled account, an error inside a 200, a lost answer: one event, exactly the approved people.',
    beginsAt: now.toISOString(),
    cast: {
      Ada: { ...ada },
      // Ben cannot before the clocks change, Chen not on the first day after it.
      Ben: { ...ben, address: 'ben@microsoft.example', provider: 'microsoft', busy: [days(-4, 1)] },
      Chen: { ...chen, address: CHEN, provider: 'google', busy: [days(1, 2)] },
      // Never, in all of that week: the others meet without her.
      Eve: { ...chen, address: 'eve@microsoft.example', busy: [days(-4, 6)] },
      Dana: { address: 'dana@old.example', provider: 'google', timeZone: BERLIN, invitable: false },
      'Dana at her new address': { address: 'dana@new.example', timeZone: BERLIN },
    },
    meetings: {
      main: {
        purpose: 'Contract review',
        durationMinutes: 60,
        timeZone: BERLIN,
        window: { from: `${day(-3)}T00:00`, to: `${day(5)}T00:00` },
        bookBy: new Date(now.getTime() + DAY_MS).toISOString(),
        organizer: 'Ada',
        approval: 'organizer',
        required: ['Ada', 'Ben', 'Dana'],
        optional: ['Chen', 'Eve'],
        // Nobody is written to at night. It is not night now, whenever now is, or this story would wait for the morning.
        outreach: { quietHours: { startsAt: hourInBerlin(8), endsAt: hourInBerlin(16) } },
        instruction: 'An hour with Ben and Dana next week, and with Chen and Eve if they can.',
      },
    },
    faults,
    steps: stepsOn(day(2)),
    expects: {
      meetings: {
        main: {
          state: 'confirmed',
          event: { ...slot, invited: ['Ben', 'Chen', 'Dana at her new address'] },
          told: [
            'proposal.awaiting_approval',
            'repair.opened',
            'proposal.awaiting_approval',
            'meeting.confirmed',
          ],
        },
      },
      ledger: { created: 1, patched: 0, cancelled: 0, byHand: 0, mails: 4 },
      dead: 1,
    },
  }
}

const stepsOn = (date: string): Scenario['steps'] => {
  const afternoon = [{ date, from: '12:00', to: '18:00' }]
  return [
    { type: 'open_meeting' },
    { type: 'wait_for', state: 'gathering' },
    { type: 'reply_on_page', who: 'Dana', zone: BERLIN, times: afternoon },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'approve', thenKill: true },
    { type: 'wait_for', state: 'in_repair', code: 'invalid_attendee', names: ['Dana'] },
    {
      type: 'resolve_repair',
      choice: { type: 'correct_address', who: 'Dana', to: 'Dana at her new address' },
    },
    // What came from the old address is not taken for hers: whoever is at the new one is asked.
    { type: 'wait_for', state: 'gathering' },
    { type: 'reply_on_page', who: 'Dana at her new address', zone: BERLIN, times: afternoon },
    { type: 'wait_for', state: 'awaiting_approval' },
    { type: 'arrange', fault: LOST },
    { type: 'approve' },
    { type: 'freeze_dispatcher', fault: FROZEN },
    { type: 'wait_for', state: 'confirmed' },
  ]
}

/** Ben's first working hour of that day, when it is afternoon in Berlin. */
const afternoonSlot = (date: string) => {
  const resolved = localToInstant(`${date}T09:00`, NEW_YORK)
  if (resolved.type !== 'instant') throw new Error('no clock changes on a Tuesday morning')
  const start = resolved.instant
  return { start: start.toISOString(), end: new Date(start.getTime() + HOUR_MS).toISOString() }
}

export const hardMeeting = hardMeetingAt(new Date('2031-02-24T09:00:00Z'))
