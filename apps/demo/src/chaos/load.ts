/** A steady stream of meetings: people connect their calendars, meetings are opened, moved and cancelled. */
import { randomBytes } from 'node:crypto'
import type { SimulatorControl } from '@aftercommit/simulator'
import { z } from 'zod'
import type { ChaosClient } from './client.ts'
import { meetingAt, type MeetingPlan } from './plan.ts'

export interface LoadOptions {
  readonly seed: number
  readonly client: ChaosClient
  readonly control: SimulatorControl
}

export interface Opened {
  readonly id: string
  readonly organizer: string
}

export interface Load {
  /** Opens one more meeting beside the stream; undefined when nobody answered. `before` is told its organizer first. */
  open(plan: MeetingPlan, before?: (organizer: string) => Promise<void>): Promise<Opened | undefined>
  cancel(meeting: Opened, about: string): Promise<void>
  /** No further meeting is begun. Resolves when every request is answered. */
  stop(): Promise<void>
}

const ZONE = 'Europe/Berlin'
const DAY_MS = 86_400_000
/** More lives than this at a time are not begun: a stream that outruns the machine measures the machine. */
const AT_A_TIME = 12
const LOOK_EVERY_MS = 250
const Created = z.looseObject({ id: z.string() })

export const startLoad = ({ seed, client, control }: LoadOptions): Load => {
  let stopping = false
  const lives = new Set<Promise<void>>()
  /** Of the world around, not of the product: its refusals are answers. */
  const failures: unknown[] = []
  const open: Load['open'] = async (plan, before) => {
    const people = await connected(plan, client, control)
    if (!people) return undefined
    await before?.(people.organizer.address)
    const id = idIn(await client.post('/v1/meetings', meetingOf(plan, people), plan.purpose))
    return id === undefined ? undefined : { id, organizer: people.organizer.address }
  }
  const act = (name: string, { id, organizer }: Opened, about: string, more: object = {}) =>
    client.post(`/v1/meetings/${id}/${name}`, { by: { address: organizer }, ...more }, about)
  /** Whether it came to be confirmed before the stream ended. */
  const confirmed = async ({ id }: Opened): Promise<boolean> => {
    while (!stopping) {
      const state = await client.stateOf(id)
      if (state === 'confirmed') return true
      if (state === 'in_repair' || state === 'no_overlap') return false
      await pause(LOOK_EVERY_MS)
    }
    return false
  }
  const live = async (plan: MeetingPlan): Promise<void> => {
    const meeting = await open(plan)
    if (!meeting || plan.fate === 'keep') return
    if (plan.fate !== 'cancel_at_once' && !(await confirmed(meeting))) return
    await pause(plan.pauseMs)
    if (stopping) return
    if (plan.fate === 'reschedule' || plan.fate === 'reschedule_and_cancel') {
      await act('reschedule', meeting, plan.purpose, { window: windowIn(15), bookBy: dueIn(13) })
      await pause(plan.pauseMs)
    }
    if (plan.fate !== 'reschedule') await act('cancel', meeting, plan.purpose)
  }
  const stream = async (): Promise<void> => {
    for (let n = 1; !stopping; n++) {
      const plan = meetingAt(seed, n)
      const life: Promise<void> = live(plan)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => lives.delete(life))
      lives.add(life)
      await pause(plan.gapMs)
      while (lives.size >= AT_A_TIME) await Promise.race(lives)
    }
  }
  const running = stream()
  return {
    open,
    cancel: async (meeting, about) => {
      await act('cancel', meeting, about)
    },
    stop: async () => {
      stopping = true
      await running
      await Promise.all(lives)
      if (failures.length > 0) throw new AggregateError(failures, 'the stream of meetings broke off')
    },
  }
}

interface Connected {
  readonly address: string
  readonly calendarConnectionId: string
}

/** Two people of its own for each meeting, so that no two meetings want the same hour. */
const connected = async (
  { purpose, organizer }: MeetingPlan,
  client: ChaosClient,
  control: SimulatorControl,
): Promise<{ readonly organizer: Connected; readonly guest: Connected } | undefined> => {
  const connect = async (provider: 'google' | 'microsoft'): Promise<Connected | undefined> => {
    const address = `${randomBytes(8).toString('hex')}@${provider}.example`
    const refreshToken = randomBytes(24).toString('base64url')
    await control.putPeople([{ address, provider, timeZone: ZONE, refreshToken }])
    const answer = await client.post('/v1/calendar-connections', { provider, address, refreshToken }, purpose)
    const calendarConnectionId = idIn(answer)
    return calendarConnectionId === undefined ? undefined : { address, calendarConnectionId }
  }
  const [google, microsoft] = await Promise.all([connect('google'), connect('microsoft')])
  if (!google || !microsoft) return undefined
  return organizer === 'google'
    ? { organizer: google, guest: microsoft }
    : { organizer: microsoft, guest: google }
}

const meetingOf = (
  { purpose }: MeetingPlan,
  { organizer, guest }: { readonly organizer: Connected; readonly guest: Connected },
): Record<string, unknown> => ({
  purpose,
  durationMinutes: 60,
  timeZone: ZONE,
  window: windowIn(7),
  bookBy: dueIn(5),
  organizer,
  approval: { type: 'automatic' },
  participants: [
    { displayName: 'Ada Lovelace', role: 'required', timeZone: ZONE, ...organizer },
    { displayName: 'Ben Carter', role: 'required', timeZone: ZONE, ...guest },
  ],
})

const idIn = (answer: { readonly body: unknown } | undefined): string | undefined =>
  Created.safeParse(answer?.body).data?.id
const dateIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)
const windowIn = (days: number) => ({ from: `${dateIn(days)}T00:00`, to: `${dateIn(days + 7)}T00:00` })
const dueIn = (days: number): string => `${dateIn(days)}T12:00:00Z`
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
