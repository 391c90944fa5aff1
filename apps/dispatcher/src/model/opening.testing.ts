/** Opening meetings of every kind, and telling what they were not told. */
import fc from 'fast-check'
import { z } from 'zod'
import { asked, cast, dateAfter, displayNameOf, MEETING_ZONE, PURPOSE, type Name } from './cast.testing.ts'
import type { KnownMeeting, Play } from './play.testing.ts'
import { anyIndex, pick, seenMeeting, stepOf, stepWith, type Step } from './step.testing.ts'

const Opened = z.object({ id: z.string() })

/** Few times to choose from, so that meetings get into each other's way. */
export const windows = fc.constantFrom(
  { day: 2, days: 0, from: '09:00', to: '12:00' },
  { day: 2, days: 0, from: '10:00', to: '11:30' },
  { day: 2, days: 1, from: '09:00', to: '18:00' },
  { day: 4, days: 0, from: '09:00', to: '12:00' },
  { day: 7, days: 1, from: '08:00', to: '18:00' },
)
export type WindowDrawn = typeof windows extends fc.Arbitrary<infer T> ? T : never

export const windowOf = (play: Play, { day, days, from, to }: WindowDrawn) => ({
  window: {
    from: `${dateAfter(play.startedAt, day)}T${from}`,
    to: `${dateAfter(play.startedAt, day + days)}T${to}`,
  },
  bookBy: `${dateAfter(play.startedAt, day - 1)}T19:00:00Z`,
})

