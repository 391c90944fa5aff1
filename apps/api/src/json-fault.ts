/** Where a text stops being JSON, which the engine's own parser tells in some cases only, and in its own words. */
export interface JsonFault {
  /** Of the first character that cannot be; the text's length when it ends too early. */
  readonly offset: number
  readonly line: number
  readonly column: number
  readonly expected: string
}

type Place = 'value' | 'first item' | 'first key' | 'key' | 'colon' | 'after'

const expectations: Readonly<Record<Place, string>> = {
  value: 'a value',
  'first item': 'a value or ]',
  'first key': 'a name in double quotes or }',
  key: 'a name in double quotes',
  colon: 'a colon',
  after: 'the end',
}

const SPACE = /[ \t\n\r]*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

/** Iterative, because the depth is the sender's choice. Undefined: the text is JSON. */
export const jsonFaultIn = (text: string): JsonFault | undefined => {
  const open: ('{' | '[')[] = []
  let place: Place = 'value'
  let at = 0
  const takes = (pattern: RegExp): boolean => {
    pattern.lastIndex = at
    if (!pattern.test(text)) return false
    at = pattern.lastIndex
    return true
  }
  for (;;) {
    takes(SPACE)
    const next = text[at]
    if (place === 'after' && open.length === 0) return next === undefined ? undefined : fault(text, at, place)
    const step = stepAt(place, next, open)
    if (step === 'token') {
      const isName: boolean = place === 'key' || place === 'first key'
      const isOther = place === 'colon' || place === 'after'
      if (isOther || (!takes(STRING) && (isName || !takes(SCALAR)))) {
        return fault(text, at, place, open.at(-1))
      }
      place = isName ? 'colon' : 'after'
    } else {
      place = step
      at += 1
    }
  }
}

/** What one of the characters {}[],: leads to; a token otherwise, or what should have been one. */
const stepAt = (place: Place, next: string | undefined, open: ('{' | '[')[]): Place | 'token' => {
  const isValue = place === 'value' || place === 'first item'
  if (isValue && (next === '{' || next === '[')) {
    open.push(next)
    return next === '{' ? 'first key' : 'first item'
  }
  if (place === 'colon' && next === ':') return 'value'
  const within = open.at(-1)
  if (place === 'after' && next === ',') return within === '{' ? 'key' : 'value'
  const closes =
    (next === '}' && within === '{' && (place === 'after' || place === 'first key')) ||
    (next === ']' && within === '[' && (place === 'after' || place === 'first item'))
  if (!closes) return 'token'
  open.pop()
  return 'after'
}

const fault = (text: string, offset: number, place: Place, within?: '{' | '['): JsonFault => {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  const closing = within === '{' ? '}' : ']'
  return {
    offset,
    line: before.split('\n').length,
    column: offset - lineStart + 1,
    expected: place === 'after' && within ? `a comma or ${closing}` : expectations[place],
  }
}
