/** What may be done about each repair, and what a choice makes of the meeting. Pure. */
import { z } from 'zod'
import { ParticipantId, type ProposalId } from './ids.ts'
import { Identity, IntentDraft, Substitute, sameAddress, untimely, type MeetingIntent } from './intent.ts'
import type { Meeting, Participant, Repair } from './meeting.ts'

const choice = <const Type extends string>(type: Type, description: string) => ({
  type: z.literal(type).meta({ description, examples: [type] }),
})
const who = {
  participantId: ParticipantId.meta({
    description: 'Whose place it is about, as the meeting lists its participants.',
    examples: ['7c1e5a52-2d6f-4c1e-9d0e-3a8f6b1c2d4e'],
  }),
}

/** A search needs a deadline ahead of it; a booked meeting's own has mostly passed. */
const time = {
  bookBy: IntentDraft.shape.bookBy.optional(),
  window: IntentDraft.shape.window.optional(),
}

/** Every way on that a person can choose, and what has to be told with it. */
export const RepairChoice = z.discriminatedUnion('type', [
  z.strictObject({
    ...choice(
      'search_again',
      "Look for a time again, with everybody's time read anew. What may stand is taken away.",
    ),
    ...time,
  }),
  z.strictObject({
    ...choice('correct_address', 'The person stays, under another address.'),
    ...who,
    ...Identity.shape,
    ...time,
  }),
  z.strictObject({
    ...choice('substitute_person', 'Another person takes the place.'),
    ...who,
    substitute: Substitute.optional().meta({
      description: 'Left out, it is the first of the substitutes that the meeting named for this place.',
    }),
    ...time,
  }),
  z.strictObject(choice('ask_in_words', 'Ask the people whose calendars do not tell, by mail.')),
  z.strictObject(
    choice(
      'keep_one',
      'Of several events keep one that agrees with what was approved, and cancel the others.',
    ),
  ),
  z.strictObject(choice('look_again', 'Read the event back once more: it was put right at the provider.')),
  z.strictObject(choice('restore_event', 'Make the event what was approved.')),
  z.strictObject(
    choice('accept_change', "The time that the event has at the provider is the meeting's time now."),
  ),
  z.strictObject(choice('keep_as_is', 'The meeting stands as it is: somebody knows, and it is well.')),
  z.strictObject(choice('cancel_meeting', 'Cancel the meeting, and its event if there is one.')),
])
export type RepairChoice = z.output<typeof RepairChoice>
export type RepairChoiceType = RepairChoice['type']

const people = ['correct_address', 'substitute_person'] as const

interface RepairKind {
  readonly means: string
  /** What can mend it, where the meeting allows it; see `allowed`. */
  readonly choices: readonly Exclude<RepairChoiceType, 'cancel_meeting'>[]
}

/** By code: what it means, and what can be chosen besides cancelling the meeting. */
export const repairKinds: Readonly<Record<string, RepairKind>> = {
  availability_unknown: {
    means: 'The time of somebody required is not known: no calendar that tells, and no answer.',
    choices: ['search_again', 'ask_in_words', ...people],
  },
  address_refused: { means: 'Mail to this address is refused for good, or came back.', choices: people },
  contact_refused: { means: 'Somebody required does not want to be written to.', choices: people },
  no_progress: {
    means:
      'Time after time, what was found was lost again before it was booked; `because` says how the last time was.',
    choices: ['search_again', ...people],
  },
  participant_declined: {
    means: 'Somebody required will not come: told on the reply page, or answered so to the invitation.',
    choices: ['search_again', 'substitute_person', 'keep_as_is'],
  },
  invalid_attendee: { means: 'The provider refuses to invite somebody at this address.', choices: people },
  several_events: {
    means: 'More than one event of this meeting stands at the provider.',
    choices: ['keep_one', 'search_again'],
  },
  event_differs: {
    means: 'The event does not agree with what was approved; `fields` says in what.',
    choices: ['look_again', 'restore_event', 'search_again', 'keep_as_is'],
  },
  event_not_visible: {
    means: 'The provider took the event and does not show it.',
    choices: ['look_again', 'search_again'],
  },
  conference_pending: {
    means: 'The video conference was asked for and is not made.',
    choices: ['look_again', 'search_again'],
  },
  event_changed: {
    means: 'Somebody changed the event before our own change of it: nothing was overwritten.',
    choices: ['restore_event', 'search_again'],
  },
  event_moved: {
    means: 'Somebody moved the booked event.',
    choices: ['accept_change', 'restore_event', 'search_again'],
  },
  event_altered: {
    means: 'An event of ours stands, and somebody changed it before it was proved.',
    choices: ['search_again'],
  },
  event_gone: { means: 'Somebody deleted the booked event.', choices: ['search_again'] },
  event_cancelled: {
    means: 'The event was cancelled before it was proved.',
    choices: ['search_again'],
  },
  event_unreadable: {
    means: 'The booked event could not be looked at again; `because` says why.',
    choices: ['look_again', 'search_again'],
  },
  cancel_failed: {
    means: 'What stands at the provider could not be taken away; `because` says why.',
    choices: ['search_again'],
  },
  grant_revoked: {
    means: 'A calendar may not be read or written any more. Connect it again first.',
    choices: ['look_again', 'search_again', ...people],
  },
  credential_unreadable: {
    means: 'A credential cannot be opened: its key is not in the ring.',
    choices: ['look_again', 'search_again', ...people],
  },
  booking_deadline_passed: {
    means: 'The deadline came between approval and write. A search needs a later one.',
    choices: ['search_again'],
  },
  slot_passed: {
    means: 'The approved time began before it could be written. A search may need a later window.',
    choices: ['search_again'],
  },
}

