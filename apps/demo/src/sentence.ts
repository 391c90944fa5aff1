/** What an error says to a person: its own words and those of what caused it, without a stack. */
export const sentenceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  // A socket that tried several addresses says nothing itself.
  if (error instanceof AggregateError && error.message === '') return error.errors.map(sentenceOf).join('; ')
  const cause = error.cause === undefined ? '' : sentenceOf(error.cause)
  return cause === '' || error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
}
