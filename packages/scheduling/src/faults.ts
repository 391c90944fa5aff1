/**
 * What is wrong with a request beyond the shape of its single fields, as far as its well-formed parts tell. A body that is
 * refused for its shape is looked through with this, so that one answer names everything.
 */
import type { Db } from '@aftercommit/platform/db'
import type { z } from 'zod'
import { ConnectionId } from './ids.ts'
import { IntentDraft, peopleFaults, untimely, windowFaults, WorkingHours } from './intent.ts'
import { Preferences } from './preference.ts'
import { unknownAmong, type Reference, type UnknownReference } from './references.ts'
import { Address, ZoneName } from './values.ts'

type Path = UnknownReference['path']
type Fields = Readonly<Record<string, unknown>>

/** Reads only, in a transaction of its own. Of each place it says at most what the command would have said. */
export const faultsBeyondShape = (
  db: Db,
  tenantId: string,
  body: unknown,
): Promise<readonly UnknownReference[]> =>
  db.transact(tenantId, async (tx) => {
    const within = isFields(body) && isFields(body.choice) ? body.choice : undefined
    return [
      ...faultsBetween(body),
      ...untimely(timesIn(body), tx.now),
      ...untimely(timesIn(within), tx.now).map(({ path, reason }) => ({ path: ['choice', ...path], reason })),
      ...(await unknownAmong(tx, referencesIn(body))),
    ]
  })

/** Rules that hold between fields of one intent. */
const faultsBetween = (body: unknown): readonly UnknownReference[] => {
  if (!isFields(body)) return []
  const { window, timeZone } = timesIn(body)
  const duration = IntentDraft.shape.durationMinutes.safeParse(body.durationMinutes)
  const durationMinutes = duration.success ? duration.data : 0
  const people = list(body.participants)
  return [
    ...(people.length > 0 ? peopleFaults(people.map(personOf)) : []),
    ...(window ? windowFaults({ window, timeZone, durationMinutes }) : []),
    ...people.flatMap((person, at) => hoursFaults(person.workingHours, ['participants', at, 'workingHours'])),
    ...preferenceFaults(body.preferences),
  ]
}

const personOf = ({ address, role }: Fields): Parameters<typeof peopleFaults>[0][number] => ({
  address: valueOf(Address, address),
  // Somebody whose part cannot be read may well have been meant to be required.
  role: role === 'optional' ? role : 'required',
})

const preferenceFaults = (given: unknown): readonly UnknownReference[] => {
  if (!isFields(given)) return []
  const { first, prefer } = given
  // Together they are judged by the schema itself, which has its words for it.
  const together = Preferences.safeParse({ first, prefer })
  const path = ['preferences', 'prefer']
  return [
    ...(together.error?.issues ?? [])
      .filter(({ code, path: at }) => code === 'custom' && at.length === 1)
      .map(({ message }) => ({ path, reason: message })),
    ...list(prefer).flatMap((hours, at) => hoursFaults(hours, [...path, at])),
  ]
}

/** Judged with days that are well formed, whatever days were given. */
const hoursFaults = (given: unknown, path: Path): readonly UnknownReference[] => {
  if (!isFields(given)) return []
  const { startsAt, endsAt } = given
  const issues = WorkingHours.safeParse({ startsAt, endsAt, days: [1] }).error?.issues ?? []
  return issues
    .filter(({ code }) => code === 'custom')
    .map(({ message }) => ({ path: [...path, 'endsAt'], reason: message }))
}

const timesIn = (given: unknown): Parameters<typeof untimely>[0] =>
  isFields(given)
    ? {
        bookBy: valueOf(IntentDraft.shape.bookBy, given.bookBy),
        window: valueOf(IntentDraft.shape.window, given.window),
        timeZone: valueOf(ZoneName, given.timeZone),
      }
    : {}

/** Every calendar that a body names, wherever it does; the address beside it says whose it should be. */
const referencesIn = (given: unknown, path: Path = []): readonly Reference[] => {
  if (Array.isArray(given)) return given.flatMap((each, at) => referencesIn(each, [...path, at]))
  if (!isFields(given)) return []
  const connectionId = valueOf(ConnectionId, given.calendarConnectionId)
  const address = valueOf(Address, given.address)
  return [
    ...(connectionId ? [{ path: [...path, 'calendarConnectionId'], connectionId, address }] : []),
    ...Object.entries(given).flatMap(([key, inner]) => referencesIn(inner, [...path, key])),
  ]
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Items that are no objects keep their place, so that the others' paths stay right. */
const list = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map((each): Fields => (isFields(each) ? each : {})) : []

const valueOf = <Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> | undefined =>
  schema.safeParse(given).data
