/** Who was waited for, what was known, what the client was told, and how long it took, as a trace's text answers it. Pure. */
import type { MeetingTrace } from './trace.ts'
import {
  causeText,
  choiceText,
  clientEventText,
  lookAgainText,
  missingText,
  ownerText,
  sourceText,
  waitedForText,
} from './trace-codes.ts'
import type { EntryOf } from './trace-entries.ts'
import type { Naming } from './trace-fields.ts'
import { slotText } from './trace-sentences.ts'
import { clockText, countText, durationText, listText, spanText, timesTexts } from './trace-words.ts'
import { isA } from './trace-written.ts'

type Wait = MeetingTrace['waits'][number]
type Round = MeetingTrace['rounds'][number]

/** The longest first: whoever held everybody up, and for what. Then what began each further round. */
export const waitLines = (trace: MeetingTrace, naming: Naming): readonly string[] => {
  const { waits, rounds, changedAt } = trace
  if (waits.length === 0) return ['nobody: nobody was asked for anything yet']
  const several = rounds.length > 1
  const sorted = waits.toSorted((a, b) => (b.durationMs ?? Infinity) - (a.durationMs ?? Infinity))
  const lines = sorted
    .slice(0, WAITS_SHOWN)
    .map((wait) => `${waitText(wait, several, naming)}${delayText(wait)}${overSuffix(wait)}`)
  const rest = sorted.slice(WAITS_SHOWN).map((wait) => waitText(wait, several, naming))
  const further = rounds.slice(1)
  const earlier = further.length - ROUNDS_SHOWN
  return [
    ...lines,
    ...(rest.length === 0
      ? []
      : [`and shorter ${rest.slice(0, REST_SHOWN).join('; ')}${moreText(rest.length - REST_SHOWN)}`]),
    ...(earlier > 0
      ? [
          `${countText(earlier, 'round')} before the last ${ROUNDS_SHOWN} ${earlier === 1 ? 'is' : 'are'} in the story`,
        ]
      : []),
    ...further.slice(-ROUNDS_SHOWN).map((round) => roundText(round, changedAt)),
  ]
}

const WAITS_SHOWN = 6
const REST_SHOWN = 8
const ROUNDS_SHOWN = 4

const moreText = (count: number): string => (count > 0 ? `; and ${count} more` : '')

/** `the organizer 15.9 s in round 1: approval` */
const waitText = (wait: Wait, several: boolean, { person }: Naming): string => {
  const { participantId, owner = '', round, durationMs, from, what } = wait
  const who = participantId === undefined ? waitedForText(owner) : person(participantId)
  const time = durationMs === undefined ? `still, since ${spanText(from)}` : durationText(durationMs)
  const inRound = several && what !== 'missing' ? ` in round ${round}` : ''
  const separator = durationMs === undefined && inRound !== '' ? ',' : ''
  return `${who} ${time}${separator}${inRound}: ${waitReasonText(wait)}`
}

const waitReasonText = ({ what, codes = [] }: Wait): string => {
  switch (what) {
    case 'calendar_read':
      return 'calendar read'
    case 'mail_answer':
      return 'an answer by mail'
    case 'approval':
      return 'approval'
    case 'missing':
      return timesTexts(codes.map(missingText)).join('; ')
    case 'repair':
      return `repair ${codes.join(', ')}`
  }
}

const delayText = ({ because }: Wait): string => {
  const counts = new Map<string, number>()
  for (const code of because) counts.set(code, (counts.get(code) ?? 0) + 1)
  const reasons = [...counts].map(([code, count]) => {
    const text =
      code === 'asked_in_words' ? 'the calendar did not tell, so they were asked by mail' : causeText(code)
    return count > 1 ? `${text} (${count} times)` : text
  })
  return reasons.length > 0 ? `, longer because ${listText(reasons)}` : ''
}

const overSuffix = ({ over }: Wait): string =>
  over === undefined ? '' : `; not waited for any more: ${overText(over)}`

const overText = (code: string): string => {
  switch (code) {
    case 'change_lapsed':
    case 'lapsed':
      return 'the deadline had come'
    case 'change_withdrawn':
      return 'the change was given up'
    default:
      return startText(code)
  }
}

/** What began a round, by decision, choice or cause. */
const startText = (code: string): string => {
  const again = lookAgainText(code)
  if (again !== code.replaceAll('_', ' ')) return again
  if (code === 'rescheduled') return 'another time was asked for'
  if (code === 'calendar_connected') return 'a calendar was connected'
  const choice = choiceText(code)
  return code === 'search_again' || code === 'ask_in_words' || choice !== code.replaceAll('_', ' ')
    ? `a person chose to ${choice}`
    : causeText(code)
}

const roundText = ({ round, beganAt, because, idleMs }: Round, changedAt: string): string => {
  const at = clockText(beganAt)
  const day = beganAt.slice(0, 10) === changedAt.slice(0, 10) ? at : spanText(beganAt)
  const idle =
    idleMs === undefined || idleMs === 0
      ? ''
      : `, after ${durationText(idleMs)} in which nobody was waited for`
  return `round ${round} began at ${day}${idle}: ${startText(because)}`
}

/** What each proposal was made from. */
export const knownLines = ({ entries, round }: MeetingTrace, naming: Naming): readonly string[] => {
  const evidenceById = new Map(
    entries.flatMap((entry) => (entry.type === 'evidence' ? [[entry.evidenceId, entry] as const] : [])),
  )
  const proposals = entries.filter(isA('proposal'))
  if (proposals.length === 0) return knownSoFar([...evidenceById.values()], round, naming)
  return proposals.flatMap((proposal) => {
    const head = `for ${naming.proposal(proposal.proposalId)}, ${slotText(proposal.start, proposal.end)}, chosen at ${clockText(proposal.at)}:`
    const pieces = proposal.evidenceIds.flatMap((id) => {
      const piece = evidenceById.get(id)
      return piece ? [pieceText(piece, naming)] : []
    })
    // Of earlier proposals it is enough to know that they were made from something.
    return proposal === proposals.at(-1)
      ? [head, ...pieces.map((piece) => `  ${piece}`)]
      : [`${head} ${pieces.join('; ')}`]
  })
}

