/** The main job, told while it happens. */
import { randomBytes } from 'node:crypto'
import { simulatorControl } from '@aftercommit/simulator'
import { scriptAt, type CastMember, type Script } from './cast.ts'
import { apiClient, type ApiClient, type MeetingAnswer, type TraceAnswer } from './client.ts'
import { faultTeller } from './faults.ts'
import { bothClocks, narrate, type Names } from './narrate.ts'
import type { Stack } from './stack.ts'
import { deliverTwice, killAfterCommit, type Blow } from './trouble.ts'

export type Tell = (line: string) => void

export interface Story {
  readonly script: Script
  readonly meeting: MeetingAnswer
  readonly trace: TraceAnswer
  /** The trace as its reader gets it. */
  readonly page: string
  readonly webhookName: string
  /** What was done to the dispatchers themselves. */
  readonly blows: readonly Blow[]
}

const LOOK_EVERY_MS = 60
const STORY_MAX_MS = 60_000
const WORKING_HOURS = { startsAt: '09:00', endsAt: '17:00', days: [1, 2, 3, 4, 5] }

export const tellStory = async (stack: Stack, apiKey: string, now: Date, tell: Tell): Promise<Story> => {
  const script = scriptAt(now)
  const api = apiClient(stack.apiUrl, apiKey)
  const control = simulatorControl(stack.simulatorUrl)
  const webhookName = 'client'
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  await control.putPeople(
    script.people.map(({ name: _, ...person }) => ({ ...person, busy: [...person.busy] })),
  )
  await control.putWebhookSettings(webhookName, { secret })
  await api.create('/v1/webhook-endpoints', { url: `${stack.simulatorUrl}/webhooks/${webhookName}`, secret })
  const connectionIds = await connectAll(api, script.people)
  tell(
    `${script.people.map(({ name, provider }) => `${name} (${provider})`).join(', ')} have connected calendars.`,
  )
  for (const { harmlessBecause: _, ...fault } of script.faults) {
    await control.addFault({ ...fault, skip: 0, times: 1 })
    tell(`Arranged: ${fault.id}.`)
  }
  const twice = deliverTwice(stack, control, script.organizer.address, tell)
  const kill = killAfterCommit(stack, tell)
  await twice.arrange()
  tell(`Arranged: ${twice.blow.id}; ${kill.blow.id}.`)
  const id = await api.create('/v1/meetings', intentOf(script, connectionIds))
  tell('POST /v1/meetings → 201. One transaction holds the meeting and its first outbox rows.')
  const stopping = twice.run(api, id)
  const approve = async (proposalId: string): Promise<void> => {
    // The stopped dispatcher must be awake again, or the kill would leave nobody.
    await stopping
    await api.approve(id, proposalId, script.organizer.address)
    killing = kill.run()
  }
  let killing: Promise<void> | undefined
  // Together: when the blow fails, the story ends at once.
  const [end] = await Promise.all([
    follow(stack, api, id, { approve, tell, tellFaults: faultTeller(control, script.faults) }),
    stopping,
  ])
  await killing
  const page = await api.tracePage(id)
  return { script, webhookName, page, blows: [twice.blow, kill.blow], ...end }
}

const connectAll = async (
  api: ApiClient,
  people: readonly CastMember[],
): Promise<ReadonlyMap<string, string>> => {
  const ids = new Map<string, string>()
  for (const { provider, address, refreshToken } of people) {
    ids.set(address, await api.create('/v1/calendar-connections', { provider, address, refreshToken }))
  }
  return ids
}

const intentOf = ({ organizer, people, window, bookBy }: Script, ids: ReadonlyMap<string, string>) => ({
  purpose: 'Contract review',
  durationMinutes: 60,
  timeZone: organizer.timeZone,
  window,
  bookBy: bookBy.toISOString(),
  organizer: { address: organizer.address, calendarConnectionId: ids.get(organizer.address) },
  participants: people.map(({ name, address, timeZone }) => ({
    displayName: name,
    address,
    role: 'required',
    calendarConnectionId: ids.get(address),
    timeZone,
    workingHours: WORKING_HOURS,
  })),
  approval: { type: 'named_approver', address: organizer.address },
  instruction: 'An hour with Ben and Chen next week, whenever all three of us are at work.',
})

interface Followed {
  readonly approve: (proposalId: string) => Promise<void>
  readonly tell: Tell
  readonly tellFaults: ReturnType<typeof faultTeller>
}

/** What is due within the story. A booked event is looked at again long after it. */
export const duePending = ({ pending }: TraceAnswer): TraceAnswer['pending'] =>
  pending.filter(
    ({ state, dueAt }) => state !== 'scheduled' || Date.parse(dueAt ?? '') < Date.now() + STORY_MAX_MS,
  )

/** Reads the trace again and again, tells what is new, approves when asked, and ends when nothing is left to do. */
const follow = async (
  stack: Stack,
  api: ApiClient,
  id: string,
  { approve, tell, tellFaults }: Followed,
): Promise<{ meeting: MeetingAnswer; trace: TraceAnswer }> => {
  const told = new Set<string>()
  const until = Date.now() + STORY_MAX_MS
  let approved = false
  for (;;) {
    const meeting = await api.meeting(id)
    const trace = await api.trace(id)
    const names: Names = {
      personById: new Map(meeting.participants.map((person) => [person.id, person.displayName])),
      dispatcherOf: (id) => stack.dispatchers.find(({ ready }) => ready.replicaId === id)?.name ?? 'nobody',
    }
    for (const entry of trace.entries) {
      const key = JSON.stringify(entry)
      if (told.has(key)) continue
      told.add(key)
      const line = narrate(entry, names)
      if (line !== undefined) tell(line)
    }
    for (const line of await tellFaults(trace, names)) tell(line)
    if (meeting.state.type === 'awaiting_approval' && meeting.proposal && !approved) {
      approved = true
      tell(`The organizer approves ${bothClocks(meeting.proposal.start)}.`)
      await approve(meeting.proposal.id)
    } else if (duePending(trace).length === 0 || Date.now() > until) {
      return { meeting, trace }
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
