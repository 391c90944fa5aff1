import fc from 'fast-check'
import { smtpMailer } from './smtp.ts'
import type { SendAnswer } from './email.ts'
import { contextOf, mailTo, say, withSmtpScript } from './script.testing.ts'
import type { Act, SmtpScript, Step } from './script.testing.ts'

const ada = 'ada@elsewhere.example'
const sendBy = (script: SmtpScript, message = mailTo(ada), context = contextOf()) =>
  withSmtpScript(script, async (url, heard) => ({
    answer: await smtpMailer({ url, requireTls: false }).send(message, context),
    heard,
    context,
  }))

const drop: Act = { type: 'drop' }
const reset: Act = { type: 'reset' }
const silence: Act = { type: 'silence' }
const notSent = (code: string): SendAnswer => ({ type: 'not_sent', code })
const uncertain = (code: string): SendAnswer => ({ type: 'uncertain', code })
const deferred = (code: string, restServer = false): SendAnswer => ({ type: 'deferred', code, restServer })
const refused = (reason: 'address' | 'sender' | 'content' | 'policy', code: string): SendAnswer => ({
  type: 'refused',
  reason,
  code,
})

const CASES: readonly (readonly [Step, Act, SendAnswer])[] = [
  ['greeting', drop, notSent('connection_closed')],
  ['greeting', reset, notSent('ECONNRESET')],
  ['greeting', say('421 4.3.2 Shutting down'), deferred('421_4_3_2', true)],
  ['greeting', say('450 Later'), deferred('450', true)],
  ['greeting', say('554 5.7.1 Not you'), notSent('554_5_7_1')],
  ['greeting', say('hello'), notSent('malformed_reply')],
  ['EHLO', drop, notSent('connection_closed')],
  ['EHLO', say('421 4.3.2 Shutting down'), deferred('421_4_3_2', true)],
  ['MAIL', drop, notSent('connection_closed')],
  ['MAIL', say('250'), { type: 'accepted', code: '250_2_0_0' }],
  ['MAIL', say('421 4.4.2 Bye'), deferred('421_4_4_2', true)],
  ['MAIL', say('451 4.3.0 Later'), deferred('451_4_3_0', true)],
  ['MAIL', say('503 5.5.1 Bad sequence'), notSent('503_5_5_1')],
  ['MAIL', say('530 5.7.0 Must issue a STARTTLS command first'), notSent('530_5_7_0')],
  ['MAIL', say('550 No'), refused('sender', '550')],
  ['MAIL', say('550 5.1.8 Bad sender domain'), refused('sender', '550_5_1_8')],
  ['MAIL', say('550 5.7.1 Listed'), refused('policy', '550_5_7_1')],
  ['MAIL', say('552 5.3.4 Too large'), refused('content', '552_5_3_4')],
  ['RCPT', drop, notSent('connection_closed')],
  ['RCPT', say('550 5.1.1 <ada@elsewhere.example> unknown'), refused('address', '550_5_1_1')],
  ['RCPT', say('550-5.1.1 The account\r\n550 5.1.1 does not exist'), refused('address', '550_5_1_1')],
  ['RCPT', say('553 Name not allowed'), refused('address', '553')],
  ['RCPT', say('554 Relay access denied'), refused('policy', '554')],
  ['RCPT', say('550 5.7.1 Relaying denied'), refused('policy', '550_5_7_1')],
  ['RCPT', say('552 5.2.2 Over quota'), deferred('552_5_2_2')],
  ['RCPT', say('552 Over quota'), deferred('552')],
  ['RCPT', say('550 5.2.1 Disabled'), refused('address', '550_5_2_1')],
  ['RCPT', say('450 4.7.1 Greylisted'), deferred('450_4_7_1', true)],
  ['RCPT', say('451 Later'), deferred('451')],
  ['RCPT', say('421 Too many'), deferred('421', true)],
  ['RCPT', say('550 4.1.1 Confused'), refused('address', '550_4_1_1')],
  ['DATA', drop, notSent('connection_closed')],
  ['DATA', say('250 2.0.0 OK'), notSent('malformed_reply')],
  ['DATA', say('451 4.3.1 No room'), deferred('451_4_3_1', true)],
  ['DATA', say('554 5.5.1 No valid recipients'), refused('policy', '554_5_5_1')],
  ['dot', drop, uncertain('connection_closed')],
  ['dot', reset, uncertain('ECONNRESET')],
  ['dot', say('550 5.7.1 Spam'), refused('policy', '550_5_7_1')],
  ['dot', say('550 Spam'), refused('content', '550')],
  ['dot', say('554 5.6.0 Content'), refused('content', '554_5_6_0')],
  ['dot', say('451 4.7.1 Slow down'), deferred('451_4_7_1', true)],
  ['dot', say('452 4.2.2 Full'), deferred('452_4_2_2')],
  ['dot', say('421 4.3.0 Going'), deferred('421_4_3_0', true)],
  ['dot', say('354 What?'), uncertain('malformed_reply')],
  ['dot', say('Thanks'), uncertain('malformed_reply')],
  ['dot', say('2nd thoughts'), uncertain('malformed_reply')],
  ['dot', { type: 'say', text: '250-2.0.0 Queu', thenDrop: true }, uncertain('connection_closed')],
  ['dot', { type: 'say', text: '550-5.7.1 Sp', thenDrop: true }, uncertain('connection_closed')],
  ['QUIT', drop, { type: 'accepted', code: '250_2_0_0' }],
  ['QUIT', reset, { type: 'accepted', code: '250_2_0_0' }],
  ['QUIT', silence, { type: 'accepted', code: '250_2_0_0' }],
  ['QUIT', say('421 Bye'), { type: 'accepted', code: '250_2_0_0' }],
]

