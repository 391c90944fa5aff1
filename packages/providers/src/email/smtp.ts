/**
 * Mail over SMTP, by nodemailer's connection, which speaks the protocol and nothing more: no pool, no second attempt.
 *
 * What matters is whether a lost connection came before the message's end, the line with the single dot, or after it.
 * nodemailer's errors do not tell. So the message is handed over as a stream: nodemailer writes the dot when the stream
 * has ended, and until then no server can have taken the message.
 */
import { Readable } from 'node:stream'
import { rootCertificates } from 'node:tls'
import type { NodemailerError } from 'nodemailer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { openDeadline, safeCode } from '../http.ts'
import type { Deadline } from '../http.ts'
import { wireAddress } from './address.ts'
import { compose } from './compose.ts'
import type { Letter } from './compose.ts'
import type { Mailer, SendAnswer } from './email.ts'
import { refusalOf, replyOf } from './reply-codes.ts'
import type { Refusing } from './reply-codes.ts'

export interface SmtpOptions {
  /**
   * `smtp://user:password@host:port` or `smtps://…` for TLS from the first byte; ports default to 587 and 465. The
   * credentials are optional, percent-encoded, and never sent without TLS.
   */
  readonly url: string
  /** True, the default, sends nothing unless the connection is encrypted. False still encrypts where it is offered. */
  readonly requireTls?: boolean
  /** Where a server sends what cannot be delivered; default: the message's own `from`. */
  readonly returnPath?: string
  /** A certificate authority to trust besides the public ones, in PEM. */
  readonly ca?: string
}

/** Throws on options that can never work; what a server does is an answer. */
export const smtpMailer = (options: SmtpOptions): Mailer => {
  const server = serverOf(options)
  return {
    send: async (message, context) => {
      const composed = await compose(message)
      if (composed.type === 'refused') return composed
      const letter = { ...composed.letter, from: server.returnPath ?? composed.letter.from }
      const startedAt = new Date()
      const startedMs = performance.now()
      const deadline = openDeadline(context)
      try {
        if (deadline.cutBy() !== undefined) return { type: 'not_sent', code: 'aborted' }
        const answer = await converse(server, letter, context.timeoutMs, deadline)
        const durationMs = Math.round(performance.now() - startedMs)
        context.record({ ...SMTP_CALL, startedAt, durationMs, ...recordedAs(answer), requestId: undefined })
        return answer
      } finally {
        deadline.close()
      }
    },
  }
}

const SMTP_CALL = { provider: 'mail', operation: 'smtp.send' } as const

const recordedAs = ({ type, code }: SendAnswer) => ({
  status: /^\d{3}(_|$)/.test(code) ? Number(code.slice(0, 3)) : undefined,
  outcome: type === 'accepted' ? type : `${type}:${code}`,
})

interface Server {
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly requireTls: boolean
  readonly credentials: { readonly user: string; readonly pass: string } | undefined
  readonly returnPath: string | undefined
  readonly ca: string | undefined
}

const serverOf = ({ url: given, requireTls = true, returnPath, ca }: SmtpOptions): Server => {
  // The message does not quote the URL: it may hold a password.
  if (!URL.canParse(given)) throw new TypeError('the mail server must be given as an smtp: or smtps: URL')
  const url = new URL(given)
  if (!/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    throw new TypeError('the mail server must be given as an smtp: or smtps: URL with a host')
  }
  const sender = returnPath === undefined ? undefined : wireAddress(returnPath)
  if (returnPath !== undefined && (sender === undefined || /[^\x21-\x7e]/.test(sender))) {
    throw new TypeError('returnPath must be an address in ASCII')
  }
  const secure = url.protocol === 'smtps:'
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    requireTls: requireTls && !secure,
    credentials:
      url.username === ''
        ? undefined
        : { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    returnPath: sender,
    ca,
  }
}

/** How long the server is given to answer QUIT. The message has been answered by then: nothing depends on it. */
const QUIT_GRACE_MS = 1_000

