/** Who must act, on what, and what happens by itself, as a trace's text answers it. Pure. */
import type { MeetingTrace } from './trace.ts'
import { causeText, choiceText, lookAgainText, missingText, ownerText } from './trace-codes.ts'
import type { Naming } from './trace-fields.ts'
import { actionText } from './trace-sentences.ts'
import { TELLS } from './trace-waits.ts'
import { countText, listText, momentText, spanText } from './trace-words.ts'

type Step = MeetingTrace['next'][number]

export const nextLines = ({ next, state }: MeetingTrace, naming: Naming): readonly string[] => {
  if (next.length === 0) return ['nothing is left to do, and nobody must act']
  const lines = next.map((step) =>
    step.type === 'action'
      ? pendingText(step, naming)
      : `${personText(step, naming)}${untilText(step.until)}${onlyTelling(step, state.type)}`,
  )
  const alone = next.every(({ type }) => type === 'action')
  return alone ? ['nobody must act; by itself:', ...lines] : lines
}

/** Whoever reads that somebody must act would take the meeting itself for unfinished. */
const onlyTelling = ({ action }: Step, state: string): string =>
  action !== undefined && TELLS.has(action)
    ? `; this is about the telling only: the meeting itself is ${state.replaceAll('_', ' ')} all the same`
    : ''

const untilText = (until: string | undefined): string =>
  until === undefined ? '' : `, until ${spanText(until)}`

const personText = (step: Extract<Step, { type: 'person' }>, naming: Naming): string => {
  const { owner, code, participantId, subject, because = [], choices = [], action, about = {} } = step
  const who = participantId === undefined ? ownerText(owner) : naming.person(participantId)
  switch (subject?.type) {
    case 'proposal':
      return `${who} must act: approve ${naming.proposal(subject.id)}, or not`
    case 'exception':
      return `${who} must act: tell ${missingText(code)} (exception ${subject.id})`
    case 'repair': {
      const why = because.length > 0 ? ` (${listText(because.map(originText))})` : ''
      return `${who} must act: ${causeText(code)}${why}; the choices are to ${listText(choices.map(choiceText))} (repair ${subject.id})`
    }
    case 'dead_letter': {
      const what = actionText({ action: action ?? '', kind: 'effect', about }, naming)
      const where = about.endpointId === undefined ? '' : ` at ${naming.endpoint(about.endpointId)}`
      return `${who} must act: “${what}” was given up, for ${causeText(code)}; mend that${where}, then let dead letter ${subject.id} be replayed`
    }
    case undefined:
      return code === 'reply'
        ? `${who} must act: answer the mail that asks for their time`
        : `${who} must act: ${causeText(code)}`
  }
}

/** A repair comes of what ended for good, or of times that were lost again. */
const originText = (code: string): string => {
  const again = lookAgainText(code)
  return again === code.replaceAll('_', ' ') ? causeText(code) : again
}

const pendingText = (step: Extract<Step, { type: 'action' }>, naming: Naming): string => {
  const { state, dueAt, heldBy, until, attempts = 0, code } = step
  const what = actionText(step, naming)
  if (heldBy !== undefined) return `${what}: ${naming.replica(heldBy)} is at it`
  if (state === 'outcome_unknown') return `${what}: rests until it is known what became of it`
  const why = until === undefined ? '' : `; ${postponedText(until)}`
  const tried =
    attempts > 0 && code !== undefined
      ? `; tried ${countText(attempts, 'time')}, last: ${causeText(code)}`
      : ''
  const when = dueAt === undefined ? '' : ` ${momentText(dueAt)}`
  return `${what}: ${stateWords[state] ?? state.replaceAll('_', ' ')}${when}${why}${tried}`
}

/** How a row that has not ended waits, before the time at which it is due. */
const stateWords: Readonly<Record<string, string>> = {
  scheduled: 'due',
  ready: 'due since',
  waiting: 'waits for what comes before it; due',
  held: 'waits for somebody to repair what comes before it; due',
  paused: 'rests as long as its account rests; due',
}

const postponedText = ({
  because,
  localTime,
}: NonNullable<Extract<Step, { type: 'action' }>['until']>): string =>
  because === 'quiet_hours'
    ? `quiet hours on their clock until ${localTime ?? 'then'}`
    : 'not this soon after the last message'
