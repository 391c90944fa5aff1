import { describe, expect, test } from '@jest/globals'
import type { ProviderEvent } from '@aftercommit/providers/calendar'
import { ada, ben, chen, draftWith, eventFor, guest, slot } from './cast.testing.ts'
import { checkedFields, verify, type CheckedField } from './completion.ts'

const draft = draftWith()
const guests = eventFor(draft).attendees

const fieldsOf = (more: Partial<ProviderEvent>): readonly string[] => {
  const verdict = verify(draft, eventFor(draft, more))
  return verdict.type === 'mismatch' ? verdict.fields : [verdict.type]
}

test('an event that agrees in every point is complete, and every point is on record', () => {
  const verdict = verify(draft, eventFor(draft))
  expect(verdict).toEqual({
    type: 'complete',
    checks: checkedFields.map((field) => ({ field, agrees: true })),
  })
})

describe('one wrong point is told as exactly that point', () => {
  const wrong: Record<Exclude<CheckedField, 'attendee_addresses'>, readonly Partial<ProviderEvent>[]> = {
    calendar: [{ calendarAddress: ben.address }],
    identity: [{ operationId: undefined }, { operationId: draftWith().operationId }],
    status: [{ status: 'cancelled' }, { status: 'tentative' }],
    title: [{ title: '' }, { title: `${draft.title} ` }],
    start: [{ start: undefined }, { start: new Date(slot.start.getTime() + 1) }],
    end: [{ end: undefined }, { end: new Date(slot.end.getTime() - 60_000) }],
    required_attendees: [
      { attendees: guests.filter(({ address }) => address !== ben.address) },
      { attendees: guests.map((each) => ({ ...each, role: 'optional' })) },
    ],
    optional_attendees: [
      { attendees: guests.filter(({ address }) => address !== chen.address) },
      { attendees: guests.map((each) => ({ ...each, role: 'required' })) },
    ],
    nobody_else: [
      { attendees: [...guests, guest('dora@google.example')] },
      { attendees: [...guests, guest('dora@google.example', { role: 'optional' })] },
      // Whoever else claims to have organized it was approved by nobody.
      { attendees: [...guests, guest('dora@google.example', { organizer: true })] },
    ],
    location: [{ location: undefined }, { location: 'Room 5' }],
    conference: [{ conference: 'none' }, { conference: 'failed' }],
    visibility: [{ visibility: 'public' }, { visibility: 'private' }],
  }
  for (const [field, variants] of Object.entries(wrong)) {
    test.each(variants)(`${field} %#`, (more) => {
      expect(fieldsOf(more)).toEqual([field])
    })
  }
})

test('several wrong points are all told, in one order', () => {
  expect(fieldsOf({ status: 'cancelled', start: undefined, end: undefined, visibility: 'public' })).toEqual([
    'status',
    'start',
    'end',
    'visibility',
  ])
})

test('the organizer may stand among the attendees of an own event, under either letter case', () => {
  const organizer = guest(ada.address.toUpperCase(), { organizer: true, response: 'accepted' })
  expect(fieldsOf({ attendees: [organizer, ...guests] })).toEqual(['complete'])
})

test('addresses are compared without letter case, because providers change it', () => {
  const attendees = guests.map((each) => ({ ...each, address: each.address.toUpperCase() }))
  expect(fieldsOf({ attendees, calendarAddress: ada.address.toUpperCase() })).toEqual(['complete'])
})

test('an attendee listed twice is still nobody else', () => {
  expect(fieldsOf({ attendees: [...guests, ...guests] })).toEqual(['complete'])
})

describe('an address that cannot be compared', () => {
  const legacy = '/o=ExchangeLabs/ou=Exchange Administrative Group/cn=Recipients/cn=1f3e-ben'
  const unapproved = ['required_attendees', 'nobody_else', 'attendee_addresses']

  test.each([legacy, '', 'ben', `${legacy}@exchange`])('agrees with nobody: %j', (address) => {
    const attendees = [guest(address), guest(chen.address, { role: 'optional' })]
    expect(fieldsOf({ attendees })).toEqual(unapproved)
  })

  test('is told apart from a person who was added or left out', () => {
    expect(fieldsOf({ attendees: [guest('dora@google.example'), ...guests.slice(1)] })).toEqual([
      'required_attendees',
      'nobody_else',
    ])
  })

  test('does not pass for the organizer either', () => {
    expect(fieldsOf({ attendees: [guest(legacy, { organizer: true }), ...guests] })).toEqual([
      'nobody_else',
      'attendee_addresses',
    ])
  })
})

describe('a conference', () => {
  test('that is still being made leaves the verdict open', () => {
    expect(verify(draft, eventFor(draft, { conference: 'pending' }))).toEqual({
      type: 'pending',
      field: 'conference',
    })
  })

  test.each(['ready', 'pending', 'failed'] as const)(
    'that nobody asked for is a mismatch: %s',
    (conference) => {
      const plain = draftWith({ conference: false })
      expect(verify(plain, eventFor(plain, { conference }))).toMatchObject({ fields: ['conference'] })
    },
  )
})

test('no location and an empty one are the same', () => {
  const nowhere = draftWith({ location: undefined })
  expect(verify(nowhere, eventFor(nowhere, { location: '' })).type).toBe('complete')
})