/** Any other code is of an action that ended for good. */
const otherKind: RepairKind['choices'] = ['look_again', 'search_again', ...people]

/** What of a meeting decides which choices a repair of it allows. */
interface Ground {
  readonly intent: MeetingIntent
  /** The approved proposal that the repair is about. */
  readonly proposalId: ProposalId | undefined
  readonly standingProposalId: ProposalId | undefined
  /** The time that somebody gave the event, where the repair says it. */
  readonly newTime: NewTime | undefined
  /** Whether an event of this proposal is known. */
  readonly isWritten: (proposalId: ProposalId | undefined) => boolean
}

const always = () => true
/** An event of the proposal, or while its change is not made yet the one that is to be changed. */
const hasBookedEvent = ({ proposalId, standingProposalId, isWritten }: Ground): boolean =>
  proposalId !== undefined && (isWritten(proposalId) || isWritten(standingProposalId))

/** What a choice needs of the meeting. What it must be told besides, its body is asked for. */
const allowed: Readonly<Record<RepairChoiceType, (ground: Ground) => boolean>> = {
  search_again: always,
  correct_address: always,
  substitute_person: always,
  ask_in_words: ({ intent }) => intent.outreach !== undefined,
  keep_one: ({ proposalId }) => proposalId !== undefined,
  look_again: ({ proposalId, isWritten }) => isWritten(proposalId),
  restore_event: hasBookedEvent,
  accept_change: (ground) => ground.newTime !== undefined && hasBookedEvent(ground),
  // Only what was confirmed before can be left as it is.
  keep_as_is: ({ proposalId, standingProposalId }) =>
    proposalId !== undefined && proposalId === standingProposalId,
  cancel_meeting: always,
}

/**
 * What may be chosen about a repair as its meeting stands now: nothing, once the meeting is about something else. Only
 * what belongs to the meeting itself counts, so that the version of its view changes with it. `written` holds the
 * proposals whose event is known.
 */
export const choicesOf = (
  repair: Pick<Repair, 'id' | 'code' | 'facts'>,
  { intent, state, standingProposalId }: Pick<Meeting, 'intent' | 'state' | 'standingProposalId'>,
  written: ReadonlySet<ProposalId>,
): readonly RepairChoiceType[] => {
  if (state.type !== 'in_repair' || state.repairId !== repair.id) return []
  const ground: Ground = {
    intent,
    proposalId: state.proposalId,
    standingProposalId,
    newTime: newTimeOf(repair),
    isWritten: (id) => id !== undefined && written.has(id),
  }
  const choices: readonly RepairChoiceType[] = [
    ...(repairKinds[repair.code]?.choices ?? otherKind),
    'cancel_meeting',
  ]
  return choices.filter((type) => allowed[type](ground))
}

const NewTime = z.object({ start: z.coerce.date<string>(), end: z.coerce.date<string>() })
type NewTime = z.output<typeof NewTime>

/** The time that a repair says the event has at the provider. */
export const newTimeOf = ({ facts }: Pick<Repair, 'facts'>): NewTime | undefined =>
  NewTime.safeParse(facts).data

