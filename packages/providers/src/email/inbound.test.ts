import fc from 'fast-check'
import { simulatorControl, startSimulator } from '@aftercommit/simulator'
import type { MailReply, Simulator } from '@aftercommit/simulator'
import { MAIL_BYTES_MAX, parseInboundMail } from './inbound.ts'
import { contextOf, mailTo } from './script.testing.ts'
import { smtpMailer } from './smtp.ts'

const grace = 'grace@elsewhere.example'
const ours = '<op-1@aftercommit.example>'

/** A mail with these header lines and this text. */
const mail = (headers: readonly string[], text = 'Tuesday works.') =>
  [`From: Grace Hopper <${grace}>`, 'Message-ID: <1@elsewhere.example>', ...headers, '', text].join('\r\n')

describe('a mail from outside', () => {
  it('is read with what it answers, whom it is from and what was written', async () => {
    const raw = mail(
      [
        'To: Meetings <meetings+abc@aftercommit.example>, =?utf-8?q?J=C3=BCrgen?= <j@MÜLLER.example>',
        `In-Reply-To: ${ours}`,
        `References: <op-0@aftercommit.example>\r\n ${ours}`,
        'Subject: =?utf-8?q?Re=3A_wann=3F_=C3=BC?=',
        'Date: Tue, 17 Mar 2026 10:00:00 +0100',
        'Content-Type: text/plain; charset=iso-8859-1',
        'Content-Transfer-Encoding: quoted-printable',
      ],
      'Dienstag nach dem Fr=FChst=FCck.\r\n\r\nAm 17.03.2026 um 10:00 schrieb Meetings:\r\n> wann?',
    )
    expect(await parseInboundMail(Buffer.from(raw))).toEqual({
      type: 'reply',
      messageId: '<1@elsewhere.example>',
      inReplyTo: ours,
      references: ['<op-0@aftercommit.example>', ours],
      from: grace,
      to: ['meetings+abc@aftercommit.example', 'j@xn--mller-kva.example'],
      subject: 'Re: wann? ü',
      date: new Date('2026-03-17T09:00:00Z'),
      text: 'Dienstag nach dem Frühstück.',
    })
  })

  it('without a word about what it answers is other, and lacks what it lacks', async () => {
    expect(await parseInboundMail('Subject: Hello\r\n\r\nHi')).toEqual({
      type: 'other',
      messageId: undefined,
      inReplyTo: undefined,
      references: [],
      from: undefined,
      to: [],
      subject: 'Hello',
      date: undefined,
      text: 'Hi',
    })
  })

  it.each([
    ['HTML alone', 'text/html; charset=utf-8', '<p>Tuesday works.</p><blockquote>When?</blockquote>'],
    [
      'HTML beside blank text',
      'multipart/alternative; boundary=b',
      '--b\r\nContent-Type: text/plain\r\n\r\n \r\n--b\r\nContent-Type: text/html\r\n\r\n<p>Tuesday works.\r\n--b--',
    ],
    [
      'text beside an attachment and a forwarded mail',
      'multipart/mixed; boundary=b',
      '--b\r\nContent-Type: text/plain\r\n\r\nTuesday works.\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\nMonday works.\r\n--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\nFriday works.\r\n--b--',
    ],
  ])('that is %s is read as the words in it', async (_name, contentType, body) => {
    const raw = mail([`In-Reply-To: ${ours}`, `Content-Type: ${contentType}`], body)
    expect(await parseInboundMail(raw)).toMatchObject({ type: 'reply', text: 'Tuesday works.' })
  })

  it('keeps no id that is none, and the newest of too many', async () => {
    const many = Array.from({ length: 200 }, (_, n) => `<${n}@x.example>`).join(' ')
    const raw = mail(['In-Reply-To: "your mail" of Tuesday', `References: <no id> ${many} <a@b\u0001>`])
    const parsed = await parseInboundMail(raw)
    expect(parsed).toMatchObject({ type: 'reply', inReplyTo: undefined })
    expect('references' in parsed && [parsed.references.length, parsed.references.at(-1)]).toEqual([
      100,
      '<199@x.example>',
    ])
  })

  it.each([
    ['Auto-Submitted: auto-replied'],
    ['Auto-Submitted: auto-generated; owner-email="x@y.example"'],
    ['X-Auto-Response-Suppress: All'],
    ['X-Autoreply: yes'],
    ['Precedence: auto_reply'],
    ['Precedence: bulk'],
    ['Return-Path: <>'],
    ['Subject: Automatic reply: When can you meet?'],
    ['Subject: Out of Office: When can you meet?'],
    ['Subject: Automatische Antwort: Wann?'],
    ['Subject: Abwesenheitsnotiz: Wann?'],
    ['Subject: =?utf-8?q?R=C3=A9ponse_automatique?= : quand'],
    ['Content-Type: multipart/report; report-type=disposition-notification; boundary=b'],
  ])('with %s is the work of a machine', async (header) => {
    const parsed = await parseInboundMail(mail([`In-Reply-To: ${ours}`, header]))
    expect(parsed).toMatchObject({ type: 'auto_reply', inReplyTo: ours })
  })

  it.each([
    ['Auto-Submitted: no'],
    ['X-Auto-Response-Suppress: None'],
    ['Precedence: first-class'],
    [`Return-Path: <${grace}>`],
    ['Subject: Re: Automatic reply: When can you meet?'],
    ['Subject: Abwesende Kollegen'],
  ])('with %s is a person’s', async (header) => {
    expect(await parseInboundMail(mail([`In-Reply-To: ${ours}`, header]))).toMatchObject({ type: 'reply' })
  })
})

