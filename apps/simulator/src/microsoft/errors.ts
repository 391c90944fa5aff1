import type { Answer, Call } from '../exchange.ts'

/** Graph's request ids: the server's own, and the caller's if it sent one. */
export const requestIds = (call: Call): { 'request-id': string; 'client-request-id': string } => ({
  'request-id': call.requestId,
  'client-request-id': call.header('client-request-id') ?? call.requestId,
})

/**
 * The envelope of every Graph refusal (Microsoft Graph docs, errors). `more` are members beside code and
 * message.
 */
export const refusal = (
  call: Call,
  status: number,
  code: string,
  message: string,
  more: Readonly<Record<string, string>> = {},
): Answer => ({
  status,
  body: {
    error: {
      code,
      message,
      ...more,
      innerError: { date: call.at.toISOString().slice(0, 19), ...requestIds(call) },
    },
  },
})

export const badToken = (call: Call): Answer =>
  refusal(call, 401, 'InvalidAuthenticationToken', 'Access token has expired or is not yet valid.')
export const accessDenied = (call: Call): Answer =>
  refusal(call, 403, 'ErrorAccessDenied', 'Access is denied. Check credentials and try again.')
export const mailboxNotEnabled = (call: Call): Answer =>
  refusal(call, 404, 'MailboxNotEnabledForRESTAPI', 'REST API is not yet supported for this mailbox.')
export const invalidUser = (call: Call, user: string): Answer =>
  refusal(call, 404, 'ErrorInvalidUser', `The requested user '${user}' is invalid.`)
export const itemNotFound = (call: Call): Answer =>
  refusal(call, 404, 'ErrorItemNotFound', 'The specified object was not found in the store.')
export const unreadableBody = (call: Call): Answer =>
  refusal(
    call,
    400,
    'BadRequest',
    'Unable to read JSON request payload. Please ensure Content-Type header is set and payload is of valid JSON format.',
  )
export const invalidProperty = (call: Call): Answer =>
  refusal(call, 400, 'ErrorPropertyValidationFailure', 'At least one property failed validation.')
export const unknownZone = (call: Call): Answer =>
  refusal(call, 400, 'TimeZoneNotSupportedException', 'A valid TimeZone value must be specified.')
export const changeKeyMismatch = (call: Call): Answer =>
  refusal(
    call,
    412,
    'ErrorIrresolvableConflict',
    'The send or update operation could not be performed because the change key passed in the request does not match the current change key for the item.',
  )