const named = (act: Act): string => (act.type === 'say' ? act.text.replaceAll('\r\n', ' / ') : act.type)

describe.each([
  ['one command at a time', '250-script\r\n250 SIZE 1000000'],
  ['all commands at once', '250-script\r\n250-PIPELINING\r\n250 SIZE 1000000'],
])('a conversation with %s', (_manner, capabilities) => {
  it.each(CASES.map(([step, act, answer]) => [step, named(act), act, answer] as const))(
    'in which the server does at %s: %s, comes to one answer',
    async (step, _named, act, answer) => {
      const sent = await sendBy({ EHLO: say(capabilities), [step]: act })
      expect(sent.answer).toEqual(answer)
      expect(sent.heard.reached.filter((each) => each === 'greeting')).toHaveLength(1)
      expect(sent.context.calls).toMatchObject([{ provider: 'mail', operation: 'smtp.send' }])
      expect(JSON.stringify(sent.context.calls)).not.toMatch(/ada|elsewhere|Queued|Spam/)
    },
  )
})

describe('a lost connection', () => {
  it.each(['drop', 'reset'] as const)('by %s in the middle of the message has sent nothing', async (type) => {
    // Larger than what the sockets between take in, so that the end cannot have left this machine.
    const message = mailTo(ada, { text: `${'x'.repeat(70)}\n`.repeat(400_000) })
    const { answer, heard } = await sendBy({ half: { type } }, message, contextOf({ timeoutMs: 20_000 }))
    expect(answer.type).toBe('not_sent')
    expect(heard).toMatchObject({ taken: 0 })
    expect(heard.reached).not.toContain('dot')
  })

  it('after the end is uncertain, whether the server kept the mail or not', async () => {
    for (const taken of [true, false]) {
      const { answer, heard } = await sendBy({ dot: { type: 'drop', taken } })
      expect(answer).toEqual(uncertain('connection_closed'))
      expect(heard.taken).toBe(taken ? 1 : 0)
    }
  })
})

describe('a deadline', () => {
  it.each<[Step, SendAnswer]>([
    ['greeting', notSent('deadline_exceeded')],
    ['EHLO', notSent('deadline_exceeded')],
    ['MAIL', notSent('deadline_exceeded')],
    ['RCPT', notSent('deadline_exceeded')],
    ['DATA', notSent('deadline_exceeded')],
    ['dot', uncertain('deadline_exceeded')],
  ])('that passes in silence at %s tells what was sent by then', async (step, answer) => {
    const sent = await sendBy({ [step]: silence }, mailTo(ada), contextOf({ timeoutMs: 200 }))
    expect(sent.answer).toEqual(answer)
  })

  it('passes for a server that drips its answer as well', async () => {
    const lines = '250-more\r\n'.repeat(1_000)
    const sent = await sendBy({ dot: say(lines.trimEnd()) }, mailTo(ada), contextOf({ timeoutMs: 200 }))
    expect(sent.answer).toEqual(uncertain('deadline_exceeded'))
  })
})

