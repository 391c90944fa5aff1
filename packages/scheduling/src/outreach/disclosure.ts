/**
 * What a person who is asked for time may learn of the meeting. Templates and pages are given a `Disclosed` and nothing
 * else, so they cannot show what was not disclosed: it is not there.
 */
import type { Interval } from '@aftercommit/time'
import { sameAddress, windowOf, type Disclosure, type MeetingIntent } from '../intent.ts'

const made: unique symbol = Symbol('disclosed')

interface Always {
  /** Only `disclose` makes one. */
  readonly [made]: true
  /** Undefined where the meeting names its organizer by address only. */
  readonly organizer: string | undefined
  readonly durationMinutes: number
  readonly window: Interval
}

export type Disclosed =
  | (Always & { readonly type: 'time_only' })
  | (Always & { readonly type: 'purpose'; readonly purpose: string })
  | (Always & {
      readonly type: 'purpose_and_people'
      readonly purpose: string
      /** Names of the others, never addresses. */
      readonly people: readonly string[]
    })

export interface MeetingFacts {
  readonly organizer: string | undefined
  readonly durationMinutes: number
  readonly window: Interval
  readonly purpose: string
  /** Everybody but the one who is asked. */
  readonly people: readonly string[]
}

/** Reduces what is known to what may be said. Without a policy the strictest one holds. */
export const disclose = (policy: Disclosure | undefined, facts: MeetingFacts): Disclosed => {
  const { durationMinutes, window } = facts
  const always: Always = { [made]: true, organizer: nameOf(facts.organizer), durationMinutes, window }
  const purpose = oneLine(facts.purpose)
  switch (policy) {
    case undefined:
    case 'time_only':
      return { type: 'time_only', ...always }
    case 'purpose':
      return { type: 'purpose', ...always, purpose }
    case 'purpose_and_people': {
      const people = facts.people.flatMap((person) => nameOf(person) ?? [])
      return { type: 'purpose_and_people', ...always, purpose, people }
    }
  }
}

/** What an intent knows, for the person with this address. */
export const factsFor = (intent: MeetingIntent, address: string): MeetingFacts => {
  const organizer = intent.participants.find((person) =>
    sameAddress(person.address, intent.organizer.address),
  )
  return {
    organizer: organizer?.displayName,
    durationMinutes: intent.durationMinutes,
    window: windowOf(intent),
    purpose: intent.purpose,
    people: intent.participants
      .filter((person) => !sameAddress(person.address, address))
      .map(({ displayName }) => displayName),
  }
}

/** A display name, unless somebody put an address in its place. */
const nameOf = (text: string | undefined): string | undefined => {
  const name = oneLine(text ?? '')
  return name === '' || name.includes('@') ? undefined : name
}

/**
 * In one line, without characters that cannot be seen: a line break could begin a header or a sentence of its own, and
 * a change of direction could show the rest backwards.
 */
const oneLine = (text: string): string =>
  text
    .replaceAll(/[\p{Zl}\p{Zp}\p{Cc}]+/gu, ' ')
    .replaceAll(/[\u200B\u200E\u200F\u2028-\u202E\u2060-\u2069\uFEFF]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
