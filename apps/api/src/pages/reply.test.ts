import { createHash, randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { linkSigner, type LinkClaims } from '@aftercommit/platform/links'
import { createLog } from '@aftercommit/platform/log'
import { createMetrics } from '@aftercommit/platform/metrics'
import { newSealingKey } from '@aftercommit/platform/sealing'
import { noSpans } from '@aftercommit/platform/spans'
import {
  disclose,
  type PersonAnswer,
  type RecordReplyResult,
  type ReplyForm,
  type ReplyRefusal,
} from '@aftercommit/scheduling/outreach'
import { normaliseReply } from '@aftercommit/scheduling/outreach'
import { parseTimeZone, type TimeZone } from '@aftercommit/time'
import express from 'express'
import { HtmlValidate } from 'html-validate'
import supertest from 'supertest'
import { httpMetrics } from '../metrics.ts'
import { noteRequests } from '../request.ts'
import { replyPages } from './reply.ts'

const zoneNamed = (name: string): TimeZone => {
  const zone = parseTimeZone(name)
  if (zone.type === 'malformed') throw new Error(name)
  return zone.zone
}
const berlin = zoneNamed('Europe/Berlin')
const links = linkSigner(newSealingKey('test'))
const now = new Date('2027-10-20T10:00Z')
const claims: LinkClaims = {
  tenantId: randomUUID(),
  meetingId: randomUUID(),
  participantId: randomUUID(),
  participantRevision: 1,
  meetingRevision: 1,
  expiresAt: new Date('2027-10-25T10:00Z'),
}
const path = `/reply/${links.sign('reply', claims)}`
const optOutPath = `/opt-out/${links.sign('opt_out', claims)}`

/** The week after Berlin's clocks are set back. */
const window = { start: new Date('2027-10-29T22:00Z'), end: new Date('2027-11-05T23:00Z') }
const openForm: ReplyForm = {
  type: 'open',
  disclosed: disclose('purpose', {
    organizer: '<Ada>',
    durationMinutes: 60,
    window,
    purpose: 'Contract',
    people: [],
  }),
  answerBy: claims.expiresAt,
  zone: berlin,
  meetingZone: berlin,
  standing: undefined,
  draft: undefined,
}

let form: ReplyForm | ReplyRefusal
let recorded: PersonAnswer[]
let answerWith: RecordReplyResult | Error | undefined
let log: string[]
beforeEach(() => {
  form = openForm
  recorded = []
  answerWith = undefined
  log = []
})

const stream = new Writable({
  write: (chunk, _encoding, done) => {
    log.push(String(chunk))
    done()
  },
})
const app = express()
app.use(noteRequests(createLog('api', 'info', stream), httpMetrics(createMetrics()), noSpans))
app.use(
  replyPages({
    links,
    now: () => Promise.resolve(now),
    readReplyForm: () => Promise.resolve(form),
    recordReply: (_claims, answer) => {
      recorded.push(answer)
      if (answerWith instanceof Error) return Promise.reject(answerWith)
      if (answerWith) return Promise.resolve(answerWith)
      return Promise.resolve(
        answer.type === 'times' ? normaliseReply(answer, window, 3_600_000, answer.zone) : answer,
      )
    },
  }),
)

const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:a11y'],
  // How the markup is laid out is a matter of taste, and no reader of the page ever meets it.
  rules: {
    'no-trailing-whitespace': 'off',
    'void-style': 'off',
    'attribute-boolean-style': 'off',
    'long-title': 'off',
    'require-sri': 'off',
    'no-inline-style': 'off',
  },
})
const mustBeAccessible = async (page: string): Promise<void> => {
  const report = await validator.validateString(page)
  expect(
    report.results.flatMap(({ messages }) =>
      messages.map(({ ruleId, message, line }) => ({ ruleId, message, line })),
    ),
  ).toEqual([])
}

const get = (at = path) => supertest(app).get(at)
const post = (fields: Record<string, string>, at = path) => supertest(app).post(at).type('form').send(fields)
const row = (index: number, date: string, from: string, to: string) => ({
  [`date-${index}`]: date,
  [`from-${index}`]: from,
  [`to-${index}`]: to,
})
const times = (fields: Record<string, string>) =>
  post({ answer: 'times', zone: 'Europe/Berlin', do: 'send', ...fields })

