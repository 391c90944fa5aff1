import type { Answer, Call } from '../exchange.ts'
import { isMissed } from '../state.ts'
import type { HeldEvent, World } from '../state.ts'
import { onEvents } from './access.ts'
import { refusal, unknownZone } from './errors.ts'
import { preferencesOf } from './preferences.ts'
import { expandedProperties, propertyKey, render, selected } from './resource.ts'

const pageSizeDefault = 10
const pageSizeMax = 1000

/**
 * Lists events, optionally those that carry an extended property. A page is a stretch of stored events, so
 * that one may match nothing and still have an @odata.nextLink.
 */
export const listEvents = (world: World, call: Call): Answer =>
  onEvents(world, call, (person) => {
    const { query } = call
    const preferences = preferencesOf(call)
    if (!preferences) return unknownZone(call)
    const filter = filterOf(query.get('$filter'))
    if (filter.type === 'refused') return refusal(call, 400, filter.code, filter.message)
    const top = Number(query.get('$top') ?? pageSizeDefault)
    const skip = Number(query.get('$skip') ?? 0)
    if (!Number.isInteger(top) || top < 1 || top > pageSizeMax || !Number.isInteger(skip) || skip < 0) {
      return refusal(call, 400, 'ErrorInvalidUrlQuery', 'Invalid value for $top or $skip.')
    }
    const pageSize = Math.min(top, world.scannedPerPage.microsoft ?? pageSizeMax)
    const stored = world.events.filter(
      (event) => event.calendarAddress === person.address && event.status !== 'cancelled',
    )
    const page = stored
      .slice(skip, skip + pageSize)
      .filter((event) => filter.matches(event) && !isMissed(event))
    return {
      status: 200,
      body: {
        '@odata.context': `https://graph.microsoft.com/v1.0/$metadata#users('${person.address}')/events`,
        value: page.map((event) => {
          const properties = expandedProperties(event, query.get('$expand'))
          return {
            ...selected(render(event, preferences, world.people), query.get('$select')),
            ...(properties ? { singleValueExtendedProperties: properties } : {}),
          }
        }),
        ...(skip + pageSize < stored.length ? { '@odata.nextLink': nextLink(call, skip + pageSize) } : {}),
      },
    }
  })

const nextLink = (call: Call, skip: number): string => {
  const next = new URL(call.target, call.origin)
  next.searchParams.set('$skip', String(skip))
  return next.toString()
}

type Filter =
  | { readonly type: 'understood'; readonly matches: (event: HeldEvent) => boolean }
  | { readonly type: 'refused'; readonly code: string; readonly message: string }

const anyProperty =
  /^singleValueExtendedProperties\/any\(\s*(\w+)\s*:\s*\1\/id eq '((?:[^']|'')*)' and \1\/value eq '((?:[^']|'')*)'\s*\)$/i
const icalUid = /^iCalUId eq '((?:[^']|'')*)'$/

/** Of OData's filters the two that events are known to answer; transactionId is not filterable. */
const filterOf = (filter: string | null): Filter => {
  if (filter === null) return { type: 'understood', matches: () => true }
  const property = anyProperty.exec(filter)
  if (property) {
    const key = propertyKey(unquoted(property[2]))
    // Names are compared to the letter, values in any case.
    const value = unquoted(property[3]).toLowerCase()
    return { type: 'understood', matches: ({ properties }) => properties.get(key)?.toLowerCase() === value }
  }
  const uid = icalUid.exec(filter)
  if (uid) return { type: 'understood', matches: (event) => event.icalUid === unquoted(uid[1]) }
  // microsoft-graph-docs#6757
  if (filter.startsWith('singleValueExtendedProperties')) {
    return {
      type: 'refused',
      code: 'ErrorInvalidProperty',
      message: 'The property is not valid for this object.',
    }
  }
  return {
    type: 'refused',
    code: 'UnsupportedEntityExpression',
    message: 'The filter expression is not supported for the entity.',
  }
}

const unquoted = (literal: string | undefined): string => (literal ?? '').replaceAll("''", "'")
