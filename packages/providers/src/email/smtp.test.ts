import { randomBytes } from 'node:crypto'
import { simulatorControl, startSimulator } from '@aftercommit/simulator'
import type { FaultAct, Simulator } from '@aftercommit/simulator'
import type { SendAnswer } from './email.ts'
import { contextOf, mailTo } from './script.testing.ts'
import { smtpMailer } from './smtp.ts'

const ada = 'ada@elsewhere.example'

describe('a mail to a simulated mailbox', () => {
  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator()
  })
  afterAll(() => simulator.stop())
  beforeEach(() => simulatorControl(simulator.url).reset())

  const stage = () => ({
    control: simulatorControl(simulator.url),
    mailer: smtpMailer({ url: simulator.smtpUrl, requireTls: false }),
  })
  const arrivals = async () =>
    (await stage().control.readLedger()).map(({ messageId, duplicates }) => [messageId, duplicates])

  it('arrives once, with our Message-ID and nothing lost on the way', async () => {
    const { control, mailer } = stage()
    const message = mailTo(ada, {
      from: { address: 'meetings@aftercommit.example', displayName: 'Büro "Nord", Team <1>' },
      replyTo: { address: 'reply+x@aftercommit.example' },
      subject: 'Wann können Sie? – 日本 🗓',
      text: 'Grüße\n.\n..\nFrom here\n' + 'ü'.repeat(2_000) + '\nhttps://aftercommit.example/reply/1?a=1\n',
      html: '<p>Grüße <a href="https://aftercommit.example/reply/2?a=1&amp;b=2">hier</a></p>',
      inReplyTo: '<op-0@aftercommit.example>',
      references: ['<op-0@aftercommit.example>', '<1@elsewhere.example>'],
      unsubscribeUrl: `https://aftercommit.example/stop/${'x'.repeat(200)}`,
    })
    const context = contextOf()
    expect(await mailer.send(message, context)).toEqual({ type: 'accepted', code: '250_2_0_0' })
    const mailbox = await control.readMailbox(ada)
    expect(mailbox.received).toMatchObject([
      {
        messageId: message.messageId,
        returnPath: message.from.address,
        from: { address: message.from.address, name: message.from.displayName },
        subject: message.subject,
        headers: {
          'reply-to': 'reply+x@aftercommit.example',
          'in-reply-to': message.inReplyTo,
          references: '<op-0@aftercommit.example> <1@elsewhere.example>',
          'auto-submitted': 'auto-generated',
          'list-unsubscribe': `<${message.unsubscribeUrl ?? ''}>`,
          'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
        },
        links: ['https://aftercommit.example/reply/1?a=1', 'https://aftercommit.example/reply/2?a=1&b=2'],
        duplicates: 0,
      },
    ])
    expect(mailbox.received[0]?.text.trimEnd()).toBe(message.text.trimEnd())
    expect(mailbox.received[0]?.html?.trimEnd()).toBe(message.html)
    expect(context.calls).toMatchObject([
      { provider: 'mail', operation: 'smtp.send', status: 250, outcome: 'accepted', requestId: undefined },
    ])
  })

  it('sent twice arrives twice, and is known by its Message-ID', async () => {
    const { control, mailer } = stage()
    const message = mailTo(ada)
    await mailer.send(message, contextOf())
    await mailer.send(message, contextOf())
    expect(await arrivals()).toEqual([
      [message.messageId, 0],
      [message.messageId, 1],
    ])
    expect(await control.readMailbox(ada)).toMatchObject({ received: [{ duplicates: 1 }] })
  })

  it.each<['unknown_user' | 'mailbox_full' | 'rejects_content' | 'defers', SendAnswer]>([
    ['unknown_user', { type: 'refused', reason: 'address', code: '550_5_1_1' }],
    ['mailbox_full', { type: 'deferred', code: '552_5_2_2', restServer: false }],
    ['rejects_content', { type: 'refused', reason: 'content', code: '554_5_6_0' }],
    ['defers', { type: 'deferred', code: '450_4_2_0', restServer: false }],
  ])('that is of the kind %s does not arrive', async (accepts, answer) => {
    const { control, mailer } = stage()
    await control.putMailboxSettings(ada, { accepts })
    expect(await mailer.send(mailTo(ada), contextOf())).toEqual(answer)
    expect(await arrivals()).toEqual([])
  })

  it.each<['smtp.connect' | 'smtp.rcpt' | 'smtp.send', FaultAct, SendAnswer, number]>([
    [
      'smtp.connect',
      { type: 'drop', when: 'before_effect' },
      { type: 'not_sent', code: 'connection_closed' },
      0,
    ],
    [
      'smtp.connect',
      { type: 'answer', status: 421, body: '4.3.2 Busy' },
      { type: 'deferred', code: '421_4_3_2', restServer: true },
      0,
    ],
    [
      'smtp.rcpt',
      { type: 'drop', when: 'before_effect' },
      { type: 'not_sent', code: 'connection_closed' },
      0,
    ],
    [
      'smtp.rcpt',
      { type: 'answer', status: 451, body: '4.7.1 Greylisted' },
      { type: 'deferred', code: '451_4_7_1', restServer: true },
      0,
    ],
    [
      'smtp.send',
      { type: 'drop', when: 'before_effect' },
      { type: 'uncertain', code: 'connection_closed' },
      0,
    ],
    [
      'smtp.send',
      { type: 'drop', when: 'after_effect' },
      { type: 'uncertain', code: 'connection_closed' },
      1,
    ],
    [
      'smtp.send',
      { type: 'answer', status: 550, body: '5.7.1 Spam' },
      { type: 'refused', reason: 'policy', code: '550_5_7_1' },
      0,
    ],
    [
      'smtp.send',
      { type: 'answer', status: 421, body: '4.3.2 Going' },
      { type: 'deferred', code: '421_4_3_2', restServer: true },
      0,
    ],
    [
      'smtp.send',
      { type: 'answer', status: 250, body: '2.0.0 Lost' },
      { type: 'accepted', code: '250_2_0_0' },
      0,
    ],
    [
      'smtp.send',
      { type: 'delay', delayMs: 50, when: 'after_effect' },
      { type: 'accepted', code: '250_2_0_0' },
      1,
    ],
  ])('that meets at %s %j is answered for what it is', async (operation, act, answer, arrived) => {
    const { control, mailer } = stage()
    await control.addFault({ id: 'fault', provider: 'mail', operation, act })
    expect(await mailer.send(mailTo(ada), contextOf())).toEqual(answer)
    expect(await arrivals()).toHaveLength(arrived)
    expect(await mailer.send(mailTo(ada), contextOf())).toMatchObject({ type: 'accepted' })
  })

  it('that is held at the greeting was not sent, and at its end nobody knows', async () => {
    const { control, mailer } = stage()
    for (const [operation, answer] of [
      ['smtp.connect', { type: 'not_sent', code: 'deadline_exceeded' }],
      ['smtp.send', { type: 'uncertain', code: 'deadline_exceeded' }],
    ] as const) {
      await control.addFault({ id: operation, provider: 'mail', operation, act: { type: 'hold' } })
      expect(await mailer.send(mailTo(ada), contextOf({ timeoutMs: 500 }))).toEqual(answer)
    }
    expect(await arrivals()).toHaveLength(1)
  })

  it('goes nowhere when TLS is required and not offered', async () => {
    const mailer = smtpMailer({ url: simulator.smtpUrl })
    expect(await mailer.send(mailTo(ada), contextOf())).toEqual({
      type: 'not_sent',
      code: 'starttls_refused',
    })
    expect(await arrivals()).toEqual([])
  })

  it('goes to the address with an international domain, whoever spells it', async () => {
    const { control, mailer } = stage()
    expect(await mailer.send(mailTo('jürgen@Müller.example'), contextOf())).toMatchObject({
      type: 'accepted',
    })
    for (const address of ['jürgen@müller.example', 'jürgen@xn--mller-kva.example']) {
      expect(await control.readMailbox(address)).toMatchObject({ received: [{ duplicates: 0 }] })
    }
  })

  it('comes back to the return path, if one is set', async () => {
    const { control } = stage()
    const returnPath = 'bounces@aftercommit.example'
    const mailer = smtpMailer({ url: simulator.smtpUrl, requireTls: false, returnPath })
    await mailer.send(mailTo(ada), contextOf())
    expect(await control.readMailbox(ada)).toMatchObject({ received: [{ returnPath }] })
  })
})

