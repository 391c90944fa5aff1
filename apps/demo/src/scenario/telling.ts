/** What is new, and who waits for whom, in lines to read. */
import { formatInstant, UTC } from '@aftercommit/time'
import { narrate, type Names } from '../narrate.ts'
import type { TraceAnswer } from './client.ts'
import type { Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

interface Told {
  readonly stage: Stage
  readonly meetingIds: ReadonlyMap<string, string>
}

export const newsTeller = ({
  scenario,
  stage,
  meetingIds,
  tell,
  detailed,
}: Told & {
  readonly scenario: Scenario
  readonly tell: (line: string) => void
  readonly detailed: boolean
}): (() => Promise<void>) => {
  const told = new Set<string>()
  const isNew = (key: string): boolean => !told.has(key) && told.add(key).has(key)
  return async () => {
    for (const id of meetingIds.values()) {
      const names = await namesFor(stage, id)
      for (const entry of (await stage.client.trace(id)).entries) {
        if (!detailed && !headlines.has(entry.type)) continue
        const line = isNew(`${id}${JSON.stringify(entry)}`) ? narrate(entry, names) : undefined
        if (line !== undefined) tell(`   ${line}`)
      }
    }
    for (const { id, fired } of await stage.control.readFaults()) {
      const because = scenario.faults?.find((fault) => fault.id === id)?.harmlessBecause
      fired.forEach(({ requestId }) => {
        if (isNew(requestId)) tell(`   It happens: ${id}. ${because ?? ''}`)
      })
    }
  }
}

/** Whatever changed the meeting or what is known, and not every attempt. */
const headlines: ReadonlySet<string> = new Set([
  'evidence',
  'proposal',
  'approval',
  'event_written',
  'completion_verified',
  'repair_opened',
])

const namesFor = async ({ client, dispatcherName }: Stage, id: string): Promise<Names> => {
  const { participants } = await client.meeting(id)
  return {
    personById: new Map(participants.map((person) => [person.id, person.displayName])),
    dispatcherOf: dispatcherName,
  }
}

/** Whoever must act, and what goes on by itself, for each meeting. */
export const waitsOf = async ({ stage, meetingIds }: Told): Promise<readonly string[]> => {
  const lines: string[] = []
  for (const [label, id] of meetingIds) {
    const { state } = await stage.client.meeting(id)
    const { personById } = await namesFor(stage, id)
    const { next } = await stage.client.trace(id)
    const what = meetingIds.size > 1 ? `“${label}”` : 'the meeting'
    const waits = next.map((step) => waitText(step, personById))
    const for_ = waits.length === 0 ? 'waits for nobody' : `waits for ${waits.join('; ')}`
    lines.push(`→ ${what} is ${state.type.replaceAll('_', ' ')} and ${for_}`)
  }
  return lines
}

const waitText = (step: TraceAnswer['next'][number], personById: ReadonlyMap<string, string>): string => {
  if (step.type === 'person') {
    const { participantId, owner, code, until } = step
    const who = personById.get(participantId ?? '') ?? `the ${owner.replaceAll('_', ' ')}`
    return `${who} (${code.replaceAll('_', ' ')}${until === undefined ? '' : `, until ${timeText(until)}`})`
  }
  const verb = step.action.replace(/^[^.]*\./, '').replaceAll('_', ' ')
  const who = personById.get(step.about.participantId ?? '')
  return `${verb}${who === undefined ? '' : ` of ${who}`}${step.dueAt === undefined ? '' : ` (${timeText(step.dueAt)})`}`
}

export const timeText = (instant: string): string =>
  formatInstant(new Date(instant), UTC, "EEE d MMM HH:mm'Z'")