/** A delivery status notification with these fields for its recipient. */
const notification = (fields: readonly string[], returned = `Message-ID: ${ours}\r\nSubject: x`) =>
  [
    'Return-Path: <>',
    'From: Mail Delivery Subsystem <mailer-daemon@elsewhere.example>',
    'Subject: Undeliverable',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b\r\nContent-Type: text/plain\r\n\r\nSorry.',
    `--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x\r\n\r\n${fields.join('\r\n')}\r\n`,
    `--b\r\nContent-Type: text/rfc822-headers\r\n\r\n${returned}\r\n--b--`,
  ].join('\r\n')

describe('a bounce', () => {
  const to = `Final-Recipient: rfc822; ${grace}`

  it.each([
    [['Action: failed', 'Status: 5.1.1'], { action: 'failed', permanent: true, code: '5_1_1' }],
    [['Action: failed', 'Status: 5.2.2'], { action: 'failed', permanent: false, code: '5_2_2' }],
    [
      ['Action: failed', 'Status: 4.4.7 (delivery time expired)'],
      { action: 'failed', permanent: false, code: '4_4_7' },
    ],
    [['Action: delayed', 'Status: 4.4.1'], { action: 'delayed', permanent: false, code: '4_4_1' }],
    [['Action: failed'], { action: 'failed', permanent: false, code: 'unreadable' }],
  ] as const)('that reports %j is told as it is', async (fields, bounce) => {
    expect(await parseInboundMail(notification([to, ...fields]))).toMatchObject({
      type: 'bounce',
      bounce: { ...bounce, originalMessageId: ours, recipient: grace },
    })
  })

  it('names the recipient that we wrote to, and not the one it was forwarded to', async () => {
    const fields = [
      'Original-Recipient: rfc822;first@elsewhere.example',
      to,
      'Action: failed',
      'Status: 5.1.1',
    ]
    expect(await parseInboundMail(notification(fields))).toMatchObject({
      bounce: { recipient: 'first@elsewhere.example' },
    })
  })

  it('is none when it reports that the mail has arrived', async () => {
    const parsed = await parseInboundMail(notification([to, 'Action: delivered', 'Status: 2.0.0']))
    expect(parsed.type).toBe('auto_reply')
  })

  it('in nobody’s form is read for what can be made out', async () => {
    const raw = [
      'Return-Path: <>',
      'From: MAILER-DAEMON@elsewhere.example',
      'Subject: failure notice',
      '',
      `<${grace}>:\r\n10.1.2.3 does not like recipient.\r\nRemote host said: 550 5.1.1 unknown`,
      `\r\n--- Below this line is a copy of the message.\r\n\r\nMessage-ID: ${ours}`,
    ].join('\r\n')
    expect(await parseInboundMail(raw)).toMatchObject({
      type: 'bounce',
      bounce: { permanent: true, code: '5_1_1', originalMessageId: ours, recipient: undefined },
    })
    const exim = raw.replace('Subject:', `X-Failed-Recipients: ${grace}\r\nSubject:`)
    expect(await parseInboundMail(exim)).toMatchObject({ bounce: { recipient: grace } })
  })
})

