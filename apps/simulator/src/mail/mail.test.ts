import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { startSimulator, simulatorControl } from '../index.ts'
import type { Simulator, SimulatorControl } from '../index.ts'

const ada = 'ada@elsewhere.example'
const sender = 'meetings@aftercommit.example'

/** Speaks SMTP by hand, one line after the answer to the one before; resolves with the answers. */
const speak = (smtpUrl: string, lines: readonly string[]): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(smtpUrl)
    const socket = connect(Number(port), hostname)
    const answers: string[] = []
    const left = [...lines]
    let unread = ''
    socket.on('data', (chunk) => {
      unread += chunk.toString()
      const whole = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n$/.exec(unread)
      if (!whole) return
      answers.push(unread.trimEnd().split('\r\n').at(-1) ?? '')
      unread = ''
      const line = left.shift()
      if (line === undefined) socket.end()
      else socket.write(`${line}\r\n`)
    })
    socket.on('close', () => resolve(answers))
    socket.on('error', reject)
  })

const envelope = (to: string) => ['EHLO test', `MAIL FROM:<${sender}>`, `RCPT TO:<${to}>`]

const letter = (messageId: string, body = 'Hello') =>
  [
    `From: Meetings <${sender}>`,
    `To: ${ada}`,
    'Subject: When?',
    `Message-ID: ${messageId}`,
    'Content-Type: text/html; charset=utf-8',
    '',
    body,
    '.',
  ].join('\r\n')

const newId = () => `<${randomUUID()}@aftercommit.example>`

