import type { Answer } from '../exchange.ts'

interface Where {
  readonly locationType: 'header' | 'parameter'
  readonly location: string
}

/** The envelope of every Google Calendar refusal (Google Calendar API guide, errors). */
const refusal = (
  status: number,
  reason: string,
  message: string,
  domain = 'global',
  where?: Where,
): Answer => ({
  status,
  body: { error: { errors: [{ domain, reason, message, ...where }], code: status, message } },
})

export const badCredentials = (): Answer =>
  refusal(401, 'authError', 'Invalid Credentials', 'global', {
    locationType: 'header',
    location: 'Authorization',
  })
export const notFound = (): Answer => refusal(404, 'notFound', 'Not Found')
export const deleted = (): Answer => refusal(410, 'deleted', 'Resource has been deleted')
export const duplicate = (): Answer => refusal(409, 'duplicate', 'The requested identifier already exists.')
export const forbidden = (): Answer => refusal(403, 'forbidden', 'Forbidden')
export const insufficientPermissions = (): Answer =>
  refusal(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.')
export const badRequest = (): Answer => refusal(400, 'badRequest', 'Bad Request')
export const parseError = (): Answer => refusal(400, 'parseError', 'Parse Error')
export const invalid = (message: string): Answer => refusal(400, 'invalid', message)
export const required = (message: string): Answer => refusal(400, 'required', message)
export const rangeEmpty = (): Answer =>
  refusal(400, 'timeRangeEmpty', 'The specified time range is empty.', 'calendar')
export const rangeTooLong = (): Answer =>
  refusal(400, 'timeRangeTooLong', 'The requested time range is too long.', 'calendar')
export const conditionNotMet = (): Answer =>
  refusal(412, 'conditionNotMet', 'Precondition Failed', 'global', {
    locationType: 'header',
    location: 'If-Match',
  })