const pieceText = (
  { participantId, source, learned, code, retrievedAt, expiresAt }: EntryOf<'evidence'>,
  { person }: Naming,
): string =>
  `${person(participantId)} ${learned}${code === undefined ? '' : ` (${causeText(code)})`} by ${sourceText(source)}, as of ${clockText(retrievedAt)}, good until ${spanText(expiresAt)}`

/** Before a time is chosen: what a choice would be made from. */
const knownSoFar = (
  pieces: readonly EntryOf<'evidence'>[],
  round: number,
  naming: Naming,
): readonly string[] => {
  const head = 'no time was chosen, so nothing was relied on'
  const now = pieces.filter((piece) => piece.round === round)
  if (now.length === 0) return [`${head}; nothing is known of anybody in this round yet`]
  const shown = now.slice(-PIECES_SHOWN).map((piece) => `  ${pieceText(piece, naming)}`)
  const more = now.length - shown.length
  return [
    `${head}; known in this round:`,
    ...shown,
    ...(more > 0 ? [`  and ${more} more, in the story`] : []),
  ]
}

const PIECES_SHOWN = 6

const NOTIFY = 'scheduling.notify_client'

/** What the client was told, and what it did not take, by endpoint. */
export const toldLines = ({ entries, endpoints }: MeetingTrace, { endpoint }: Naming): readonly string[] => {
  const ids = endpointsTold(entries)
  if (ids.length === 0) return ['told nothing: it has no endpoint, or it was not due yet']
  return ids.flatMap((id) => {
    const asked = entries
      .filter(isA('action_enqueued'))
      .filter(({ action, about }) => action === NOTIFY && about.endpointId === id)
    const ends = new Map(
      entries.flatMap((entry) => (entry.type === 'action_ended' ? [[entry.actionId, entry] as const] : [])),
    )
    const ended = asked.flatMap(({ actionId }) => ends.get(actionId) ?? [])
    const taken = ended.filter(({ outcome }) => outcome === 'succeeded')
    const waiting = asked.length - ended.length
    const disabled = endpoints.some((each) => each.id === id && each.disabled)
    return [
      `${endpoint(id)}${disabled ? ' (disabled: nothing is sent to it any more)' : ''} accepted ${countText(taken.length, 'message')}${taken.length > 0 ? `: ${eventsText(taken)}` : ''}${waiting > 0 ? `; ${waiting} not delivered yet` : ''}`,
      ...untoldLines(
        ended.filter(({ outcome }) => outcome !== 'succeeded'),
        disabled,
      ),
    ]
  })
}

/** The endpoints of which a meeting had something to tell, in the order in which it did. */
export const endpointsTold = (entries: MeetingTrace['entries']): readonly string[] => [
  ...new Set(
    entries.flatMap((entry) =>
      entry.type === 'action_enqueued' && entry.action === NOTIFY ? (entry.about.endpointId ?? []) : [],
    ),
  ),
]

/** `exception.opened ×6 (something is missing), meeting.confirmed (confirmed)` */
const eventsText = (ended: readonly EntryOf<'action_ended'>[]): string => {
  const events = ended.map(({ about: { event = 'something' } }) => event)
  const counted = timesTexts(events)
  return listText(
    [...new Set(events)].map((event, index) => `${counted[index] ?? event} (${clientEventText(event)})`),
  )
}

/** What one endpoint did not take, by why. */
const untoldLines = (ended: readonly EntryOf<'action_ended'>[], disabled: boolean): readonly string[] => {
  const whys = new Set(ended.map(({ code }) => code ?? 'other'))
  return [...whys].map((why) => {
    const those = ended.filter(({ code }) => (code ?? 'other') === why)
    const owner = those.find((each) => each.owner !== undefined)?.owner
    const act = owner === undefined ? '' : disabled ? '; nobody must act' : `; ${ownerText(owner)} must look`
    return `  not told there: ${eventsText(those)}, for ${causeText(why)}${act}`
  })
}

/** The whole first, then the stages of each round. */
export const tookLines = ({ stages, openedAt, changedAt }: MeetingTrace): readonly string[] => {
  const total = `${durationText(Date.parse(changedAt) - Date.parse(openedAt))} from the request to the last change`
  const rounds = [...new Set(stages.map(({ round }) => round))]
  const lines = rounds.slice(-ROUNDS_SHOWN).map((round) => {
    const each = stages
      .filter((stage) => stage.round === round)
      .map(
        ({ stage, durationMs, cut }) =>
          `${stageText[stage]} ${durationText(durationMs)}${cut === true ? ' (broken off)' : ''}`,
      )
    return `${rounds.length > 1 ? `round ${round}: ` : ''}${each.join(', ')}`
  })
  if (rounds.length <= 1) return [[total, ...lines].join(': ')]
  return [
    rounds.length > ROUNDS_SHOWN ? `${total}; of the last ${ROUNDS_SHOWN} rounds:` : `${total}:`,
    ...lines,
  ]
}

const stageText: Readonly<Record<MeetingTrace['stages'][number]['stage'], string>> = {
  incomplete: 'incomplete (waiting for knowledge)',
  availability: 'availability',
  choice: 'choice',
  approval: 'approval',
  write: 'write',
  proof: 'proof',
  standing: 'booked, nothing to do',
  repair: 'waiting for a repair',
  clearing: 'taking away what stood',
}