describe('the simulated mail server', () => {
  let simulator: Simulator
  let control: SimulatorControl
  beforeAll(async () => {
    simulator = await startSimulator()
    control = simulatorControl(simulator.url)
  })
  afterAll(() => simulator.stop())
  beforeEach(() => control.reset())

  const send = async (messageId: string, to = ada, body?: string) => {
    const answers = await speak(simulator.smtpUrl, [...envelope(to), 'DATA', letter(messageId, body), 'QUIT'])
    return answers.map((answer) => Number(answer.slice(0, 3)))
  }

  it('keeps a mail in the mailbox it is for, whatever the case of the address', async () => {
    const messageId = newId()
    const body =
      '<a href="https://x.example/a?b=1&amp;c=2">here</a> <a href=\'https://x.example/d\'>there</a>'
    expect(await send(messageId, 'ADA@elsewhere.example', body)).toEqual([220, 250, 250, 250, 354, 250, 221])
    expect(await control.readMailbox(ada)).toMatchObject({
      address: ada,
      accepts: 'yes',
      received: [
        {
          messageId,
          returnPath: sender,
          from: { address: sender, name: 'Meetings' },
          subject: 'When?',
          headers: { 'message-id': messageId },
          duplicates: 0,
        },
      ],
    })
    expect(await control.readMailLinks(ada)).toEqual([
      { messageId, url: 'https://x.example/a?b=1&c=2' },
      { messageId, url: 'https://x.example/d' },
    ])
    expect(await control.readLedger()).toMatchObject([
      { provider: 'mail', effect: 'mail_received', by: 'api', messageId, to: ada, duplicates: 0 },
    ])
    const requests = await control.readRequests()
    expect(
      requests.map(({ provider, operation, address, status }) => [provider, operation, address, status]),
    ).toEqual([
      ['mail', 'smtp.connect', null, 250],
      ['mail', 'smtp.rcpt', ada, 250],
      ['mail', 'smtp.send', ada, 250],
    ])
  })

  it('shows a repeated mail once in the mailbox and every time in the ledger', async () => {
    const messageId = newId()
    for (const _ of [1, 2, 3]) await send(messageId)
    expect(await control.readMailbox(ada)).toMatchObject({ received: [{ messageId, duplicates: 2 }] })
    expect((await control.readLedger()).map(({ duplicates }) => duplicates)).toEqual([0, 1, 2])
  })

  it.each([
    ['unknown_user', '550 5.1.1', 3],
    ['mailbox_full', '552 5.2.2', 3],
    ['defers', '450 4.2.0', 3],
    ['rejects_content', '554 5.6.0', 5],
  ] as const)('says of a mailbox that is set to %s: %s', async (accepts, answer, at) => {
    await control.putMailboxSettings(ada, { accepts })
    const lines = [...envelope(ada), 'DATA', letter(newId()), 'QUIT'].slice(0, at)
    const answers = await speak(simulator.smtpUrl, [...lines, 'QUIT'])
    expect(answers[at]).toMatch(new RegExp(`^${answer.replaceAll('.', '\\.')} `))
    expect((await control.readMailbox(ada)).received).toEqual([])
  })

  it('holds an answer back until the fault is released, the mail being there or not yet', async () => {
    for (const when of ['after_effect', 'before_effect'] as const) {
      await control.reset()
      await control.addFault({
        id: 'held',
        provider: 'mail',
        operation: 'smtp.send',
        address: ada,
        act: { type: 'hold', when },
      })
      const sending = send(newId())
      await control.waitForFault('held')
      expect((await control.readMailbox(ada)).received).toHaveLength(when === 'after_effect' ? 1 : 0)
      await control.releaseFault('held')
      expect((await sending).at(-2)).toBe(250)
      expect((await control.readMailbox(ada)).received).toHaveLength(1)
    }
  })

  it('knows no fault that SMTP cannot have', async () => {
    for (const act of [
      { type: 'html' },
      { type: 'truncate' },
      { type: 'answer', status: 204, body: '' },
    ] as const) {
      const fault = { id: 'x', provider: 'mail', operation: 'smtp.send', act } as const
      await expect(control.addFault(fault)).rejects.toThrow(/400/)
    }
  })

  it('keeps nothing of a mail that breaks off before its end', async () => {
    const broken = letter(newId()).slice(0, -3)
    const { hostname, port } = new URL(simulator.smtpUrl)
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname)
      const lines = [...envelope(ada), 'DATA', broken]
      socket.on('data', () => {
        const line = lines.shift()
        if (line === undefined) return
        socket.write(`${line}\r\n`)
        if (lines.length === 0) socket.end()
      })
      socket.on('close', () => resolve())
    })
    expect(await send(newId(), 'grace@elsewhere.example')).toHaveLength(7)
    expect((await control.readMailbox(ada)).received).toEqual([])
    expect(await control.readLedger()).toHaveLength(1)
  })

  it.each([
    ['reply', 'gmail', /In-Reply-To: <[^]*\nOn [^]* wrote:/],
    ['reply', 'outlook', /In-Reply-To: <[^]*\nFrom: Meetings [^]*Sent: /],
    ['out_of_office', 'outlook', /Subject: Automatic reply: When\?[^]*Auto-Submitted: auto-replied/],
    ['bounce', 'gmail', /Return-Path: <>[^]*report-type=delivery-status[^]*Status: 5\.1\.1[^]*Message-ID: </],
  ] as const)('answers a mail with a %s as %s writes it, by HTTP', async (kind, client, shape) => {
    const messageId = newId()
    await send(messageId)
    const answer = await control.replyToMail(ada, {
      inReplyTo: messageId,
      kind,
      client,
      text: 'Tuesday.',
      to: `${simulator.url}/webhooks/inbound`,
      headers: { 'x-from': 'the relay' },
    })
    expect(answer).toMatchObject({ status: 204, raw: expect.stringMatching(shape) })
    expect(await control.readWebhooks('inbound')).toMatchObject({
      received: [{ body: answer.raw, headers: { 'content-type': 'message/rfc822', 'x-from': 'the relay' } }],
    })
  })

  it('answers no mail that it has not received, and tells when nobody takes the answer', async () => {
    const reply = { inReplyTo: newId(), to: `${simulator.url}/webhooks/inbound` }
    await expect(control.replyToMail(ada, reply)).rejects.toThrow(/404.*no such mail/)
    await send(reply.inReplyTo)
    await expect(control.replyToMail(ada, { ...reply, to: 'http://127.0.0.1:1/' })).rejects.toThrow(/502/)
  })

  it('forgets its mailboxes on reset', async () => {
    await control.putMailboxSettings(ada, { accepts: 'unknown_user' })
    await control.reset()
    expect(await control.readMailbox(ada)).toEqual({ address: ada, accepts: 'yes', received: [] })
  })
})
