/**
 * Every message to a person, rendered from what was disclosed to them and nothing else.
 *
 * A template gives blocks of plain text. The text part and the HTML part are both made from them, here: they cannot say
 * different things, and no template writes markup that a name could break out of. Templates are modules, not files to
 * be read: the same import works from source, in tests and in a bundle, and a core that renders reaches no file system.
 */
import type { Interval, TimeZone } from '@aftercommit/time'
import type { Disclosed } from './disclosure.ts'
import { html, htmlText, type Html } from './html.ts'
import type { LocalWindow } from './reply.ts'
import { en } from './templates/en/index.ts'
import type { Unclear } from './understand.ts'

interface Reader {
  /** In which times are given, with its name beside them. */
  readonly zone: TimeZone
  /** False: it is the meeting's, because the reader's own is not known, and the message says so. */
  readonly zoneIsOwn: boolean
  /** Stops all messages. Absent for those who are written to because of their part, like an approver. */
  readonly optOutLink?: string
}

interface Asked extends Reader {
  readonly link: string
  readonly answerBy: Date
}

/** What each kind of message needs beside what was disclosed. */
export interface MessageViews {
  invitation: Asked
  reminder: Asked & { readonly isLast: boolean }
  confirm_reading: Asked & { readonly understood: readonly LocalWindow[] }
  /** What was understood so far is shown, so that nobody has to say it twice. */
  clarification: Asked & {
    readonly understood: readonly LocalWindow[]
    readonly unclear: readonly [Unclear, ...Unclear[]]
  }
  /** Without a link the approver decides where they use the product that asks. */
  approval_request: Reader & { readonly link?: string; readonly slot: Interval; readonly answerBy: Date }
  withdrawn: Reader & { readonly reason: WithdrawnReason }
}
export type WithdrawnReason = 'cancelled' | 'not_needed'
export type MessageKind = keyof MessageViews

export interface RenderedMessage {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** A piece of a message, in plain text. */
export type Block =
  | { readonly type: 'paragraph'; readonly text: string }
  | { readonly type: 'facts'; readonly facts: readonly (readonly [label: string, value: string])[] }
  | { readonly type: 'list'; readonly items: readonly string[] }
  | { readonly type: 'action'; readonly label: string; readonly link: string }
  /** Less important, at the end. */
  | { readonly type: 'note'; readonly text: string; readonly link?: string }

export type Template<Kind extends MessageKind> = (
  disclosed: Disclosed,
  view: MessageViews[Kind],
) => { readonly subject: string; readonly blocks: readonly Block[] }

export type Templates = { readonly [Kind in MessageKind]: Template<Kind> }

const templatesByLocale = { en } as const satisfies Record<string, Templates>
export type Locale = keyof typeof templatesByLocale

/** The same input gives the same message, byte for byte. */
export const renderMessage = <Kind extends MessageKind>(
  kind: Kind,
  disclosed: Disclosed,
  view: MessageViews[Kind],
  locale: Locale = 'en',
): RenderedMessage => {
  const templates: Templates = templatesByLocale[locale]
  const { subject, blocks } = templates[kind](disclosed, view)
  return {
    subject,
    text: `${blocks.map(textOf).join('\n\n')}\n`,
    html: htmlText(pageOf(locale, subject, blocks.map(htmlOf))),
  }
}

const textOf = (block: Block): string => {
  switch (block.type) {
    case 'paragraph':
      return block.text
    case 'facts':
      return block.facts.map(([label, value]) => `${label}: ${value}`).join('\n')
    case 'list':
      return block.items.map((item) => `- ${item}`).join('\n')
    case 'action':
      return `${block.label}:\n${block.link}`
    case 'note':
      return block.link === undefined ? block.text : `${block.text}\n${block.link}`
  }
}

const htmlOf = (block: Block): Html => {
  switch (block.type) {
    case 'paragraph':
      return html`<p>${block.text}</p>`
    case 'facts':
      return html`<ul>
        ${block.facts.map(([label, value]) => html`<li><strong>${label}:</strong> ${value}</li>`)}
      </ul>`
    case 'list':
      return html`<ul>
        ${block.items.map((item) => html`<li>${item}</li>`)}
      </ul>`
    case 'action':
      return html`<p><a href="${block.link}" style="font-weight:bold">${block.label}</a></p>`
    case 'note':
      return block.link === undefined
        ? html`<p style="font-size:small">${block.text}</p>`
        : html`<p style="font-size:small"><a href="${block.link}">${block.text}</a></p>`
  }
}

// Nothing is loaded from anywhere: no picture, no font, no style sheet, nothing that tells that a mail was opened.
const pageOf = (locale: Locale, title: string, content: readonly Html[]): Html =>
  html`<!doctype html>
    <html lang="${locale}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>${title}</title>
      </head>
      <body style="font-family:sans-serif;line-height:1.5;max-width:40em">
        ${content}
      </body>
    </html>`
