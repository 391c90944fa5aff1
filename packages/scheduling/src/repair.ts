/** What may be done about each repair, and what a choice makes of the meeting. Pure. */
import { z } from 'zod'
import { ParticipantId } from './ids.ts'
import { Identity, Substitute, sameAddress, type MeetingIntent } from './intent.ts'
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

/** Every way on that a person can choose, and what has to be told with it. */
export const RepairChoice = z.discriminatedUnion('type', [
  z.strictObject(
    choice(
      'search_again',
      "Look for a time again, with everybody's time read anew. What may stand is taken away.",
    ),
  ),
  z.strictObject({
    ...choice('correct_address', 'The person stays, under another address.'),
    ...who,
    ...Identity.shape,
  }),
  z.strictObject({
    ...choice('substitute_person', 'Another person takes the place.'),
    ...who,
    substitute: Substitute.optional().meta({
      description: 'Left out, it is the first of the substitutes that the meeting named for this place.',
    }),
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
  z.strictObject(choice('cancel_meeting', 'Cancel the meeting, and its event if there is one.')),
])
export type RepairChoice = z.output<typeof RepairChoice>
export type RepairChoiceType = RepairChoice['type']

const people = ['correct_address', 'substitute_person'] as const

/** By code. What is not listed can be searched for again, or cancelled. */
const choicesByCode: Readonly<Record<string, readonly RepairChoiceType[]>> = {
  availability_unknown: ['search_again', 'ask_in_words', ...people],
  address_refused: people,
  invalid_attendee: people,
  participant_declined: ['search_again', 'substitute_person'],
  several_events: ['keep_one', 'search_again'],
  event_differs: ['look_again', 'restore_event', 'search_again'],
  event_not_visible: ['look_again', 'search_again'],
  conference_pending: ['look_again', 'search_again'],
  event_changed: ['restore_event', 'look_again', 'search_again'],
  event_moved: ['accept_change', 'restore_event', 'search_again'],
  event_gone: ['search_again'],
  cancel_failed: ['search_again'],
}

export const choicesOf = ({ code }: Pick<Repair, 'code'>): readonly RepairChoiceType[] => [
  ...(choicesByCode[code] ?? ['search_again', ...people]),
  'cancel_meeting',
]

/** People whom a repair names, in its facts. */
const NamedPeople = z.object({ participantIds: z.array(ParticipantId) })
export const peopleOf = ({ facts }: Pick<Repair, 'facts'>): readonly ParticipantId[] => {
  const named = NamedPeople.safeParse(facts)
  return named.success ? named.data.participantIds : []
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
  if (sameAddress(person.address, current.address)) {
    return { type: 'malformed', path: [...path, 'address'], reason: 'the address is the same as before' }
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
