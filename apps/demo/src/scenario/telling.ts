/** What is new, and who waits for whom, in lines to read. */
import { formatInstant, UTC } from '@aftercommit/time'
import { narrate, type Names } from '../narrate.ts'
import type { TraceAnswer } from './client.ts'
import type { Scenario } from './scenario.ts'
import type { Stage } from './stage.ts'

/** How much of it is told. */
export type Detail = 'steps' | 'headlines' | 'everything'

export interface Teller {
  /** What is new. */
  readonly news: () => Promise<void>
  /** What is new, and who waits for whom now. */
  readonly afterStep: () => Promise<void>
}

interface Told {
  readonly scenario: Scenario
  readonly stage: Stage
  readonly meetingIds: ReadonlyMap<string, string>
  readonly tell: (line: string) => void
  readonly detail: Detail
}

export const tellerOf = (told: Told): Teller => {
  if (told.detail === 'steps') return { news: nothing, afterStep: nothing }
  const { stage, meetingIds, tell } = told
  const known = new Set<string>()
  const isNew = (key: string): boolean => !known.has(key) && known.add(key).has(key)
  const news = async (): Promise<readonly Seen[]> => {
    const meetings = await Promise.all([...meetingIds].map(([label, id]) => see(stage, label, id)))
    for (const seen of meetings) tellEntries(told, seen, isNew)
    await tellFaults(told, isNew)
    return meetings
  }
  return {
    news: async () => {
      await news()
    },
    afterStep: async () => {
      for (const seen of await news()) tell(`   → ${waitLine(seen, meetingIds.size > 1)}`)
    },
  }
}

const nothing = (): Promise<void> => Promise.resolve()

/** A meeting as it is at one moment. */
interface Seen {
  readonly label: string
  readonly state: string
  readonly trace: TraceAnswer
  readonly names: Names
}

const see = async ({ client, dispatcherName }: Stage, label: string, id: string): Promise<Seen> => {
  const { participants, state } = await client.meeting(id)
  const personById = new Map(participants.map((person) => [person.id, person.displayName]))
  const trace = await client.trace(id)
  return { label, state: state.type, trace, names: { personById, dispatcherOf: dispatcherName } }
}

const tellEntries = (
  { tell, detail }: Told,
  { label, trace, names }: Seen,
  isNew: (key: string) => boolean,
): void => {
  for (const entry of trace.entries) {
    if (detail !== 'everything' && !headlines.has(entry.type)) continue
    const line = isNew(`${label}${JSON.stringify(entry)}`) ? narrate(entry, names) : undefined
    if (line !== undefined) tell(`   ${line}`)
  }
}

const tellFaults = async (
  { scenario, stage, tell }: Told,
  isNew: (key: string) => boolean,
): Promise<void> => {
  for (const { id, fired } of await stage.control.readFaults()) {
    const because = scenario.faults?.find((fault) => fault.id === id)?.harmlessBecause
    const more = fired.filter(({ requestId }) => isNew(requestId))
    const times = more.length > 1 ? ` (${more.length} times)` : ''
    if (more.length > 0) tell(`   It happens: ${id}${times}. ${because ?? ''}`)
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
  'repair_resolved',
  'message_sent',
])

const waitLine = ({ label, state, trace, names }: Seen, several: boolean): string => {
  const what = several ? `“${label}”` : 'the meeting'
  const waits = trace.next.map((step) => waitText(step, names.personById))
  const whom = waits.length === 0 ? 'waits for nobody' : `waits for ${waits.join('; ')}`
  return `${what} is ${state.replaceAll('_', ' ')} and ${whom}`
}

/** Who waits for whom in one meeting, in one line. */
export const waitsOf = async (stage: Stage, meetingId: string): Promise<string> =>
  waitLine(await see(stage, '', meetingId), false)

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
