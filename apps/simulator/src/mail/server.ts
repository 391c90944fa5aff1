/** The simulated world's mail server: SMTP on the loopback interface, without TLS and sign-in. */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { RequestEntry } from '../contract.ts'
import { takeFault } from '../faults.ts'
import type { World } from '../state.ts'
import type { MailboxSettings } from './contract.ts'
import { deliver, mailboxOf, readMail } from './mailboxes.ts'

export interface MailServer {
  /** e.g. `smtp://127.0.0.1:2525` */
  readonly url: string
  /** Breaks off every conversation and resolves when the port is free. */
  readonly stop: () => Promise<void>
}

const messageBytesMax = 25 * 1024 * 1024

/** Starts it; 0 takes any free port. */
export const startMailServer = async (
  world: World,
  port: number,
  stopping: AbortSignal,
): Promise<MailServer> => {
  const sockets = new Map<number, Socket>()
  const socketOf = ({ remotePort }: SMTPServerSession) => sockets.get(remotePort)
  const server = new SMTPServer({
    name: 'mail.simulator.example',
    banner: 'simulated',
    logger: false,
    disabledCommands: ['AUTH', 'STARTTLS'],
    authOptional: true,
    disableReverseLookup: true,
    size: messageBytesMax,
    rejectOversized: true,
    onConnect: (session, done) => {
      const met = meet(world, stopping, { operation: 'smtp.connect', session, socketOf, to: [] }, () => ok)
      void met.then((reply) => tell(reply, done))
    },
    onRcptTo: ({ address }, session, done) => {
      const to = [mailboxOf(world, address).address]
      const answer = () => atRcpt[mailboxOf(world, address).accepts]
      void meet(world, stopping, { operation: 'smtp.rcpt', session, socketOf, to }, answer).then((reply) =>
        tell(reply, done),
      )
    },
    onData: (stream, session, done) => {
      void receive(world, stopping, { stream, session, socketOf }).then((reply) => tell(reply, done))
    },
  })
  // A client that goes away in the middle is part of the play.
  server.on('error', () => undefined)
  const listener = server.listen(port, '127.0.0.1')
  listener.on('connection', (socket) => {
    const { remotePort } = socket
    if (remotePort === undefined) return
    sockets.set(remotePort, socket)
    socket.once('close', () => sockets.delete(remotePort))
  })
  await new Promise<void>((resolve, reject) => {
    listener.once('listening', resolve)
    listener.once('error', reject)
  })
  const address = listener.address()
  if (address === null || typeof address === 'string') throw new Error('The mail server got no port.')
  return {
    url: `smtp://127.0.0.1:${address.port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets.values()) socket.destroy()
      }),
  }
}

interface Reply {
  readonly status: number
  readonly text: string
}

const ok: Reply = { status: 250, text: '2.0.0 OK' }

const atRcpt: Readonly<Record<MailboxSettings['accepts'], Reply>> = {
  yes: ok,
  rejects_content: ok,
  unknown_user: { status: 550, text: '5.1.1 The email account that you tried to reach does not exist' },
  mailbox_full: { status: 552, text: '5.2.2 The recipient is over quota' },
  defers: { status: 450, text: '4.2.0 The mailbox is busy, try again later' },
}

/** Undefined: the connection is gone, and there is nobody to tell. */
const tell = (reply: Reply | undefined, done: (error?: Error | null, message?: string) => void): void => {
  if (!reply) return
  if (reply.status < 400) done(null, reply.text)
  else done(Object.assign(new Error(reply.text), { responseCode: reply.status }))
}

interface Step {
  readonly operation: 'smtp.connect' | 'smtp.rcpt' | 'smtp.send'
  readonly session: SMTPServerSession
  readonly socketOf: (session: SMTPServerSession) => Socket | undefined
  readonly to: readonly string[]
}

/** One step of a conversation, with a scripted fault between its effect and its answer. */
const meet = async (
  world: World,
  stopping: AbortSignal,
  { operation, session, socketOf, to }: Step,
  effect: () => Reply,
): Promise<Reply | undefined> => {
  const requestId = randomUUID()
  const at = new Date()
  const provider = 'mail'
  const fault = takeFault(world, { provider, operation, requestId, addresses: to, at })
  const entry: RequestEntry = {
    at: at.toISOString(),
    requestId,
    provider,
    operation,
    address: to[0] ?? null,
    status: null,
    ...(fault ? { fault: fault.spec.id } : {}),
  }
  world.requests.push(entry)
  const answered = (reply: Reply): Reply | undefined => {
    // The client may have given up while a fault held the answer back; the log then shows no status.
    if (socketOf(session) === undefined) return undefined
    entry.status = reply.status
    return reply
  }
  if (!fault) return answered(effect())
  const { act } = fault.spec
  switch (act.type) {
    case 'delay':
    case 'hold': {
      const early = act.when === 'after_effect' ? effect() : undefined
      await (act.type === 'delay' ? pause(act.delayMs, stopping) : fault.gate.opened)
      return answered(early ?? effect())
    }
    case 'drop':
      if (act.when === 'after_effect') effect()
      socketOf(session)?.destroy()
      return undefined
    case 'answer':
      return answered({ status: act.status, text: typeof act.body === 'string' ? act.body : '' })
    case 'truncate':
    case 'html':
      throw new Error(`A fault of type ${act.type} cannot be scripted for mail.`)
  }
}

const pause = async (delayMs: number, signal: AbortSignal): Promise<void> => {
  try {
    await delay(delayMs, undefined, { signal })
  } catch {
    // The simulator stops: nobody waits for the answer any more.
  }
}

interface Incoming {
  readonly stream: SMTPServerDataStream
  readonly session: SMTPServerSession
  readonly socketOf: Step['socketOf']
}

const receive = async (
  world: World,
  stopping: AbortSignal,
  { stream, session, socketOf }: Incoming,
): Promise<Reply | undefined> => {
  // The envelope is cleared when the conversation goes on or breaks off.
  const { mailFrom, rcptTo } = session.envelope
  const to = rcptTo.map(({ address }) => mailboxOf(world, address).address)
  const chunks: Buffer[] = []
  try {
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    await finished(stream)
  } catch {
    // The client broke off before the final dot, so there is no mail.
    return undefined
  }
  const mail = await readMail(Buffer.concat(chunks), mailFrom ? mailFrom.address : '')
  return meet(world, stopping, { operation: 'smtp.send', session, socketOf, to }, () => {
    if (!mail || to.some((address) => mailboxOf(world, address).accepts === 'rejects_content')) {
      return { status: 554, text: '5.6.0 The message content is not accepted' }
    }
    for (const address of to) deliver(world, address, mail)
    return { status: 250, text: `2.0.0 Queued as ${randomUUID()}` }
  })
}
