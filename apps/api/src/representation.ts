/** In which of its forms an answer is sent: JSON is every answer's first, and some read as text as well. */
import type { Request, Response } from 'express'
import { ProblemError } from './problem.ts'
import type { Route } from './route.ts'

export const TEXT_MEDIA_TYPE = 'text/plain'
const JSON_MEDIA_TYPE = 'application/json'

export type Form = 'json' | 'text'

/**
 * Chooses by `Accept` (RFC 9110, 12.5.1), before any work is done. Whoever does not say gets JSON. A route that has no
 * second form has nothing to choose, and sends what it has.
 */
export const chooseForm = ({ answer }: Pick<Route, 'answer'>, request: Request, response: Response): Form => {
  if (!answer.text) return 'json'
  response.vary('accept')
  const chosen = request.accepts([JSON_MEDIA_TYPE, TEXT_MEDIA_TYPE])
  if (chosen === false) throw new ProblemError('not-acceptable')
  return chosen === TEXT_MEDIA_TYPE ? 'text' : 'json'
}
