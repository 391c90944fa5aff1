/** Who was waited for, what was known, what the client was told, and how long it took, as a trace's text answers it. Pure. */
import type { MeetingTrace } from './trace.ts'
import {
  causeText,
  choiceText,
  clientEventText,
  lookAgainText,
  ownerText,
  sourceText,
} from './trace-codes.ts'
import type { EntryOf } from './trace-entries.ts'
import type { Naming } from './trace-fields.ts'
import { slotText } from './trace-sentences.ts'
import { isA } from './trace-failures.ts'
import { clockText, countText, durationText, listText, spanText } from './trace-words.ts'

type Wait = MeetingTrace['waits'][number]
type Round = MeetingTrace['rounds'][number]

/** The longest first: the one who held everybody up. Then what began each further round. */
export const waitLines = (trace: MeetingTrace, { person }: Naming): readonly string[] => {
  const { waits, rounds, changedAt } = trace
  if (waits.length === 0) return ['nobody: nobody was asked for their time yet']
  const inRound = (round: number): string => (rounds.length > 1 ? ` in round ${round}` : '')
  const sorted = waits.toSorted((a, b) => (b.durationMs ?? Infinity) - (a.durationMs ?? Infinity))
  const lines = sorted.slice(0, WAITS_SHOWN).map((wait) => {
    const { participantId, round, durationMs } = wait
    const time = durationMs === undefined ? `still, since ${spanText(wait.from)}` : durationText(durationMs)
    return `${person(participantId)} ${time}${inRound(round)}${delayText(wait)}`
  })
  const rest = sorted
    .slice(WAITS_SHOWN)
    .map(({ participantId, round }) => `${person(participantId)}${inRound(round)}`)
  const further = rounds.slice(1)
  const earlier = further.length - ROUNDS_SHOWN
  return [
    ...lines,
    ...(rest.length === 0 ? [] : [`and shorter for ${listText(rest)}`]),
    ...(earlier > 0
      ? [`${countText(earlier, 'round')} before the last ${ROUNDS_SHOWN} are in the story`]
      : []),
    ...further.slice(-ROUNDS_SHOWN).map((round) => roundText(round, changedAt)),
  ]
}

const WAITS_SHOWN = 4
const ROUNDS_SHOWN = 4

const delayText = ({ because, over }: Wait): string => {
  const counts = new Map<string, number>()
  for (const code of because) counts.set(code, (counts.get(code) ?? 0) + 1)
  const reasons = [...counts].map(([code, count]) => {
    const text =
      code === 'asked_in_words' ? 'the calendar did not tell, so they were asked by mail' : causeText(code)
    return count > 1 ? `${text} (${count} times)` : text
  })
  const why = reasons.length > 0 ? ` because ${listText(reasons)}` : ''
  return `${why}${over === undefined ? '' : `; not waited for any more: ${overText(over)}`}`
}

const overText = (code: string): string => {
  switch (code) {
    case 'change_lapsed':
    case 'lapsed':
      return 'the deadline had come'
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
  const idle = idleMs === undefined ? '' : `, ${durationText(idleMs)} after the last wait was over`
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

/** What the client was told, and what it did not take. */
export const toldLines = ({ entries }: MeetingTrace): readonly string[] => {
  const NOTIFY = 'scheduling.notify_client'
  const attempts = entries.filter(isA('attempt')).filter(({ action }) => action === NOTIFY)
  if (attempts.length === 0) return ['told nothing: it has no endpoint, or it was not due yet']
  const taken = attempts.filter(({ outcome }) => outcome === 'succeeded')
  const events = taken.map(({ about: { event } }) =>
    event === undefined ? 'something' : `${event} (${clientEventText(event)})`,
  )
  const dead = entries
    .filter(isA('action_ended'))
    .filter(({ action, outcome }) => action === NOTIFY && outcome !== 'succeeded')
    .map(
      ({ about: { event = 'something' }, code, owner }) =>
        `not told: ${event} (${causeText(code ?? 'other')})${owner === undefined ? '' : `; ${ownerText(owner)} must look`}`,
    )
  return [
    `${countText(taken.length, 'message')} taken${taken.length > 0 ? `: ${listText(events)}` : ''}`,
    ...dead,
  ]
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
  availability: 'availability',
  choice: 'choice',
  approval: 'approval',
  write: 'write',
  proof: 'proof',
  standing: 'booked, nothing to do',
  repair: 'waiting for a repair',
  clearing: 'taking away what stood',
}