describe('an abort', () => {
  it('before the first byte calls nobody and leaves no record', async () => {
    const context = contextOf({ signal: AbortSignal.abort() })
    const { answer, heard } = await sendBy({}, mailTo(ada), context)
    expect(answer).toEqual(notSent('aborted'))
    expect(heard.reached).toEqual([])
    expect(context.calls).toEqual([])
  })

  it.each<[Step, SendAnswer]>([
    ['RCPT', notSent('aborted')],
    ['dot', uncertain('aborted')],
  ])('during the wait at %s is told as what it is', async (step, answer) => {
    const stopping = new AbortController()
    const context = contextOf({ signal: stopping.signal })
    await withSmtpScript({ [step]: silence }, async (url, heard) => {
      const sending = smtpMailer({ url, requireTls: false }).send(mailTo(ada), context)
      await new Promise<void>((resolve) => {
        const look = () => {
          if (heard.reached.includes(step)) resolve()
          else setImmediate(look)
        }
        look()
      })
      stopping.abort()
      expect(await sending).toEqual(answer)
    })
  })
})

describe('a server without what a message needs', () => {
  it('is not given the name of a mailbox that it cannot read', async () => {
    const message = mailTo('jürgen@elsewhere.example')
    const without = await sendBy({ EHLO: say('250-script\r\n250 8BITMIME') }, message)
    expect(without.answer).toEqual(refused('address', 'smtputf8_absent'))
    expect(without.heard.reached).not.toContain('MAIL')
    const { answer, heard } = await sendBy({}, message)
    expect(answer.type).toBe('accepted')
    const from = heard.commands.find((line) => line.startsWith('MAIL'))
    expect(from).toMatch(/^MAIL FROM:<meetings@aftercommit\.example> SMTPUTF8/)
    expect(Buffer.from(heard.commands.join('\n'), 'latin1').toString()).toContain('jürgen@elsewhere.example')
  })

  it('is not given a message that it has no room for', async () => {
    const { answer, heard } = await sendBy({ EHLO: say('250-script\r\n250 SIZE 100') })
    expect(answer).toEqual(refused('content', 'message_too_large'))
    expect(heard.reached).not.toContain('MAIL')
  })

  it('is not given credentials in the clear', async () => {
    await withSmtpScript({ EHLO: say('250-script\r\n250 AUTH PLAIN LOGIN') }, async (url, heard) => {
      const signedIn = url.replace('smtp://', 'smtp://user:word@')
      const mailer = smtpMailer({ url: signedIn, requireTls: false })
      expect(await mailer.send(mailTo(ada), contextOf())).toEqual(notSent('credentials_need_tls'))
      expect(heard.commands.join()).not.toMatch(/AUTH|MAIL/)
    })
  })
})

describe('whatever a server says', () => {
  const reply = fc
    .tuple(
      fc.constantFrom(
        '220',
        '250',
        '354',
        '221',
        '421',
        '450',
        '452',
        '500',
        '503',
        '535',
        '550',
        '552',
        '999',
        '',
      ),
      fc.constantFrom(' ', '-', ''),
      fc.constantFrom('', '2.0.0 ', '4.7.1 ', '5.1.1 ', '5.2.2 ', '5.7.999 '),
      fc.string({ maxLength: 20 }),
    )
    .map(([status, mark, enhanced, text]) => `${status}${mark}${enhanced}${text.replace(/[\r\n]/g, ' ')}`)
  const act: fc.Arbitrary<Act> = fc.oneof(
    fc.record({
      type: fc.constant('say' as const),
      text: reply,
      thenDrop: fc.boolean(),
    }),
    fc.record({ type: fc.constantFrom('drop' as const, 'reset' as const) }),
  )
  const step = fc.constantFrom<Step>('greeting', 'EHLO', 'MAIL', 'RCPT', 'DATA', 'dot', 'QUIT')

  const scripted = fc.uniqueArray(fc.tuple(step, act, fc.boolean()), {
    minLength: 1,
    maxLength: 2,
    selector: ([at]) => at,
  })

  it('nothing is thrown, and what is said to be sent or not sent is so', async () => {
    await fc.assert(
      fc.asyncProperty(scripted, fc.boolean(), async (steps, pipelining) => {
        const acts = steps.map(([at, given, kept]) => {
          // A server keeps a mail when it says 2xx, and may when its answer is lost.
          const keeps = given.type === 'say' ? /^2\d\d( |$)/.test(given.text) : kept
          return [at, at === 'dot' ? { ...given, taken: keeps } : given] as const
        })
        const script = {
          ...(pipelining && { EHLO: say('250-script\r\n250 PIPELINING') }),
          ...Object.fromEntries(acts),
        }
        const { answer, heard } = await sendBy(script, mailTo(ada), contextOf({ timeoutMs: 100 }))
        if (answer.type === 'accepted') expect(heard.taken).toBe(1)
        else if (answer.type !== 'uncertain') expect(heard.taken).toBe(0)
        expect(answer.code).toMatch(/^[\w:.-]{1,64}$/)
      }),
      { numRuns: 150 },
    )
  })
})
