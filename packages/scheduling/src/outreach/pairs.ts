/** Days that are named by two words, or from one to another. */
import type { DayName, Token } from './tokens.ts'

/** “Tuesday, 16 March” is one day, and “16 March to 18 March” one range of them. */
export const merged = (tokens: readonly Token[]): readonly Token[] => {
  const out: Token[] = []
  for (const token of tokens) {
    const pair = token.type === 'day' ? pairOf(out, token.day) : undefined
    if (pair) out.splice(out.length - pair.used, pair.used, pair.token)
    else out.push(token)
  }
  return out
}

const pairOf = (before: readonly Token[], day: DayName): { used: number; token: Token } | undefined => {
  const [between, first] = [before.at(-1), before.at(-2)]
  const adjacent = between?.type === 'day' ? between : undefined
  const beyondComma =
    first?.type === 'day' && ((between?.type === 'join' && between.comma) || between?.type === 'word')
      ? first
      : undefined
  const named = (adjacent ?? beyondComma)?.day
  if (named?.type === 'weekday' && !named.every && day.type === 'date' && day.weekday === undefined) {
    return { used: adjacent ? 1 : 2, token: { type: 'day', day: { ...day, weekday: named.day } } }
  }
  if (adjacent?.day.type === 'date' && adjacent.day.weekday === undefined && day.type === 'weekday') {
    return { used: 1, token: { type: 'day', day: { ...adjacent.day, weekday: day.day } } }
  }
  const isRange = between?.type === 'range' || between?.type === 'until'
  if (isRange && first?.type === 'day') {
    const token: Token =
      first.day.type === 'date' && day.type === 'date'
        ? { type: 'day', day: { type: 'date_range', first: first.day.date, last: day.date } }
        : { type: 'vague', about: 'date' }
    return { used: 2, token }
  }
  return undefined
}
