/**
 * HTML in which a text cannot become markup. The only way to an `Html` is the tag below, and whatever it is given that
 * is not an `Html` itself is escaped.
 */
const made: unique symbol = Symbol('html')

export interface Html {
  readonly [made]: string
}

type Part = string | number | Html | undefined | false | readonly Part[]

/** Texts and numbers are escaped, lists joined, `undefined` and `false` left out. Attribute values are to be quoted. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  [made]: strings.reduce((before, string, index) => `${before}${markupOf(parts[index - 1])}${string}`),
})

export const htmlText = (markup: Html): string => markup[made]

const markupOf = (part: Part): string => {
  if (part === undefined || part === false) return ''
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return isHtml(part) ? part[made] : part.map(markupOf).join('')
}

const isHtml = (part: Html | readonly Part[]): part is Html => made in part

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
