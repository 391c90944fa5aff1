/** A mail server for one test, which does at each step what it is told; and what every mail test begins with. */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { z } from 'zod'
import type { ProviderCall } from '../call.ts'
import type { CallContext, OutgoingMail } from './email.ts'

export type Step = 'greeting' | 'EHLO' | 'STARTTLS' | 'MAIL' | 'RCPT' | 'DATA' | 'half' | 'dot' | 'QUIT'

/**
 * `drop` closes the connection, `reset` does so without a farewell, `silence` never answers. `taken` notes at the dot
 * that the server kept the mail before it went on.
 */
export type Act =
  | { readonly type: 'drop' | 'reset' | 'silence'; readonly taken?: boolean }
  | { readonly type: 'say'; readonly text: string; readonly taken?: boolean; readonly thenDrop?: boolean }

export const say = (text: string): Act => ({ type: 'say', text })

export type SmtpScript = Partial<Record<Step, Act>>

export interface Heard {
  /** Commands, in order. */
  readonly commands: string[]
  /** What came after DATA, with the dots still doubled. */
  data: string
  /**
   * Mails that the server kept. An empty one is none of ours: nodemailer sends it to end a transaction that a server opened
   * although it had refused every recipient.
   */
  taken: number
  readonly reached: Step[]
}

const POLITE: Readonly<Record<Exclude<Step, 'half' | 'STARTTLS'>, Act>> = {
  greeting: say('220 script ESMTP'),
  EHLO: say('250-script\r\n250-SMTPUTF8\r\n250 8BITMIME'),
  MAIL: say('250 2.1.0 OK'),
  RCPT: say('250 2.1.5 OK'),
  DATA: say('354 Go on'),
  dot: { type: 'say', text: '250 2.0.0 Queued', taken: true },
  QUIT: say('221 2.0.0 Bye'),
}

const Port = z.object({ port: z.int() })

export const withSmtpScript = async <T>(
  script: SmtpScript,
  act: (url: string, heard: Heard) => Promise<T>,
): Promise<T> => {
  const heard: Heard = { commands: [], data: '', taken: 0, reached: [] }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    // A client that resets the connection is part of many a script.
    socket.on('error', () => undefined)
    converse(socket, { ...POLITE, ...script }, heard)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return await act(`smtp://127.0.0.1:${Port.parse(server.address()).port}`, heard)
  } finally {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
}

const converse = (socket: Socket, script: SmtpScript, heard: Heard): void => {
  const perform = (step: Step): void => {
    heard.reached.push(step)
    const act = script[step] ?? say('502 5.5.1 Not implemented')
    if (act.taken && heard.data !== '') heard.taken += 1
    if (act.type === 'say') {
      socket.write(`${act.text}\r\n`)
      if (act.thenDrop) socket.end()
    } else if (act.type === 'drop') {
      socket.destroy()
    } else if (act.type === 'reset') {
      socket.resetAndDestroy()
    }
  }
  let inData = false
  let unread = ''
  socket.on('data', (chunk) => {
    unread += chunk.toString('latin1')
    for (;;) {
      if (inData) {
        if (script.half && !heard.reached.includes('half')) perform('half')
        const end = unread.startsWith('.\r\n') ? 0 : unread.indexOf('\r\n.\r\n')
        if (end < 0) return
        heard.data = unread.slice(0, end)
        unread = unread.slice(end + (end === 0 ? 3 : 5))
        inData = false
        perform('dot')
      }
      const end = unread.indexOf('\r\n')
      if (end < 0) return
      const line = unread.slice(0, end)
      unread = unread.slice(end + 2)
      heard.commands.push(line)
      const step = stepOf(line)
      inData = step === 'DATA' && script.DATA?.type === 'say' && script.DATA.text.startsWith('354')
      perform(step)
    }
  })
  perform('greeting')
}

const stepOf = (line: string): Step => {
  const verb = line.split(' ')[0]?.toUpperCase()
  const known = (['EHLO', 'STARTTLS', 'MAIL', 'RCPT', 'DATA', 'QUIT'] as const).find((each) => each === verb)
  return known ?? 'EHLO'
}

export const mailTo = (address: string, changes: Partial<OutgoingMail> = {}): OutgoingMail => ({
  messageId: `<${randomUUID()}@aftercommit.example>`,
  from: { address: 'meetings@aftercommit.example', displayName: 'Meetings' },
  to: { address, displayName: 'Ada Lovelace' },
  subject: 'When can you meet?',
  text: 'When can you meet?\nhttps://aftercommit.example/reply/1\n',
  html: '<p>When can you meet?</p>',
  ...changes,
})

export const contextOf = (overrides: Partial<CallContext> = {}) => {
  const calls: ProviderCall[] = []
  const record = (call: ProviderCall) => calls.push(call)
  return { signal: new AbortController().signal, timeoutMs: 2_000, record, calls, ...overrides }
}