describe('opening the page', () => {
  test('shows the form, is accessible, records nothing and keeps the link to itself', async () => {
    const answer = await get().expect(200)
    await mustBeAccessible(answer.text)
    expect(recorded).toEqual([])
    expect(answer.headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow',
    })
    expect(answer.text).toContain('&lt;Ada&gt; would like to meet you for 1 hour')
    expect(answer.text).toContain('value="Europe/Berlin" selected')
    expect(answer.text).not.toMatch(/<script|<img|<link|https?:/)
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(answer.text) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(answer.headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    )
    expect(log.join('')).toContain('/reply/{token}')
    expect(log.join('')).not.toContain(path.slice('/reply/'.length))
  })

  test('every day of a short window has a line of its own, and no zone is guessed', async () => {
    form = { ...openForm, zone: undefined }
    const { text } = await get().expect(200)
    expect(text.match(/<legend>Time \d+<\/legend>/g)).toHaveLength(7)
    expect(text).not.toContain('value="Europe/Berlin" selected')
    expect(text).toMatch(/<option value="" selected\s*>\s*Choose a place/)
  })

  test('shows what was understood of a mail, to be confirmed', async () => {
    const windows = [{ start: '2027-11-02T14:00', end: '2027-11-02T16:00' }]
    form = { ...openForm, draft: { id: 'd1', windows, zone: undefined, unclear: ['zone'] } }
    const { text } = await get().expect(200)
    await mustBeAccessible(text)
    expect(text).toContain('value="14:00"')
    expect(text).toContain('In which time zone are your times?')
    expect(text).toContain('Confirm these times')
    await times({ draft: 'd1', ...row(0, '2027-11-02', '14:00', '16:00') }).expect(200)
    await times({ draft: 'an older one', ...row(0, '2027-11-02', '14:00', '16:00') }).expect(200)
    expect(recorded).toEqual([
      { type: 'times', zone: berlin, windows, confirmsDraftId: 'd1' },
      { type: 'times', zone: berlin, windows },
    ])
  })

  test('shows an earlier answer, which may be changed', async () => {
    const free = [{ start: new Date('2027-11-01T23:00Z'), end: new Date('2027-11-03T11:00Z') }]
    form = { ...openForm, standing: { type: 'times', zone: berlin, free } }
    const { text } = await get().expect(200)
    expect(text).toContain('You have answered already')
    expect(text).toMatch(/value="2027-11-02" selected/)
    expect(text).toContain('value="12:00"')
    form = { ...openForm, standing: { type: 'not_taking_part' } }
    expect((await get().expect(200)).text).toContain('If you can after all')
  })

  test.each([
    ['outdated', 410],
    ['closed', 409],
    ['lapsed', 410],
    ['cancelled', 410],
    ['not_needed', 410],
    ['not_found', 404],
  ] as const)('of a meeting that is %s is a page that says so', async (type, status) => {
    form = { type }
    await mustBeAccessible((await get().expect(status)).text)
    await times(row(0, '2027-11-02', '14:00', '16:00')).expect(status)
    expect(recorded).toEqual([])
  })

  test('needs a link that is ours, for this purpose and in time', async () => {
    await get(`${path}x`).expect(404)
    await get(`/reply/${links.sign('opt_out', claims)}`).expect(404)
    await post({ answer: 'not_taking_part' }, `/reply/${links.sign('opt_out', claims)}`).expect(404)
    const expired = `/reply/${links.sign('reply', { ...claims, expiresAt: now })}`
    await get(expired).expect(410)
    await post({ answer: 'not_taking_part' }, expired).expect(410)
    expect(recorded).toEqual([])
  })
})

