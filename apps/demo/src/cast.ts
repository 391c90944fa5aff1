/** Who meets, in which window, and what goes wrong on the way. */
import { randomBytes } from 'node:crypto'
import type { FaultSpec } from '@aftercommit/simulator'
import { addDays, dateIn, nextOffsetChange, parseTimeZone, type TimeZone } from '@aftercommit/time'

const zone = (name: string): TimeZone => {
  const parsed = parseTimeZone(name)
  if (parsed.type !== 'zone') throw new Error(`this runtime does not know ${name}`)
  return parsed.zone
}

export const BERLIN = zone('Europe/Berlin')
export const NEW_YORK = zone('America/New_York')

export interface CastMember {
  readonly name: string
  readonly address: string
  readonly provider: 'google' | 'microsoft'
  readonly timeZone: TimeZone
  readonly busy: readonly { readonly start: string; readonly end: string }[]
  readonly refreshToken: string
}

export interface Script {
  readonly organizer: CastMember
  readonly people: readonly CastMember[]
  /** Local dates in Berlin, with a change of New York's clocks between them. */
  readonly window: { readonly from: string; readonly to: string }
  readonly clockChange: Date
  readonly bookBy: Date
  readonly faults: readonly ScriptedFault[]
}

export interface ScriptedFault extends Omit<FaultSpec, 'skip' | 'times'> {
  readonly id: string
  /** Told when it fires. */
  readonly harmlessBecause: string
}

const DAY_MS = 86_400_000

/** Google reports a calendar it could not read inside an answer that is otherwise a success. */
const calendarError = (address: string) => ({
  kind: 'calendar#freeBusy',
  calendars: { [address]: { errors: [{ domain: 'global', reason: 'internalError' }], busy: [] } },
})

export const scriptAt = (now: Date): Script => {
  const clockChange = nextOffsetChange(NEW_YORK, new Date(now.getTime() + 7 * DAY_MS))
  if (!clockChange) throw new Error("New York's clocks no longer change; the story needs another city")
  const sunday = dateIn(clockChange, BERLIN)
  const person = (
    name: string,
    provider: 'google' | 'microsoft',
    timeZone: TimeZone,
    busy: CastMember['busy'],
  ): CastMember => ({
    name,
    provider,
    timeZone,
    busy,
    address: `${name.toLowerCase()}@${provider}.example`,
    refreshToken: randomBytes(24).toString('base64url'),
  })
  const days = (from: number, to: number) => ({
    start: `${addDays(sunday, from)}T00:00:00Z`,
    end: `${addDays(sunday, to)}T00:00:00Z`,
  })
  const ada = person('Ada', 'google', BERLIN, [])
  // Ben cannot before the clocks change, Chen not on the first day after it.
  const ben = person('Ben', 'google', NEW_YORK, [days(-4, 1)])
  const chen = person('Chen', 'microsoft', BERLIN, [days(1, 2)])
  return {
    organizer: ada,
    people: [ada, ben, chen],
    window: { from: `${addDays(sunday, -3)}T00:00`, to: `${addDays(sunday, 5)}T00:00` },
    clockChange,
    bookBy: new Date(now.getTime() + DAY_MS),
    faults: [
      {
        id: 'one calendar answers with an error inside a 200',
        provider: 'google',
        operation: 'freebusy.query',
        address: ben.address,
        act: { type: 'answer', status: 200, body: calendarError(ben.address) },
        harmlessBecause: 'A calendar that cannot be read is not free: it is read again.',
      },
      {
        id: 'Microsoft throttles once',
        provider: 'microsoft',
        operation: 'calendar.getSchedule',
        address: chen.address,
        act: {
          type: 'answer',
          status: 429,
          headers: { 'retry-after': '1' },
          body: {
            error: {
              code: 'ApplicationThrottled',
              message: 'Application is over its MailboxConcurrency limit.',
            },
          },
        },
        harmlessBecause: 'That account rests as long as asked, and no attempt is spent.',
      },
      {
        id: 'the answer to the write is lost',
        provider: 'google',
        operation: 'events.insert',
        address: ada.address,
        act: { type: 'drop', when: 'after_effect' },
        harmlessBecause: 'Nothing is written again before Google has been asked what became of it.',
      },
    ],
  }
}