const guests = ['ben', 'chen', 'dora', 'emil', 'fay'] as const
const drawn = fc.record({
  organizer: fc.constantFrom('ada' as const, 'ada' as const, 'mia' as const),
  comes: fc.boolean(),
  guests: fc.uniqueArray(
    fc.record({ name: fc.constantFrom(...guests), required: fc.constantFrom(true, true, true, false) }),
    { minLength: 1, maxLength: 3, selector: ({ name }) => name },
  ),
  approval: fc.constantFrom('automatic' as const, 'organizer' as const, 'ben' as const),
  outreach: fc.option(
    fc.record({ messagesMax: fc.integer({ min: 1, max: 3 }), spacingHours: fc.constantFrom(4, 24) }),
    { nil: undefined },
  ),
  missing: fc.constantFrom('nothing', 'nothing', 'nothing', 'nothing', 'zone', 'approval', 'organizer'),
  window: windows,
  hasSubstitute: fc.boolean(),
  conference: fc.boolean(),
  /** Somebody who does not want to be written to any more is to take part, if there is anybody. */
  withRefuser: fc.boolean(),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const isAsked = (name: Name): boolean => name !== 'fay' && asked.some((each) => each === name)

const personOf = (play: Play, name: Name, required: boolean, substitute?: Name) => {
  const person = play.people.get(name)
  return {
    displayName: displayNameOf(name),
    address: cast[name].address,
    role: required ? 'required' : 'optional',
    ...(isAsked(name) ? {} : { calendarConnectionId: person?.connectionId }),
    // Nobody knows where Emil is.
    ...(name === 'emil' ? {} : { timeZone: cast[name].timeZone }),
    ...(substitute && { substitutes: [substituteOf(play, substitute)] }),
  }
}

export const substituteOf = (play: Play, name: Name) => ({
  displayName: displayNameOf(name),
  address: cast[name].address,
  calendarConnectionId: play.people.get(name)?.connectionId,
})

const approvalOf = ({ approval }: Drawn) =>
  approval === 'ben' ? { type: 'named_approver', address: cast.ben.address } : { type: approval }

const intentOf = (play: Play, is: Drawn) => {
  const { organizer, window, missing, outreach } = is
  const refuser = asked.find((name) => play.known.refusals.has(cast[name].address))
  const guests = refuser && is.withRefuser ? withGuest(is.guests, refuser) : is.guests
  const own = is.comes || guests.every(({ required }) => !required)
  const people = guests.map(({ name, required }) =>
    personOf(play, name, required, is.hasSubstitute && name === 'chen' ? 'gus' : undefined),
  )
  return {
    purpose: PURPOSE,
    durationMinutes: 60,
    conference: is.conference,
    ...windowOf(play, window),
    participants: [...(own ? [personOf(play, organizer, true)] : []), ...people],
    ...(missing !== 'zone' && { timeZone: MEETING_ZONE }),
    ...(missing !== 'approval' && { approval: approvalOf(is) }),
    ...(missing !== 'organizer' && { organizer: organizerOf(play, organizer) }),
    ...(outreach && { outreach }),
  }
}

const organizerOf = (play: Play, organizer: Name) => ({
  address: cast[organizer].address,
  calendarConnectionId: play.people.get(organizer)?.connectionId,
})

const approverOf = ({ approval, organizer }: Drawn): string | undefined => {
  if (approval === 'automatic') return undefined
  return cast[approval === 'ben' ? 'ben' : organizer].address
}

const defaultOutreach = { messagesMax: 2, spacingHours: 4 as const }

const act = async (play: Play, is: Drawn): Promise<string> => {
  const intent = intentOf(play, is)
  const answer = await play.post('/v1/meetings', intent)
  if (answer.status !== 201) return `${answer.status}`
  const { id } = Opened.parse(answer.body)
  const known: KnownMeeting = {
    number: play.known.meetings.length + 1,
    id,
    organizer: is.organizer,
    approver: approverOf(is),
    roles: new Map(
      intent.participants.map(({ address, role }) => [address, role === 'required' ? role : 'optional']),
    ),
    window: is.window,
    outreach: is.outreach,
    asking: 0,
    isCancelled: false,
    planted: 0,
    mayComeLate: false,
    isRestored: false,
    isKept: false,
    chosenAfter: 0,
    peopleChangedIn: undefined,
    booked: undefined,
    kept: undefined,
  }
  play.known.meetings.push(known)
  drawnFor.set(known, is)
  return `#${known.number}`
}

/** What a meeting was drawn with, for whoever tells later what was left out. */
const drawnFor = new WeakMap<KnownMeeting, Drawn>()

const opening = { name: 'open', act, opens: true }
export const openMeeting = stepOf({ ...opening, draw: drawn })

type Guest = Drawn['guests'][number]

const withGuest = (others: readonly Guest[], name: Guest['name']): Guest[] => [
  { name, required: true },
  ...others.filter((each) => each.name !== name).slice(0, 2),
]

/** Two meetings that need the same person in the same window. */
export const openRivals: fc.Arbitrary<readonly Step[]> = fc
  .record({ one: drawn, other: drawn, name: fc.constantFrom(...guests) })
  .map(({ one, other, name }) =>
    [one, other].map((each) =>
      stepWith(opening, {
        ...each,
        window: one.window,
        missing: 'nothing' as const,
        guests: withGuest(each.guests, name),
      }),
    ),
  )

/** One that nothing stands in the way of: everything is told, and nobody comes whose calendar does not tell. */
export const openFit = stepOf({
  ...opening,
  draw: drawn.map((is) => ({
    ...is,
    missing: 'nothing' as const,
    outreach: is.outreach ?? defaultOutreach,
    guests: withGuest(
      is.guests.filter(({ name }) => name !== 'fay'),
      is.comes ? 'dora' : 'emil',
    ),
  })),
})

/** A meeting that wants somebody's time just where another one has it. */
export const openRival = stepOf({
  name: 'open rival',
  draw: fc.record({ index: anyIndex, guest: anyIndex, is: drawn }),
  act: async (play, { index, guest, is }) => {
    const other = pick(play.known.meetings, index, (each) =>
      ['in_repair', 'confirmed'].includes(seenMeeting(play, each).state.type),
    )
    const was = other && drawnFor.get(other)
    const one = pick(was?.guests ?? [], guest, ({ name, required }) => required && isAsked(name))
    if (!was || !one) return undefined
    const { window, outreach = defaultOutreach } = was
    const guests = withGuest(is.guests, one.name)
    return act(play, { ...is, window, outreach, missing: 'nothing', guests })
  },
})

const answerTo = (play: Play, code: string, is: Drawn): Record<string, unknown> => {
  switch (code) {
    case 'zone_missing':
      return { timeZone: MEETING_ZONE }
    case 'authority_missing':
      return { approval: approvalOf(is) }
    case 'organizer_calendar_missing':
      return organizerOf(play, is.organizer)
    default:
      return { outreach: defaultOutreach }
  }
}

export const tellWhatIsMissing = stepOf({
  name: 'tell',
  draw: fc.record({ index: anyIndex, right: fc.constantFrom(true, true, true, false) }),
  act: async (play, { index, right }) => {
    const exception = pick(play.seen.exceptions, index, () => true)
    const meeting = play.known.meetings.find(({ id }) => id === exception?.meetingId)
    const is = meeting && drawnFor.get(meeting)
    if (!exception || !is) return undefined
    const answer = right ? answerTo(play, exception.code, is) : { timeZone: 'Mars/Base' }
    const { status } = await play.post(`/v1/exceptions/${exception.id}/resolve`, answer)
    if (status === 200 && 'outreach' in answer) meeting.outreach = defaultOutreach
    return `${exception.code} ${status}`
  },
})