describe('a mail with something that is no part of one', () => {
  let simulator: Simulator
  beforeAll(async () => {
    simulator = await startSimulator()
  })
  afterAll(() => simulator.stop())

  const send = (changes: Parameters<typeof mailTo>[1], address = ada) =>
    smtpMailer({ url: simulator.smtpUrl, requireTls: false }).send(mailTo(address, changes), contextOf())

  it('makes no header of its own out of a line break in a subject or a name', async () => {
    const control = simulatorControl(simulator.url)
    for (const lineBreak of ['\r\n', '\n', '\r', '\u2028', '\u0085', '\u0000']) {
      await control.reset()
      const broken = `Hello${lineBreak}Bcc: eve@elsewhere.example${lineBreak}${lineBreak}body`
      const answer = await send({
        subject: broken,
        from: { address: 'meetings@aftercommit.example', displayName: broken },
        to: { address: ada, displayName: broken },
        replyTo: { address: 'reply@aftercommit.example', displayName: broken },
      })
      expect(answer).toMatchObject({ type: 'accepted' })
      const { received } = await control.readMailbox(ada)
      const flat = 'Hello Bcc: eve@elsewhere.example body'
      expect(received).toMatchObject([{ subject: flat, from: { name: flat } }])
      expect(received[0]?.headers).not.toHaveProperty('bcc')
      expect(received[0]?.text).toContain('When can you meet?')
      expect(await control.readMailbox('eve@elsewhere.example')).toMatchObject({ received: [] })
    }
  })

  it.each([
    'ada',
    '@elsewhere.example',
    'ada@',
    'ada@elsewhere..example',
    'a da@elsewhere.example',
    'ada@elsewhere.example\r\nRCPT TO:<eve@elsewhere.example>',
    'ada@elsewhere.example>,<eve@elsewhere.example',
    'ada@else where.example',
    '"a\r\nb"@elsewhere.example',
    `${'a'.repeat(65)}@elsewhere.example`,
    `${'a'.repeat(9)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(60)}.example`,
  ])('is refused for its address %j before anybody is called', async (address) => {
    const context = contextOf()
    const mailer = smtpMailer({ url: simulator.smtpUrl, requireTls: false })
    const refused = { type: 'refused', reason: 'address', code: 'malformed_address' }
    expect(await mailer.send(mailTo(address), context)).toEqual(refused)
    expect(context.calls).toEqual([])
    expect(await send({ from: { address } })).toEqual({ ...refused, reason: 'sender' })
    expect(await send({ replyTo: { address } })).toEqual({ ...refused, reason: 'sender' })
  })

  it.each([
    [{ messageId: 'op@aftercommit.example' }, 'malformed_message_id'],
    [{ messageId: '<op@aftercommit.example>\r\nBcc: <eve@elsewhere.example>' }, 'malformed_message_id'],
    [{ inReplyTo: '<op>' }, 'malformed_message_id'],
    [{ references: ['<a@b>', '<ü@b>'] }, 'malformed_message_id'],
    [{ unsubscribeUrl: 'http://aftercommit.example/stop' }, 'malformed_unsubscribe_url'],
    [{ unsubscribeUrl: 'https://aftercommit.example/stop>\r\nBcc: eve' }, 'malformed_unsubscribe_url'],
    [{ unsubscribeUrl: 'mailto:stop@aftercommit.example' }, 'malformed_unsubscribe_url'],
  ])('is refused for %j', async (changes, code) => {
    expect(await send(changes)).toEqual({ type: 'refused', reason: 'content', code })
  })
})

describe('a mailer', () => {
  it.each(['localhost:25', 'http://mail.example', 'smtp://', 'smtp:mail.example'])(
    'is not made for %s, and the error does not repeat it',
    (url) => {
      expect(() => smtpMailer({ url })).toThrow(
        /^the mail server must be given as an smtp: or smtps: URL( with a host)?$/,
      )
    },
  )

  it.each(['bounces', 'bünces@aftercommit.example'])('is not made with the return path %s', (returnPath) => {
    expect(() => smtpMailer({ url: 'smtp://mail.example', returnPath })).toThrow(TypeError)
  })

  it('finds nobody where nobody listens', async () => {
    const word = randomBytes(8).toString('hex')
    const context = contextOf()
    const refused = smtpMailer({ url: `smtp://user:${word}@127.0.0.1:1` })
    expect(await refused.send(mailTo(ada), context)).toEqual({ type: 'not_sent', code: 'ECONNREFUSED' })
    const unknown = smtpMailer({ url: 'smtp://mail.invalid' })
    expect(await unknown.send(mailTo(ada), contextOf())).toMatchObject({ type: 'not_sent' })
    expect(JSON.stringify(context.calls)).not.toContain(word)
  })
})