/** People whom a repair names, in its facts. */
const NamedPeople = z.object({ participantIds: z.array(ParticipantId) })
export const peopleOf = ({ facts }: Pick<Repair, 'facts'>): readonly ParticipantId[] => {
  const named = NamedPeople.safeParse(facts)
  return named.success ? named.data.participantIds : []
}

export type Retimed =
  | { readonly type: 'retimed'; readonly meeting: Meeting }
  | {
      readonly type: 'malformed'
      readonly problems: readonly { readonly path: readonly (string | number)[]; readonly reason: string }[]
    }

/** The meeting with the deadline and the window that a choice gives it. A new window is a new question to everybody. */
export const retime = (
  meeting: Meeting,
  { bookBy, window }: Pick<Extract<RepairChoice, { type: 'search_again' }>, 'bookBy' | 'window'>,
  now: Date,
): Retimed => {
  const intent = { ...meeting.intent, ...(bookBy !== undefined && { bookBy }), ...(window && { window }) }
  const parsed = IntentDraft.safeParse(intent)
  const malformed = parsed.error?.issues.map(({ path, message }) => ({
    path: path.filter((part) => typeof part !== 'symbol'),
    reason: message,
  }))
  const problems = [...(malformed ?? []), ...untimely(intent, now)]
  if (problems.length > 0) return { type: 'malformed', problems }
  const isNew = bookBy !== undefined || window !== undefined
  return {
    type: 'retimed',
    meeting: {
      ...meeting,
      intent,
      ...(isNew && { revision: meeting.revision + 1 }),
      ...(window && { statedSinceRound: meeting.round + 1 }),
    },
  }
}

export type Replaced =
  | {
      readonly type: 'replaced'
      readonly meeting: Meeting
      readonly person: MeetingIntent['participants'][number]
    }
  | { readonly type: 'malformed'; readonly path: readonly string[]; readonly reason: string }

/**
 * The meeting in a new revision, in which one participant has another address or is another person. Nothing that was
 * approved for the old one carries over.
 */
export const replacePerson = (
  meeting: Meeting,
  participants: readonly Participant[],
  choice: Extract<RepairChoice, { type: 'correct_address' | 'substitute_person' }>,
): Replaced => {
  const index = participants.findIndex(({ id }) => id === choice.participantId)
  const current = meeting.intent.participants[index]
  if (!current) return { type: 'malformed', path: ['participantId'], reason: 'nobody of this meeting' }
  const found = personOf(current, choice)
  if (!found) {
    return {
      type: 'malformed',
      path: ['substitute'],
      reason: 'the meeting names no substitute for this place',
    }
  }
  const { path, person } = found
  if (participants.some(({ address }, at) => at !== index && sameAddress(address, person.address))) {
    return { type: 'malformed', path: [...path, 'address'], reason: 'the same person twice' }
  }
  const sameCalendar = person.calendarConnectionId === current.calendarConnectionId
  if (sameAddress(person.address, current.address) && sameCalendar) {
    return {
      type: 'malformed',
      path: [...path, 'address'],
      reason: 'the address and the calendar are the same as before',
    }
  }
  if (person.calendarConnectionId === undefined && meeting.intent.outreach === undefined) {
    return {
      type: 'malformed',
      path: [...path, 'calendarConnectionId'],
      reason: 'without a calendar connection the meeting needs the authority to ask by mail (outreach)',
    }
  }
  const next = meeting.intent.participants.map((each, at) => (at === index ? person : each))
  return {
    type: 'replaced',
    person,
    meeting: {
      ...meeting,
      revision: meeting.revision + 1,
      intent: { ...meeting.intent, participants: next },
    },
  }
}

const personOf = (
  current: MeetingIntent['participants'][number],
  choice: Extract<RepairChoice, { type: 'correct_address' | 'substitute_person' }>,
):
  | { readonly path: readonly string[]; readonly person: MeetingIntent['participants'][number] }
  | undefined => {
  if (choice.type === 'substitute_person') {
    const [first, ...others] = current.substitutes ?? []
    const substitute = choice.substitute ?? first
    if (!substitute) return undefined
    return { path: ['substitute'], person: { ...substitute, role: current.role, substitutes: others } }
  }
  const { address, calendarConnectionId } = choice
  const { calendarConnectionId: _, ...rest } = current
  return {
    path: [],
    person: { ...rest, address, ...(calendarConnectionId !== undefined && { calendarConnectionId }) },
  }
}
