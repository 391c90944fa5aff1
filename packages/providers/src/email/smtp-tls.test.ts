/** Against a mail server of its own, with encryption and sign-in, as a real relay has them. */
import { randomBytes } from 'node:crypto'
import { generate } from 'selfsigned'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerOptions } from 'smtp-server'
import { z } from 'zod'
import { contextOf, mailTo } from './script.testing.ts'
import { smtpMailer } from './smtp.ts'

const password = randomBytes(12).toString('hex')
const Port = z.object({ port: z.int() })

/** A certificate for this machine, which nobody trusts yet. */
const ownCertificate = async () => {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  return { cert: made.cert, key: made.private }
}

interface Taken {
  readonly raw: string
  readonly secure: boolean
  readonly user: unknown
}

describe('a mail server with TLS and sign-in', () => {
  let certificate: { readonly cert: string; readonly key: string }
  beforeAll(async () => {
    certificate = await ownCertificate()
  })

  const withRelay = async (
    options: SMTPServerOptions,
    act: (port: number, taken: readonly Taken[]) => Promise<void>,
  ): Promise<void> => {
    const taken: Taken[] = []
    const server = new SMTPServer({
      ...certificate,
      logger: false,
      disableReverseLookup: true,
      onAuth: ({ username, password: given }, _session, done) => {
        if (given === password) done(null, { user: username })
        else done(Object.assign(new Error('5.7.8 Bad credentials'), { responseCode: 535 }))
      },
      onData: (stream, { secure, user }, done) => {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', () => {
          taken.push({ raw: Buffer.concat(chunks).toString(), secure, user })
          done(null, '2.0.0 OK')
        })
      },
      ...options,
    })
    server.on('error', () => undefined)
    const listener = server.listen(0, '127.0.0.1')
    await new Promise((resolve) => listener.once('listening', resolve))
    try {
      await act(Port.parse(listener.address()).port, taken)
    } finally {
      await new Promise<void>((resolve) => server.close(resolve))
    }
  }

  it.each([
    ['smtp', {}],
    ['smtps', { secure: true }],
  ])('takes a mail over %s from one who signs in and trusts it', async (scheme, options) => {
    await withRelay(options, async (port, taken) => {
      const url = `${scheme}://me%40x:${password}@127.0.0.1:${port}`
      const message = mailTo('ada@elsewhere.example')
      const answer = await smtpMailer({ url, ca: certificate.cert }).send(message, contextOf())
      expect(answer).toEqual({ type: 'accepted', code: '250_2_0_0' })
      expect(taken).toMatchObject([{ secure: true, user: 'me@x' }])
      expect(taken[0]?.raw).toContain(`Message-ID: ${message.messageId}\r\n`)
    })
  })

  it.each([
    ['smtp', {}],
    ['smtps', { secure: true }],
  ])('that nobody vouches for is told nothing over %s', async (scheme, options) => {
    await withRelay(options, async (port, taken) => {
      const url = `${scheme}://me:${password}@127.0.0.1:${port}`
      const answer = await smtpMailer({ url, requireTls: false }).send(
        mailTo('ada@elsewhere.example'),
        contextOf(),
      )
      expect(answer).toEqual({ type: 'not_sent', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
      expect(taken).toEqual([])
    })
  })

  it('that refuses the sign-in has not been sent anything, and the password is nowhere', async () => {
    await withRelay({}, async (port, taken) => {
      const wrong = randomBytes(12).toString('hex')
      const context = contextOf()
      const mailer = smtpMailer({ url: `smtp://me:${wrong}@127.0.0.1:${port}`, ca: certificate.cert })
      const answer = await mailer.send(mailTo('ada@elsewhere.example'), context)
      expect(answer).toEqual({ type: 'not_sent', code: 'sign_in_535_5_7_8' })
      expect(JSON.stringify(context.calls)).not.toContain(wrong)
      expect(taken).toEqual([])
    })
  })

  it('that wants a sign-in we have not been given has not been sent anything', async () => {
    await withRelay({}, async (port) => {
      const mailer = smtpMailer({ url: `smtp://127.0.0.1:${port}`, ca: certificate.cert })
      const answer = await mailer.send(mailTo('ada@elsewhere.example'), contextOf())
      expect(answer).toEqual({ type: 'not_sent', code: '530' })
    })
  })

  it('keeps a long unsubscribe address on one line, and every other line short', async () => {
    await withRelay({}, async (port, taken) => {
      const url = `smtp://me:${password}@127.0.0.1:${port}`
      const unsubscribeUrl = `https://aftercommit.example/stop/${'x'.repeat(300)}`
      const message = mailTo('ada@elsewhere.example', { unsubscribeUrl, text: 'x'.repeat(5_000) })
      await smtpMailer({ url, ca: certificate.cert }).send(message, contextOf())
      const lines = taken[0]?.raw.split('\r\n') ?? []
      expect(lines).toContain(`List-Unsubscribe: <${unsubscribeUrl}>`)
      expect(lines.filter((line) => line.length > 998)).toEqual([])
      expect(taken[0]?.raw).toMatch(/^[\t\r\n\x20-\x7e]*$/)
    })
  })
})