/**
 * How far a conversation has come. `message`: its bytes are on their way, without the end. `ended`: the end may be on the
 * wire.
 */
type Phase = 'opening' | 'signing_in' | 'envelope' | 'message' | 'ended'

interface Progress {
  phase: Phase
}

/** How the conversation ended, as nodemailer tells it. */
type Ending =
  | { readonly type: 'taken'; readonly response: string }
  | { readonly type: 'failed'; readonly error: NodemailerError }
  | { readonly type: 'closed' }
  | { readonly type: 'cut' }
  /** We have seen what this server cannot do, and sent nothing. */
  | { readonly type: 'unable'; readonly answer: SendAnswer }

const converse = async (
  server: Server,
  letter: Letter,
  timeoutMs: number,
  deadline: Deadline,
): Promise<SendAnswer> => {
  const connection = connectionTo(server, timeoutMs)
  const progress: Progress = { phase: 'opening' }
  const ending = await endingOf(connection, server, letter, progress, deadline)
  // In the middle of a message QUIT would be one more line of it, and whatever is still to come must stay here.
  if (ending.type === 'cut' || progress.phase === 'message') {
    connection.close()
  } else {
    const grace = setTimeout(() => connection.close(), QUIT_GRACE_MS)
    grace.unref()
    connection.once('end', () => clearTimeout(grace))
    connection.quit()
  }
  return answerOf(ending, progress.phase, deadline)
}

const connectionTo = (server: Server, timeoutMs: number): SMTPConnection => {
  // Every wait of nodemailer's own is longer than the context's: only the deadline cuts, and it knows why.
  const longerMs = 2 * timeoutMs + 1_000
  return new SMTPConnection({
    host: server.host,
    port: server.port,
    secure: server.secure,
    requireTLS: server.requireTls,
    ...(server.ca !== undefined && { tls: { ca: [...rootCertificates, server.ca] } }),
    connectionTimeout: longerMs,
    greetingTimeout: longerMs,
    socketTimeout: longerMs,
    dnsTimeout: longerMs,
    socketCloseTimeout: 0,
    logger: false,
  })
}

const endingOf = (
  connection: SMTPConnection,
  server: Server,
  letter: Letter,
  progress: Progress,
  deadline: Deadline,
): Promise<Ending> =>
  new Promise((resolve) => {
    const fail = (error: NodemailerError) => resolve({ type: 'failed', error })
    const send = () => {
      progress.phase = 'envelope'
      const envelope = { from: letter.from, to: letter.to, size: letter.raw.length }
      // nodemailer goes on after any 2xx as well. A server that does not wait for a message would take its lines for
      // commands, and its answer to one of them would look like the message's.
      const mayBegin = () => {
        const asked = replyOf(connection.lastServerResponse)?.status === 354
        if (!asked) resolve({ type: 'unable', answer: { type: 'not_sent', code: 'malformed_reply' } })
        return asked
      }
      connection.send(envelope, messageStream(letter.raw, progress, mayBegin), (error, info) => {
        if (error) fail(error)
        else resolve({ type: 'taken', response: info.response })
      })
    }
    // Stays for the connection's life: an error after the answer (a reset at QUIT) must find a listener as well.
    connection.on('error', fail)
    // A 421 closes the connection first and gives the error to its caller after that; the error says more.
    connection.once('end', () => queueMicrotask(() => resolve({ type: 'closed' })))
    deadline.signal.addEventListener('abort', () => resolve({ type: 'cut' }))
    connection.connect((error) => {
      if (error) {
        fail(error)
        return
      }
      const answer = unableAnswer(connection, server, letter)
      if (answer) {
        resolve({ type: 'unable', answer })
      } else if (server.credentials) {
        progress.phase = 'signing_in'
        connection.login({ ...server.credentials }, (refused) => {
          if (refused) fail(refused)
          else send()
        })
      } else {
        send()
      }
    })
  })

