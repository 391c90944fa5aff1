/** Who plays in every run, and how their days are named. */
import type { SimulatedPerson } from '../scheduling-world.testing.ts'

const berlin = 'Europe/Berlin'

/** Ada and Mia organize; Fay's calendar does not tell; Dora and Emil are known by address; Gus steps in for others. */
export const cast = {
  ada: { address: 'ada@google.example', provider: 'google', timeZone: berlin },
  mia: { address: 'mia@microsoft.example', provider: 'microsoft', timeZone: berlin },
  ben: { address: 'ben@google.example', provider: 'google', timeZone: 'America/New_York' },
  chen: { address: 'chen@microsoft.example', provider: 'microsoft', timeZone: berlin },
  fay: { address: 'fay@google.example', provider: 'google', timeZone: berlin, readable: 'no_access' },
  dora: { address: 'dora@google.example', provider: 'google', timeZone: berlin },
  emil: { address: 'emil@google.example', provider: 'google', timeZone: berlin },
  gus: { address: 'gus@microsoft.example', provider: 'microsoft', timeZone: berlin },
} as const satisfies Record<string, SimulatedPerson>

export type Name = keyof typeof cast
export const names: readonly Name[] = ['ada', 'mia', 'ben', 'chen', 'fay', 'dora', 'emil', 'gus']
export const organizers = ['ada', 'mia'] as const
export type Organizer = (typeof organizers)[number]
/** Who may be asked by mail. Fay has a calendar, and is asked in its place. */
export const asked = ['dora', 'emil', 'fay'] as const

/** What is said of people in intents; no row of the outbox may hold any of it. */
export const displayNameOf = (name: Name): string => `${name.toUpperCase()} Testperson`
export const PURPOSE = 'Confidential merger'

const DAY_MS = 86_400_000
/** The zone of all meetings, whose offset changes in some runs' weeks and in others not. */
export const MEETING_ZONE = berlin

/**
 * Monday morning, an hour at which people may be written to, at least a week from today: the links in mails end by a process's own clock, which nobody moves, so the
 * database's clock has to be ahead of it.
 */
export const firstMonday = (today: Date): Date => {
  const day = new Date(today.getTime() + 7 * DAY_MS)
  const untilMonday = (8 - day.getUTCDay()) % 7
  const monday = new Date(day.getTime() + untilMonday * DAY_MS)
  return new Date(`${monday.toISOString().slice(0, 10)}T07:30:00Z`)
}

export const dateAfter = (start: Date, days: number): string =>
  new Date(start.getTime() + days * DAY_MS).toISOString().slice(0, 10)
