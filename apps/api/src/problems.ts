/** Every problem this server answers with: its status, its title, and what whoever gets it can do. */
export interface ProblemKind {
  readonly status: number
  readonly title: string
  readonly advice: string
  /** What is told of it where nothing more exact is known. */
  readonly detail?: string
  /** Headers that come with it, by their names in `headerNames`. */
  readonly headers?: readonly ProblemHeader[]
}

export type ProblemHeader = 'www-authenticate' | 'retry-after' | 'allow' | 'accept' | 'accept-encoding'

export const problems = {
  'malformed-input': {
    status: 400,
    title: 'The input is malformed; nothing was written.',
    advice:
      'Each entry of `errors` names a part of the request (`body`, `query`, `header`), a JSON pointer into it, and the rule that it broke. Unknown fields and unknown query parameters are refused, not ignored.',
  },
  'malformed-json': {
    status: 400,
    title: 'The body is not JSON.',
    advice:
      '`detail` names the line and the column from which on it is not, and what was expected there. Send one JSON object, in UTF-8.',
  },
  'unreadable-request': {
    status: 400,
    title: 'The request could not be read.',
    advice: 'It ended early, or its address or its encoding is broken. Send it again, whole.',
  },
  unauthenticated: {
    status: 401,
    title: 'A valid API key is required.',
    headers: ['www-authenticate'],
    advice: 'Send `Authorization: Bearer <key>`. A revoked key is answered like an unknown one.',
  },
  'insufficient-scope': {
    status: 403,
    title: 'This API key may not do that.',
    headers: ['www-authenticate'],
    advice: 'Reading needs the scope `read`, writing needs `write`; neither implies the other.',
  },
  'not-authorised': {
    status: 403,
    title: 'This person may not do that to this meeting.',
    detail: 'The organizer of the meeting, or an approver whom it names, may do that.',
    advice:
      '`detail` says who may. It is approved by whom its `approval` names; its organizer, and an approver it names, may change it, cancel it and choose repairs.',
  },
  'not-found': {
    status: 404,
    title: 'There is nothing here that this tenant may see.',
    advice: 'What the address names belongs to nobody, or to somebody else.',
  },
  'no-such-address': {
    status: 404,
    title: 'This server has no such address.',
    advice: 'It was mistyped: `/docs` lists every address that there is. Upper and lower case differ.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'This address does not know this method.',
    headers: ['allow'],
    advice: 'The header `Allow` names the methods that it knows.',
  },
  'not-acceptable': {
    status: 406,
    title: 'There is no answer in a form that you accept.',
    advice: 'Name `application/json` or `text/plain` in the header `Accept`, or leave it out.',
  },
  'not-awaiting-approval': {
    status: 409,
    title: 'The meeting does not wait for an approval.',
    advice: 'Read the meeting: its state says what it waits for. An approval is given once.',
  },
  'meeting-incomplete': {
    status: 409,
    title: 'This meeting still waits to be told something.',
    advice: 'Resolve its exceptions first: until then it has no search to explain.',
  },
  'time-approved': {
    status: 409,
    title: 'This meeting does not look for a time now.',
    advice: 'A time was approved, or the meeting has ended. Read it to see where it stands.',
  },
  'meeting-ended': {
    status: 409,
    title: 'This meeting has ended.',
    advice: 'It was cancelled, is being cancelled, or lapsed. Read it to see where it stands.',
  },
  'not-booked': {
    status: 409,
    title: 'No event of this meeting stands, so there is nothing to move.',
    advice:
      '`detail` names its state. A meeting is rescheduled once it was confirmed, also while a change of it is sought already. Before that, cancel it and ask for another one.',
  },
  'being-written': {
    status: 409,
    title: 'The event of this meeting is being written.',
    advice:
      'Wait until the meeting is confirmed, or in repair: your webhook is told of both. It may be cancelled at any time.',
  },
  'needs-repair': {
    status: 409,
    title: 'Something about the event of this meeting must be put right first.',
    advice: '`detail` names the repair. Choose what is done about it, or cancel the meeting.',
  },
  'no-change': {
    status: 409,
    title: 'No change of this meeting is sought.',
    advice: 'It is confirmed as it stands: a change was never asked for, was made, lapsed or was withdrawn.',
  },
  'repair-ended': {
    status: 409,
    title: 'This repair is not open any more.',
    advice:
      'Somebody chose already, or the meeting went on or ended. Read the meeting to see where it stands.',
  },
  'exception-ended': {
    status: 409,
    title: 'This exception is not open any more.',
    advice: 'It was answered already, or lapsed with its meeting. Read the meeting to see where it stands.',
  },
  'proposal-outdated': {
    status: 409,
    title: 'Another proposal stands now.',
    advice: 'Read the meeting, look at the proposal that stands, and approve that one.',
  },
  'unknown-proposal': {
    status: 422,
    title: 'This meeting has no such proposal.',
    advice: 'Read the meeting, and send `proposal.id` as it stands there.',
  },
  'slot-held': {
    status: 409,
    title: 'Somebody whom this meeting needs has been promised to another meeting at that time.',
    advice: 'Nothing is booked. Another time is being looked for; read the meeting until it proposes one.',
  },
  'evidence-expired': {
    status: 409,
    title: 'What somebody said of their time has grown too old to be relied on.',
    advice: 'Nothing is booked. They are asked again; read the meeting until it proposes a time.',
  },
  'slot-passed': {
    status: 409,
    title: 'The proposed time has begun.',
    advice: 'Nothing is booked. Another time is being looked for; read the meeting until it proposes one.',
  },
  'booking-deadline-passed': {
    status: 409,
    title: 'The booking deadline has passed.',
    advice: 'Ask for a new meeting with a later deadline.',
  },
  'stale-version': {
    status: 412,
    title: 'What you have seen has changed since.',
    advice:
      '`detail` names the current `ETag`. Read it again, decide again, and send that one in `If-Match`.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is larger than this endpoint takes.',
    advice: '`detail` names the limit: 256 KiB for JSON, 10 MiB for a mail. Nothing was read of it.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'This address does not take a body of this kind.',
    headers: ['accept', 'accept-encoding'],
    advice:
      '`detail` and the header `Accept` of the answer name it: `application/json` in UTF-8, and `message/rfc822` where a mail is taken in. Where it is the compression, `Accept-Encoding` names what is unpacked.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'This Idempotency-Key belongs to another request.',
    advice:
      'A key names one request: its method, its address and its body. Take a new key for a new request. A key is forgotten 24 hours after its first use.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests.',
    headers: ['retry-after'],
    advice: 'Wait as many seconds as the header `Retry-After` says. Nothing was written.',
  },
  internal: {
    status: 500,
    title: 'This is our fault.',
    advice:
      'Whether the request took effect is not known to you. Repeat it with the same Idempotency-Key: it takes effect once. Name `x-request-id` when you report it.',
  },
  unavailable: {
    status: 503,
    title: 'The database cannot be reached now.',
    headers: ['retry-after'],
    advice:
      'Repeat the request after `Retry-After` seconds with the same Idempotency-Key: it takes effect once.',
  },
} as const satisfies Record<string, ProblemKind>

export type ProblemName = keyof typeof problems

export const problemNames = Object.keys(problems).filter((name): name is ProblemName => name in problems)