describe('what comes back for a mail of ours', () => {
  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator()
  })
  afterAll(() => simulator.stop())

  const answeredWith = async (reply: Partial<MailReply> & Pick<MailReply, 'kind'>) => {
    const control = simulatorControl(simulator.url)
    const message = mailTo(grace)
    await smtpMailer({ url: simulator.smtpUrl, requireTls: false }).send(message, contextOf())
    const to = `${simulator.url}/webhooks/inbound`
    const { raw } = await control.replyToMail(grace, { inReplyTo: message.messageId, to, ...reply })
    return { message, parsed: await parseInboundMail(raw) }
  }

  it.each(['gmail', 'outlook'] as const)('by %s is the person’s own words', async (client) => {
    const text = 'Tuesday after 14:00 – or, if you like, any time on Thursday.\nNot Friday.'
    const { message, parsed } = await answeredWith({ kind: 'reply', client, text })
    expect(parsed).toMatchObject({
      type: 'reply',
      inReplyTo: message.messageId,
      from: grace,
      to: [message.from.address],
      subject: `Re: ${message.subject}`,
      text,
    })
  })

  it('is an absence notice or a bounce of that very mail', async () => {
    const absent = await answeredWith({ kind: 'out_of_office', text: 'Back on Monday at 9:00.' })
    expect(absent.parsed).toMatchObject({ type: 'auto_reply', inReplyTo: absent.message.messageId })
    const bounced = await answeredWith({ kind: 'bounce', status: '5.1.1' })
    expect(bounced.parsed).toMatchObject({
      type: 'bounce',
      bounce: { permanent: true, originalMessageId: bounced.message.messageId, recipient: grace },
    })
  })
})

describe('what is no mail', () => {
  it.each([
    ['nothing', '', 'no_headers'],
    ['a text without a header', 'hello', 'no_headers'],
    ['too much', 'x'.repeat(MAIL_BYTES_MAX + 1), 'too_large'],
    [
      'more parts than any mail has',
      `${mail(['Content-Type: multipart/mixed; boundary=b'], '')}${'--b\r\n\r\nx\r\n'.repeat(5_000)}`,
      'unreadable',
    ],
  ])('%s is malformed', async (_name, raw, code) => {
    expect(await parseInboundMail(raw)).toEqual({ type: 'malformed', code })
  })

  it('whatever its bytes, is answered and never thrown', async () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'From: ',
        '<',
        '>',
        ':',
        '\r\n',
        '\r\n\r\n',
        '--b',
        '--b--',
        '\r\nContent-Type: multipart/mixed; boundary=b\r\n',
        '\r\nContent-Type: text/html; charset=',
        '\r\nContent-Transfer-Encoding: base64\r\n',
        '=?utf-8?q?',
        '?=',
        '\r\nContent-Type: message/delivery-status\r\n\r\n',
        'Action: failed\r\n',
        'Status: 5',
        'Date: ',
        'References: <',
        '@',
        ';',
        '"',
        '(',
        '=C3=',
        '\u0000',
        '\r\nTo: ',
      ),
    )
    const anyMail = fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
      fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
    )
    await fc.assert(
      fc.asyncProperty(anyMail, async (raw) => {
        const { type } = await parseInboundMail(raw)
        expect(['reply', 'auto_reply', 'bounce', 'other', 'malformed']).toContain(type)
      }),
      { numRuns: 500 },
    )
  })
})