/** What keeps us from sending anything, once the server has said what it can. */
const unableAnswer = (connection: SMTPConnection, server: Server, letter: Letter): SendAnswer | undefined => {
  if (server.credentials && !connection.secure) return { type: 'not_sent', code: 'credentials_need_tls' }
  // The last answer before the connection counts as open is the one to EHLO. nodemailer itself would send the address
  // all the same, and what a server makes of its bytes is anybody's guess (RFC 6531, 3.2).
  const capabilities = connection.lastServerResponse || ''
  return letter.needsUtf8 && !/^250[ -]SMTPUTF8\b/im.test(capabilities)
    ? { type: 'refused', reason: 'address', code: 'smtputf8_absent' }
    : undefined
}

const CHUNK_BYTES = 16 * 1024

/** The message as a stream that notes how much of it may be on the wire. */
const messageStream = (raw: Buffer, progress: Progress, mayBegin: () => boolean): Readable => {
  let sent = 0
  const stream = new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      if (progress.phase === 'envelope' && !mayBegin()) {
        this.destroy()
        return
      }
      progress.phase = 'message'
      const chunk = raw.subarray(sent, sent + CHUNK_BYTES)
      sent += chunk.length
      this.push(chunk.length === 0 ? null : chunk)
    },
  })
  // The first listener, so before nodemailer hears of the end and writes the dot.
  stream.once('end', () => (progress.phase = 'ended'))
  return stream
}

const answerOf = (ending: Ending, phase: Phase, deadline: Deadline): SendAnswer => {
  switch (ending.type) {
    case 'taken': {
      // nodemailer takes whatever begins with a 2 for a yes. Only a whole reply code is one.
      const reply = replyOf(ending.response)
      if (reply?.status === undefined || reply.status >= 300) return lost(phase, 'malformed_reply')
      // And a yes to a message that has not been sent answers something else.
      return phase === 'ended' ? { type: 'accepted', code: reply.code } : lost(phase, 'early_reply')
    }
    case 'unable':
      return ending.answer
    case 'closed':
      return lost(phase, 'connection_closed')
    case 'cut':
      return lost(phase, deadline.cutBy() ?? 'aborted')
    case 'failed':
      return failureAnswer(ending.error, phase)
  }
}

const lost = (phase: Phase, code: string): SendAnswer =>
  phase === 'ended' ? { type: 'uncertain', code } : { type: 'not_sent', code }

const failureAnswer = (error: NodemailerError, phase: Phase): SendAnswer => {
  // nodemailer has compared the size with the server's limit (RFC 1870) and sent nothing.
  if (error.code === 'EMESSAGE' && error.command === 'MAIL FROM' && error.response === undefined) {
    return { type: 'refused', reason: 'content', code: 'message_too_large' }
  }
  if (error.command === 'STARTTLS' && error.response !== undefined) {
    return { type: 'not_sent', code: 'starttls_refused' }
  }
  const reply = replyOf(error.response)
  if (phase === 'signing_in') return { type: 'not_sent', code: `sign_in_${reply?.code ?? codeOf(error)}` }
  const refusal = reply && refusalOf(reply, refusingOf(error, phase))
  // A server that turns us away at the door speaks of itself, and not of a message it has not seen.
  if (refusal && phase === 'opening') {
    return refusal.type === 'deferred'
      ? { ...refusal, restServer: true }
      : { type: 'not_sent', code: refusal.code }
  }
  return refusal ?? lost(phase, error.response === undefined ? codeOf(error) : 'malformed_reply')
}

const refusingOf = ({ command }: NodemailerError, phase: Phase): Refusing => {
  if (phase === 'message' || phase === 'ended') return 'message'
  return command === 'MAIL FROM' || command === 'RCPT TO' || command === 'DATA' ? command : 'unknown'
}

/** The socket's own code where there is one, for nodemailer's says only in which part of it the error came up. */
const codeOf = ({ originalCode, code }: NodemailerError): string => {
  if (originalCode !== undefined) return safeCode(originalCode, 'network_error')
  return code === 'ECONNECTION' ? 'connection_closed' : safeCode(code, 'network_error')
}
