import { describe, expect, test } from '@jest/globals'
import { parseTimeZone, type TimeZone } from '@aftercommit/time'
import { intentOf } from '../cast.testing.ts'
import type { Disclosure } from '../intent.ts'
import { disclose, factsFor, type Disclosed, type MeetingFacts } from './disclosure.ts'
import { renderMessage, type MessageKind, type MessageViews } from './message.ts'

const zoneNamed = (name: string): TimeZone => {
  const zone = parseTimeZone(name)
  if (zone.type === 'malformed') throw new Error(name)
  return zone.zone
}
const zone = zoneNamed('America/New_York')

const facts: MeetingFacts = {
  organizer: 'Ada',
  durationMinutes: 90,
  window: { start: new Date('2027-03-29T13:00Z'), end: new Date('2027-04-02T21:00Z') },
  purpose: 'Contract review',
  people: ['Ben', 'chen@microsoft.example'],
}
const reader = { zone, zoneIsOwn: true, optOutLink: 'https://book.example/opt-out/t0' }
const asked = {
  ...reader,
  link: 'https://book.example/reply/t1?a=1&b=2',
  answerBy: new Date('2027-03-24T16:00Z'),
}
const understood = [
  { start: '2027-03-30T14:00', end: '2027-03-30T16:00' },
  { start: '2027-03-31T00:00', end: '2027-04-01T00:00' },
]
const views: MessageViews = {
  invitation: asked,
  reminder: { ...asked, isLast: true },
  confirm_reading: { ...asked, understood },
  clarification: { ...asked, understood, unclear: ['zone', 'time'] },
  approval_request: {
    ...reader,
    answerBy: asked.answerBy,
    slot: { start: new Date('2027-03-30T18:00Z'), end: new Date('2027-03-30T19:30Z') },
  },
  withdrawn: { ...reader, reason: 'cancelled' },
}
const kinds: readonly MessageKind[] = [
  'invitation',
  'reminder',
  'confirm_reading',
  'clarification',
  'approval_request',
  'withdrawn',
]
const rendered = (kind: MessageKind, disclosed: Disclosed) => renderMessage(kind, disclosed, views[kind])

describe('what a person may learn', () => {
  const said = (policy: Disclosure | undefined): string =>
    kinds.map((kind) => Object.values(rendered(kind, disclose(policy, facts))).join('\n')).join('\n')

  test('without a policy, and under the strictest one, neither what it is about nor who else is asked', () => {
    expect(said(undefined)).toBe(said('time_only'))
    expect(said('time_only')).not.toMatch(/Contract|Ben|chen/)
    expect(said('time_only')).toMatch(/Ada/)
  })

  test('what it is about, and nobody else', () => {
    expect(said('purpose')).toMatch(/Contract review/)
    expect(said('purpose')).not.toMatch(/Ben|chen/)
  })

  test('names of people, and no address even where it stands for a name', () => {
    expect(said('purpose_and_people')).toMatch(/Ben/)
    expect(said('purpose_and_people')).not.toMatch(/chen|@/)
  })

  test('an organizer who is known by address only is not named', () => {
    const disclosed = disclose('time_only', { ...facts, organizer: 'ada@google.example' })
    expect(disclosed.organizer).toBeUndefined()
    expect(rendered('invitation', disclosed).subject).toBe(
      'The organizer of a meeting asks for 1 hour and 30 minutes of your time',
    )
  })

  test('facts for one person leave that person out', () => {
    const intent = intentOf()
    expect(factsFor(intent, 'BEN@google.example')).toMatchObject({
      organizer: 'Ada',
      people: ['Ada', 'Chen'],
    })
  })

  test('nothing of a name can begin a line of its own or change the direction of the text', () => {
    const disclosed = disclose('purpose', {
      ...facts,
      organizer: 'Ada\r\nBcc: x\u202e',
      purpose: 'a\u2028b\u0000c',
    })
    expect(disclosed).toMatchObject({ organizer: 'Ada Bcc: x', purpose: 'a b c' })
  })
})

describe('a message', () => {
  const full = disclose('purpose_and_people', facts)

  test.each(kinds)('of kind %s has a subject, a text and a page that say the same', (kind) => {
    const message = rendered(kind, full)
    expect(message.subject).toMatch(/^[^\r\n]+$/)
    const plain = message.html
      .replaceAll(/<style[^]*?<\/style>|<title>[^]*?<\/title>|<[^>]*>/g, ' ')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&')
    const words = (text: string): readonly string[] => text.match(/[\p{L}\p{N}]+/gu) ?? []
    const links = /https:\S+/g
    expect(words(plain)).toEqual(words(message.text.replaceAll(links, '')))
    expect(message.html).not.toMatch(/<img|<script|<link|src=|url\(/)
  })

  test.each(kinds)('of kind %s is the same each time', (kind) => {
    expect(rendered(kind, full)).toEqual(rendered(kind, full))
  })

  test('gives times on the reader’s clock and names it', () => {
    const { text } = rendered('invitation', full)
    expect(text).toContain('Monday 29 March 2027, 09:00 to Friday 2 April 2027, 17:00')
    expect(text).toContain('your time zone, America/New_York')
    const unknown = renderMessage('invitation', full, { ...asked, zoneIsOwn: false })
    expect(unknown.text).toContain('Your time zone is not known to us')
  })

  test('gives offsets where the clocks are changed in between', () => {
    const window = { start: new Date('2027-03-26T09:00Z'), end: new Date('2027-03-30T09:00Z') }
    const { text } = renderMessage('invitation', disclose('time_only', { ...facts, window }), {
      ...asked,
      zone: zoneNamed('Europe/Berlin'),
    })
    expect(text).toContain('10:00 (UTC+01:00) to Tuesday 30 March 2027, 11:00 (UTC+02:00)')
  })

  test('cannot be given markup by a name, a purpose or a link', () => {
    const hostile = disclose('purpose', { ...facts, organizer: '<b>"Ada"</b>', purpose: "</p><script>'&" })
    const { html } = renderMessage('invitation', hostile, { ...asked, link: 'https://x.example/"onclick="' })
    expect(html).not.toMatch(/<b>|<script|"onclick/)
    expect(html).toContain('&lt;b&gt;&quot;Ada&quot;&lt;/b&gt;')
  })

  test('shows what was understood, and asks what was not', () => {
    const { text } = rendered('clarification', full)
    expect(text).toContain('In which time zone')
    expect(text).toContain('- Tuesday 30 March 2027, 14:00 to 16:00')
    expect(text).toContain('- Wednesday 31 March 2027, any time')
  })
})
