import type { EventAct, Provider } from './contract.ts'
import { recordEvent } from './ledger.ts'
import { touch } from './state.ts'
import type { HeldEvent, World } from './state.ts'
import { isZone } from './zone.ts'

type Visibility = Extract<EventAct, { type: 'set_visibility' }>['visibility']

const shownAs = (provider: Provider, visibility: Visibility): Readonly<Record<string, string>> =>
  provider === 'google' ? { visibility } : { sensitivity: visibility === 'private' ? 'private' : 'normal' }

/** Why nobody could do this by hand; a test that asks for it scripts the world wrongly. Undefined: it can be done. */
export const objectionTo = (event: HeldEvent, act: EventAct): string | undefined => {
  const isDeleted = event.status === 'cancelled'
  if (act.type === 'restore') {
    if (event.provider !== 'google') return 'What was deleted at Microsoft does not come back under its id.'
    return isDeleted ? undefined : 'The event is not deleted.'
  }
  if (isDeleted) return 'The event is deleted.'
  if (act.type === 'move' && event.provider === 'google' && act.timeZone && !isZone(act.timeZone)) {
    return 'Google takes IANA time zones only.'
  }
  const isAboutAttendee = act.type === 'respond' || act.type === 'remove_attendee'
  return isAboutAttendee && !event.attendees.some(({ address }) => address === act.address)
    ? `${act.address} is not invited.`
    : undefined
}

/** Does by hand what a calendar's user may do to an event, behind the API client's back. */
export const actOnEvent = (world: World, event: HeldEvent, act: EventAct, at: Date): void => {
  switch (act.type) {
    case 'move':
      event.time = {
        type: 'timed',
        start: new Date(act.start),
        end: new Date(act.end),
        timeZone: act.timeZone ?? (event.time.type === 'timed' ? event.time.timeZone : 'UTC'),
      }
      event.sequence += 1
      break
    case 'make_all_day':
      event.time = { type: 'all_day', start: act.start, end: act.end }
      event.sequence += 1
      break
    case 'set_visibility':
      event.echoes = { ...event.echoes, ...shownAs(event.provider, act.visibility) }
      break
    case 'delete':
      event.status = 'cancelled'
      break
    case 'restore':
      event.status = 'confirmed'
      break
    case 'rename':
      event.title = act.title
      break
    case 'set_location':
      event.location = act.location ?? undefined
      break
    case 'remove_attendee':
      event.attendees = event.attendees.filter(({ address }) => address !== act.address)
      break
    case 'respond':
      event.attendees = event.attendees.map((attendee) =>
        attendee.address === act.address
          ? { ...attendee, response: act.response, respondedAt: at }
          : attendee,
      )
      break
    case 'add_attendee':
      event.attendees = [
        ...event.attendees,
        {
          address: act.address,
          displayName: undefined,
          kind: act.optional ? 'optional' : 'required',
          response: 'needs_action',
          respondedAt: undefined,
        },
      ]
      break
  }
  touch(event, at)
  recordEvent(world, act.type === 'delete' ? 'event_cancelled' : 'event_patched', event, 'person')
}
