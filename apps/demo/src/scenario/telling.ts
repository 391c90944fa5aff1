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
  /** Something that the trace cannot know of. It is told with the next news, where its moment belongs. */
  readonly note: (at: Date, line: string) => void
}

interface Told {
  readonly scenario: Scenario
  readonly stage: Stage
  readonly meetingIds: ReadonlyMap<string, string>
  readonly tell: (line: string) => void
  readonly detail: Detail
}

export const tellerOf = (told: Told): Teller => {
  const { tell } = told
  if (told.detail === 'steps') {
    return { news: nothing, afterStep: nothing, note: (_at, line) => tell(`   ${line}`) }
  }
  const { stage, meetingIds } = told
  const known = new Set<string>()
  const noted: Line[] = []
  const isNew = (key: string): boolean => !known.has(key) && known.add(key).has(key)
  const news = async (): Promise<readonly Seen[]> => {
    const meetings = await Promise.all([...meetingIds].map(([label, id]) => see(stage, label, id)))
    const entries = meetings.map((seen) => entryLines(told, seen, isNew))
    const faults = await faultLines(told, isNew)
    for (const { text } of inOrder([faults, noted.splice(0), ...entries])) tell(`   ${text}`)
    return meetings
  }
  return {
    news: async () => {
      await news()
    },
    afterStep: async () => {
      for (const seen of await news()) tell(`   → ${waitLine(seen, meetingIds.size > 1)}`)
    },
    note: (at, text) => void noted.push({ at: at.getTime(), text }),
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

interface Line {
  /** By the clock of the stage. */
  readonly at: number
  readonly text: string
}

/** Lists as one, by when each line happened. No list's own order is broken: it knows what came of what. */
const inOrder = (lists: readonly (readonly Line[])[]): readonly Line[] => {
  const open = lists.map((list) => [...list])
  const ordered: Line[] = []
  for (;;) {
    const [next, ...others] = open.filter((list) => list.length > 0)
    if (!next) return ordered
    const earliest = others.reduce((a, b) => (timeOfFirst(b) < timeOfFirst(a) ? b : a), next)
    ordered.push(...earliest.splice(0, 1))
  }
}

const timeOfFirst = ([first]: readonly Line[]): number => first?.at ?? Infinity

const entryLines = (
  { detail }: Told,
  { label, trace, names }: Seen,
  isNew: (key: string) => boolean,
): readonly Line[] =>
  trace.entries.flatMap((entry) => {
    if (detail !== 'everything' && !headlines.has(entry.type)) return []
    const text = isNew(`${label}${JSON.stringify(entry)}`) ? narrate(entry, names) : undefined
    return text === undefined ? [] : [{ at: Date.parse(entry.at), text }]
  })

const faultLines = async (
  { scenario, stage }: Told,
  isNew: (key: string) => boolean,
): Promise<readonly Line[]> => {
  const lines: Line[] = []
  for (const { id, fired } of await stage.control.readFaults()) {
    const because = scenario.faults?.find((fault) => fault.id === id)?.harmlessBecause
    const [first, ...more] = fired.filter(({ requestId }) => isNew(requestId))
    if (!first) continue
    const times = more.length > 0 ? ` (${more.length + 1} times)` : ''
    const at = Date.parse(first.at) + (await aheadMs(stage))
    lines.push({ at, text: `It happens: ${id}${times}. ${because ?? ''}` })
  }
  return lines.sort((a, b) => a.at - b.at)
}

/** The world outside lives by the real clock, which a movable one is ahead of. */
const aheadMs = async ({ clock }: Stage): Promise<number> =>
  clock.isReal ? 0 : (await clock.now()).getTime() - Date.now()

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
  formatInstant(new Date(instant), UTC, "EEE d MMM yyyy HH:mm'Z'")