describe('sending times', () => {
  test('records them and shows them', async () => {
    const { text } = await times({
      ...row(0, '2027-11-02', '14:00', '16:00'),
      ...row(1, '2027-11-03', '', ''),
      'date-2': '2027-11-04',
      'any-2': 'on',
      ...row(3, '2027-11-05', '8 pm', '00:00'),
    }).expect(200)
    await mustBeAccessible(text)
    expect(text).toContain('Tuesday 2 November 2027, 14:00 (UTC+01:00)')
    expect(recorded).toEqual([
      {
        type: 'times',
        zone: berlin,
        windows: [
          { start: '2027-11-02T14:00', end: '2027-11-02T16:00' },
          { start: '2027-11-04T00:00', end: '2027-11-05T00:00' },
          { start: '2027-11-05T20:00', end: '2027-11-06T00:00' },
        ],
      },
    ])
  })

  test.each([
    ['no zone', { zone: '', ...row(0, '2027-11-02', '14:00', '16:00') }, 'zone', 'Choose your time zone'],
    [
      'letters for a zone',
      { zone: 'EST', ...row(0, '2027-11-02', '14:00', '16:00') },
      'zone',
      'from the list',
    ],
    ['nothing', row(0, '2027-11-02', '', ''), 'from-0', 'at least one time'],
    ['no day', row(0, '', '14:00', '16:00'), 'date-0', 'Choose the day'],
    ['no such day', row(0, '2027-13-45', '14:00', '16:00'), 'date-0', 'from the list'],
    ['no end', row(0, '2027-11-02', '14:00', ''), 'to-0', 'until when'],
    ['no time', row(0, '2027-11-02', 'noonish', '16:00'), 'from-0', 'like 09:30'],
    ['the end first', row(0, '2027-11-02', '16:00', '14:00'), 'to-0', 'must come after'],
    ['too little', row(0, '2027-11-02', '14:00', '14:30'), 'from-0', 'shorter than the meeting'],
    ['another week', row(0, '2027-11-20', '14:00', '16:00'), 'from-0', 'not within the time'],
    ['a time that is shown twice', row(0, '2027-10-31', '02:30', '06:00'), 'fromFold-0', 'which of the two'],
  ])('with %s asks again, beside the field', async (_what, fields, field, words) => {
    const { text } = await times(fields).expect(422)
    await mustBeAccessible(text)
    expect(recorded).toEqual([])
    expect(text).toContain(`<a href="#${field}">`)
    expect(text).toContain(`id="${field}-error"`)
    expect(text).toMatch(new RegExp(`aria-describedby="${field}-error"`))
    expect(text).toContain(words)
    expect(text).toContain('<title>Error: ')
  })

  test('a time that is shown twice is taken once it is said which one is meant', async () => {
    await times({ ...row(0, '2027-10-31', '02:30', '06:00'), 'fromFold-0': 'later' }).expect(200)
    expect(recorded).toMatchObject([{ windows: [{ start: '2027-10-31T02:30', startFold: 'later' }] }])
  })

  test('more lines are shown without recording anything or losing what was typed', async () => {
    const { text } = await times({ do: 'more_rows', ...row(0, '2027-11-02', '14:00', '') }).expect(200)
    expect(recorded).toEqual([])
    expect(text.match(/<legend>Time \d+<\/legend>/g)).toHaveLength(7)
    expect(text).toContain('value="14:00"')
  })

  test('what the meeting finds unclear by then is asked again', async () => {
    answerWith = { type: 'unclear', problems: [{ type: 'outside_window', index: 0 }] }
    const { text } = await times({
      ...row(0, '2027-11-01', '', ''),
      ...row(1, '2027-11-02', '14:00', '16:00'),
    }).expect(422)
    expect(text).toContain('<a href="#from-1">')
  })

  test('a meeting that was booked meanwhile says so', async () => {
    answerWith = { type: 'closed' }
    await times(row(0, '2027-11-02', '14:00', '16:00')).expect(409)
  })

  test.each([
    ['an empty body', ''],
    ['an unknown answer', 'answer=perhaps'],
    ['names that mean something to objects', '__proto__=x&constructor=y'],
    ['too much', `answer=times&zone=${'x'.repeat(70_000)}`],
  ])('%s is refused with a page', async (_what, body) => {
    const answer = await supertest(app).post(path).type('form').send(body)
    expect([400, 413]).toContain(answer.status)
    await mustBeAccessible(answer.text)
    expect(recorded).toEqual([])
  })

  test('a failure of ours is a page too, and is logged without the answer', async () => {
    answerWith = new Error('out of order')
    const { text } = await times(row(0, '2027-11-02', '14:00', '16:00')).expect(500)
    await mustBeAccessible(text)
    expect(text).not.toContain('out of order')
    expect(log.join('')).toContain('request failed')
    expect(log.join('')).not.toContain('2027-11-02')
  })
})

describe('other answers', () => {
  test.each(['not_taking_part', 'contact_refused'] as const)('%s is recorded', async (answer) => {
    await mustBeAccessible((await post({ answer }).expect(200)).text)
    expect(recorded).toEqual([{ type: answer }])
  })

  test('the opt-out page changes nothing by being opened, and a mail program may post to it', async () => {
    await mustBeAccessible((await get(optOutPath).expect(200)).text)
    expect(recorded).toEqual([])
    await post({ 'List-Unsubscribe': 'One-Click' }, optOutPath).expect(200)
    expect(recorded).toEqual([{ type: 'contact_refused' }])
    await post({}, `/opt-out/${links.sign('opt_out', { ...claims, expiresAt: now })}`).expect(200)
    await post({}, `/opt-out/${links.sign('reply', claims)}`).expect(404)
    expect(recorded).toHaveLength(2)
  })
})
