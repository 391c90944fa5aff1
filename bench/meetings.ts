/** Pairs of people with connected calendars, and the meetings they ask for. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { BenchFleet } from './fleet.ts'

export interface Pair {
  readonly google: Person
  readonly microsoft: Person
}
interface Person {
  readonly address: string
  readonly calendarConnectionId: string
}

const DAY_MS = 86_400_000
const ZONE = 'Europe/Berlin'

const dateIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

/** People of their own for each meeting, so that no two meetings want the same hour. */
export const connectPairs = async (
  { control, post }: BenchFleet,
  count: number,
): Promise<readonly Pair[]> => {
  const connect = async (provider: 'google' | 'microsoft'): Promise<Person> => {
    const address = `${randomUUID()}@${provider}.example`
    const refreshToken = randomBytes(24).toString('base64url')
    await control.putPeople([{ address, provider, timeZone: ZONE, refreshToken, busy: [] }])
    const { id } = await post('/v1/calendar-connections', { provider, address, refreshToken })
    return { address, calendarConnectionId: id }
  }
  const pairs: Pair[] = []
  for (let n = 0; n < count; n++) {
    const [google, microsoft] = await Promise.all([connect('google'), connect('microsoft')])
    pairs.push({ google, microsoft })
  }
  return pairs
}

/** An hour in the week after next that needs nobody's word. */
export const meetingOf = ({ google, microsoft }: Pair): Record<string, unknown> => {
  const common = { role: 'required', timeZone: ZONE }
  return {
    purpose: 'Contract review',
    durationMinutes: 60,
    timeZone: ZONE,
    window: { from: `${dateIn(7)}T00:00`, to: `${dateIn(14)}T00:00` },
    bookBy: `${dateIn(5)}T12:00:00Z`,
    organizer: google,
    approval: { type: 'automatic' },
    participants: [
      { displayName: 'Ada Lovelace', ...google, ...common },
      { displayName: 'Ben Carter', ...microsoft, ...common },
    ],
  }
}

/** Work on all items, so many at a time. */
export const eachOf = async <T>(
  items: readonly T[],
  atATime: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> => {
  const queue = [...items]
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: atATime }, worker))
}
