/**
 * What a person wrote themselves: a mail's text without what they quoted, forwarded or signed with, in the shapes of
 * English, German and French mail programs.
 *
 * Line by line, each line looked at a bounded number of times: the text is a stranger's. (email-reply-parser needs over
 * a minute for sixty thousand empty lines, for its expressions run over the text as a whole.)
 */

/** Nobody writes more in answer to a question; what follows is quoted or hostile. */
const CHARS_MAX = 64 * 1024
/** A longer line is no line that a mail program puts above a quotation. */
const LINE_CHARS_MAX = 600

export const ownWords = (text: string): string => {
  const lines = text
    .slice(0, CHARS_MAX)
    .replace(/[\u200b-\u200f\u2060\ufeff\u00ad]/g, '')
    .replace(/[\u00a0\u202f]/g, ' ')
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
  const kept: string[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (isSignatureMark(line) || isDivider(line) || isHeaderBlock(lines, at)) break
    const attribution = attributionLines(lines, at)
    // Above quoted lines it goes alone, for an answer may stand between them. Otherwise all below it is the quotation.
    if (attribution > 0 && !isQuotedAt(lines, at + attribution)) break
    if (attribution > 0) at += attribution - 1
    else if (!line.startsWith('>') && !isFooter(line)) kept.push(line)
  }
  return tidied(withoutClosing(kept))
}

/** RFC 3676, 4.3; the space is often lost. */
const isSignatureMark = (line: string): boolean => line === '--'

const isDivider = (line: string): boolean =>
  line.length <= LINE_CHARS_MAX && (DASHED.test(line) || ANNOUNCED.test(line))
const DASHED =
  /^-{2,} ?(original message|original appointment|forwarded message|ursprüngliche nachricht|originalnachricht|ursprünglicher termin|weitergeleitete nachricht|message d[’']origine|message original|message transféré) ?-{2,}$/i
const ANNOUNCED =
  /^(begin forwarded message|anfang der weitergeleiteten (nachricht|e-mail)|début du message (réexpédié|transféré)) ?:$/i

/** Outlook and others repeat the head of the quoted mail: who, and at least two of when, to whom and about what. */
const isHeaderBlock = (lines: readonly string[], at: number): boolean =>
  HEADER_FROM.test(lines[at] ?? '') &&
  lines.slice(at + 1, at + 7).filter((line) => HEADER_OTHER.test(line)).length >= 2
const HEADER_FROM = /^[*_> ]{0,4}(from|von|de) ?:[*_]? ?\S/i
const HEADER_OTHER = /^[*_> ]{0,4}(sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|à|objet) ?:/i

const ATTRIBUTION_LINES_MAX = 4

/** How many lines from here are one "On … wrote:", which programs break where a line gets long; 0 for none. */
const attributionLines = (lines: readonly string[], at: number): number => {
  const first = lines[at] ?? ''
  if (first === '' || first.startsWith('>')) return 0
  let joined = ''
  for (let count = 1; count <= ATTRIBUTION_LINES_MAX; count += 1) {
    const line = lines[at + count - 1]
    if (line === undefined || line === '' || joined.length + line.length > LINE_CHARS_MAX) return 0
    joined = joined === '' ? line : `${joined} ${line}`
    if (line.endsWith(':')) return isAttribution(joined) ? count : 0
    if (!ATTRIBUTION_START.test(first)) return 0
  }
  return 0
}

const ATTRIBUTION_START = /^(on|am|le) /i
const ATTRIBUTIONS = [
  /^on .*\bwrote ?:$/i,
  /^am .*\bschrieb\b.*:$/i,
  /^le .*\ba écrit ?:$/i,
  /\S schrieb am .*:$/i,
  /<\S+@\S+>.* (wrote|schrieb|a écrit) ?:$/i,
  /^\d{4}-\d\d-\d\d .*<\S+@\S+> ?:$/,
]

/** It names a time or an address. One who writes "On Monday I wrote:" quotes nobody else. */
const isAttribution = (joined: string): boolean =>
  /[\d@]/.test(joined) &&
  !/\b(I|we) wrote ?:$|\bschrieb (ich|wir)\b|\bj[’']ai écrit ?:$/i.test(joined) &&
  ATTRIBUTIONS.some((shape) => shape.test(joined))

const isQuotedAt = (lines: readonly string[], at: number): boolean =>
  lines
    .slice(at, at + 3)
    .find((line) => line !== '')
    ?.startsWith('>') ?? false

const isFooter = (line: string): boolean => line.length <= 120 && FOOTER.test(line)
const FOOTER =
  /^(sent from my (iphone|ipad|android|galaxy|samsung|mobile|phone)|sent from (outlook|mail for|yahoo|proton)|get outlook for|von meinem .{1,40} gesendet|gesendet (mit der .{1,30} app|von (mail|outlook)|von meinem)|holen sie sich outlook|envoyé (de|depuis) mon|télécharger outlook)/i

const SIGNATURE_LINES_MAX = 8

/** Without a closing and the name and address lines below it, if that is all that is below it. */
const withoutClosing = (lines: readonly string[]): readonly string[] => {
  const closing = lines.findIndex((line, at) => {
    if (line.length > 60 || !CLOSINGS.some((shape) => shape.test(line))) return false
    const below = lines.slice(at + 1).filter((each) => each !== '')
    return below.length <= SIGNATURE_LINES_MAX && !below.some((each) => /^p\. ?s\b/i.test(each))
  })
  return closing < 0 ? lines : lines.slice(0, closing)
}

const CLOSINGS = [
  /^((best|kind|kindest|warm|warmest|many) )?regards[,.!]*$/i,
  /^(all the best|best wishes|sincerely|yours sincerely|yours truly)[,.!]*$/i,
  /^(best|cheers),$/i,
  /^(mit )?(\p{L}+ )?gr(ü|ue)(ß|ss)e?n?[,.!]*$/iu,
  /^(vg|lg|mfg)[,.!]*$/i,
  /^((bien|très) )?cordialement[,.!]*$/i,
  /^(bien à (vous|toi)|(meilleures|sincères) salutations)[,.!]*$/i,
]

/** Without the rule that a program drew above the quotation, and with one empty line where there were several. */
const tidied = (lines: readonly string[]): string => {
  const rows = lines.filter((line, at) => line !== '' || lines[at - 1] !== '')
  while (/^[-_*=\s]*$/.test(rows.at(-1) ?? 'x')) rows.pop()
  return rows.join('\n').trim()
}
