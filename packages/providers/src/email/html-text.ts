/** The words of an HTML mail, for those who send nothing else. Layout is of no interest; lines and paragraphs are. */
import { Parser } from 'htmlparser2'

/** A mail program's own style sheets fill some of it; what a person wrote comes before what they quote. */
const CHARS_MAX = 512 * 1024
const PIECE_CHARS = 16 * 1024
/** Deeper than any mail program nests; beyond it, closing a tag gets slow. */
const DEPTH_MAX = 400

const UNSHOWN_TAGS = new Set(['head', 'style', 'script', 'title', 'template', 'noscript'])
const LINE_TAGS = new Set(['br', 'div', 'tr', 'li', 'pre', 'table', 'ul', 'ol', 'hr', 'section', 'article'])
const PARAGRAPH_TAGS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote'])
/** As Gmail, Thunderbird, Yahoo and Proton mark what is quoted and what is signed with. */
const QUOTING_CLASSES =
  /(^|\s)(gmail_quote|gmail_attr|gmail_signature|moz-cite-prefix|moz-signature|yahoo_quoted|protonmail_quote|protonmail_signature_block)(\s|$)/
/** Outlook marks the place only: all that follows is quoted. */
const QUOTING_FROM_HERE = new Set(['appendonsend', 'divRplyFwdMsg'])

/** The text, without what is marked as quoted; if that is all there is, with it. */
export const textOfHtml = (html: string): string => {
  const own = textWith(html, false)
  return own === '' ? textWith(html, true) : own
}

const textWith = (html: string, quoted: boolean): string => {
  const parts: string[] = []
  // `leftOutFrom`: the depth of the outermost element that is left out; 0 while nothing is.
  const at = { depth: 0, leftOutFrom: 0, over: false }
  const show = (part: string) => {
    if (at.leftOutFrom === 0 && !at.over) parts.push(part)
  }
  const parser = new Parser({
    onopentag: (name, { class: classes = '', id = '' }) => {
      at.depth += 1
      at.over ||= !quoted && QUOTING_FROM_HERE.has(id)
      const isQuote = !quoted && (name === 'blockquote' || QUOTING_CLASSES.test(classes))
      if (at.leftOutFrom === 0 && (isQuote || UNSHOWN_TAGS.has(name))) at.leftOutFrom = at.depth
      show(breakOf(name))
    },
    ontext: (text) => show(text.replace(/[\t\r\n ]+/g, ' ')),
    onclosetag: (name) => {
      if (at.leftOutFrom === at.depth) at.leftOutFrom = 0
      else if (name !== 'br') show(breakOf(name))
      at.depth -= 1
    },
  })
  const bounded = html.slice(0, CHARS_MAX)
  for (let from = 0; from < bounded.length && !at.over && at.depth <= DEPTH_MAX; from += PIECE_CHARS) {
    parser.write(bounded.slice(from, from + PIECE_CHARS))
  }
  parser.end()
  return linesOf(parts.join(''))
}

const breakOf = (name: string): string =>
  PARAGRAPH_TAGS.has(name) ? '\n\n' : LINE_TAGS.has(name) ? '\n' : ''

const linesOf = (text: string): string => {
  const lines = text.split('\n').map((line) => line.trim())
  return lines
    .filter((line, at) => line !== '' || lines[at - 1] !== '')
    .join('\n')
    .trim()
}
