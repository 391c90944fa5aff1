/** Writes what comes back for a mail, as the mail programs and servers of this world write it, and hands it over. */
import { randomUUID } from 'node:crypto'
import MimeNode from 'nodemailer/lib/mime-node'
import type { Mailbox, MailReply, MailReplyAnswer, ReceivedMail } from './contract.ts'

interface Written {
  readonly messageId: string
  readonly raw: string
}

/** Answers a mail of this mailbox by POSTing the answer; undefined when the URL cannot be reached. */
export const sendReply = async (
  mailbox: Mailbox,
  original: ReceivedMail,
  reply: MailReply,
): Promise<MailReplyAnswer | undefined> => {
  const written = await writeReply(mailbox, original, reply)
  try {
    const response = await fetch(reply.to, {
      method: 'POST',
      headers: { ...reply.headers, 'content-type': 'message/rfc822' },
      body: written.raw,
      redirect: 'manual',
    })
    return { status: response.status, body: await response.text(), ...written }
  } catch {
    return undefined
  }
}

const writeReply = (mailbox: Mailbox, original: ReceivedMail, reply: MailReply): Promise<Written> => {
  switch (reply.kind) {
    case 'reply':
      return write(mailbox, original, reply, { 'In-Reply-To': reply.inReplyTo }, `Re: ${original.subject}`)
    case 'out_of_office':
      return write(
        mailbox,
        original,
        reply,
        {
          'In-Reply-To': reply.inReplyTo,
          'Auto-Submitted': 'auto-replied',
          'X-Auto-Response-Suppress': 'All',
          Precedence: 'bulk',
        },
        `Automatic reply: ${original.subject}`,
      )
    case 'bounce':
      return writeBounce(mailbox, original, reply)
  }
}

const write = async (
  mailbox: Mailbox,
  original: ReceivedMail,
  reply: MailReply,
  headers: Readonly<Record<string, string>>,
  subject: string,
): Promise<Written> => {
  const from = reply.from ?? mailbox.address
  const messageId = `<${randomUUID()}@${domainOf(from)}>`
  const root = new MimeNode('multipart/alternative', { newline: 'win' })
  root.setHeader({
    'Return-Path': `<${from}>`,
    From: { name: from.slice(0, from.lastIndexOf('@')), address: from },
    To: original.from,
    Subject: subject,
    'Message-ID': messageId,
    References: [original.headers.references, reply.inReplyTo].filter(Boolean).join(' '),
    ...headers,
  })
  const quoted = reply.kind === 'reply' ? quotedBy[reply.client](mailbox, original) : { text: '', html: '' }
  root.createChild('text/plain; charset=utf-8').setContent(`${reply.text}\n${quoted.text}`)
  const html = reply.html ?? `<div dir="ltr">${escaped(reply.text).replaceAll('\n', '<br>')}</div>`
  root.createChild('text/html; charset=utf-8').setContent(`${html}${quoted.html}`)
  return { messageId, raw: (await root.build()).toString() }
}

type Quoted = Readonly<Record<'text' | 'html', string>>

/** The original below the answer, as each program writes it in English. */
const quotedBy: Readonly<Record<MailReply['client'], (mailbox: Mailbox, original: ReceivedMail) => Quoted>> =
  {
    gmail: (_mailbox, original) => {
      const { name, address } = original.from
      const day = inUtc(original.at, { weekday: 'short', month: 'short', day: 'numeric', year: 'numeric' })
      const time = inUtc(original.at, { hour: 'numeric', minute: '2-digit' })
      const line = (mail: string) => `On ${day} at ${time} ${name} ${mail} wrote:`
      return {
        text: `\n${line(`<${address}>`)}\n\n${original.text.replace(/^/gm, '> ').trimEnd()}\n`,
        html:
          '<br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">' +
          `${line(`&lt;<a href="mailto:${address}">${address}</a>&gt;`)}<br></div>` +
          '<blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;padding-left:1ex">' +
          `${shownHtml(original)}</blockquote></div>`,
      }
    },
    outlook: (mailbox, original) => {
      const sent = inUtc(original.at, { dateStyle: 'full', timeStyle: 'short' }).replace(' at ', ' ')
      const lines = [
        ['From', `${original.from.name} <${original.from.address}>`],
        ['Sent', sent],
        ['To', mailbox.address],
        ['Subject', original.subject],
      ] as const
      const text = lines.map(([name, value]) => `${name}: ${value}`).join('\n')
      const html = lines.map(([name, value]) => `<b>${name}:</b> ${escaped(value)}`).join('<br>')
      return {
        text: `\n________________________________\n${text}\n\n${original.text}`,
        html:
          '<div id="appendonsend"></div><hr style="display:inline-block;width:98%" tabindex="-1">' +
          `<div id="divRplyFwdMsg" dir="ltr">${html}</div><div>${shownHtml(original)}</div>`,
      }
    },
  }

const shownHtml = ({ html, text }: ReceivedMail): string => html ?? escaped(text).replaceAll('\n', '<br>')

const inUtc = (at: string, format: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat('en-US', { ...format, timeZone: 'UTC' }).format(new Date(at))

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** A delivery status notification (RFC 3464) under the null return path, with the headers of what it is about. */
const writeBounce = async (
  mailbox: Mailbox,
  original: ReceivedMail,
  { status, text }: MailReply,
): Promise<Written> => {
  const host = domainOf(mailbox.address)
  const messageId = `<${randomUUID()}@${host}>`
  const permanent = status.startsWith('5')
  const root = new MimeNode('multipart/report; report-type=delivery-status', { newline: 'win' })
  root.setHeader({
    'Return-Path': '<>',
    From: { name: 'Mail Delivery Subsystem', address: `mailer-daemon@${host}` },
    To: original.from.address,
    Subject: `Delivery Status Notification (${permanent ? 'Failure' : 'Delay'})`,
    'Message-ID': messageId,
    'Auto-Submitted': 'auto-replied',
  })
  const words = permanent ? 'could not be delivered' : 'has not been delivered yet'
  root
    .createChild('text/plain; charset=utf-8')
    .setContent(`Your message to ${mailbox.address} ${words}.\n${text}\n`)
  root
    .createChild('message/delivery-status')
    .setContent(
      [
        `Reporting-MTA: dns; ${host}`,
        '',
        `Final-Recipient: rfc822; ${mailbox.address}`,
        `Action: ${permanent ? 'failed' : 'delayed'}`,
        `Status: ${status}`,
        `Diagnostic-Code: smtp; ${permanent ? 550 : 451} ${status} ${words}`,
        '',
      ].join('\n'),
    )
  const { from, to } = original.headers
  const returned = { From: from, To: to, Subject: original.subject, 'Message-ID': original.messageId }
  const lines = Object.entries(returned).map(([name, value]) => `${name}: ${value ?? ''}`)
  root.createChild('text/rfc822-headers; charset=utf-8').setContent(`${lines.join('\n')}\n`)
  return { messageId, raw: (await root.build()).toString() }
}
