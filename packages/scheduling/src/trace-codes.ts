/**
 * Every code in words, in one place. A closed set is a table that does not compile until it is complete; codes that are
 * plain text (what an attempt came to, and why) stand in `causes`, and a test holds it against what the source writes.
 * Pure.
 */
import type { askKinds, noticeKinds } from './actions.ts'
import { schedulingActions, type ClientEvent, type Look } from './actions.ts'
import type { AbsenceCode } from './absence.ts'
import type { AbsenceReason } from './availability.ts'
import type { CheckedField } from './completion.ts'
import type { ContactOutcome } from './contact.ts'
import type { Decider, LookAgainReason } from './decision.ts'
import type { EvidenceSource } from './evidence.ts'
import type { Unclear } from './outreach/understand.ts'
import type { RepairChoiceType } from './repair.ts'
import { causes } from './trace-causes.ts'

type Words<Code extends string> = Readonly<Record<Code, string>>

/** Words for what an older or a newer release may have stored: the code itself, made readable. */
const lookUp =
  (words: Readonly<Record<string, string>>) =>
  (code: string): string =>
    Object.hasOwn(words, code) ? (words[code] ?? code) : code.replaceAll(/[_.]/g, ' ')

const verbs: Words<keyof typeof schedulingActions> = {
  readAvailability: 'read availability',
  findTime: 'find time',
  writeEvent: 'write event',
  readBackEvent: 'read back event',
  changeEvent: 'change event',
  cancelEvent: 'cancel event',
  sweepEvent: 'sweep for a late event',
  watchEvent: 'look at event again',
  askParticipant: 'ask by mail',
  sendNotice: 'send mail',
  reachDeadline: 'reach the booking deadline',
  notifyClient: 'tell the client',
}
const verbByAction = new Map<string, string>(
  Object.entries(verbs).map(([key, verb]) => [schedulingActions[key as keyof typeof verbs].name, verb]),
)
/** `read availability`, of an action or of the question what became of it. */
export const verbOf = (action: string): string => {
  const name = action.replace(/#.*$/, '')
  return verbByAction.get(name) ?? name.replace(/^[^.]*\./, '').replaceAll('_', ' ')
}

export const clientEventText = lookUp({
  'proposal.awaiting_approval': 'a time waits for approval',
  'meeting.confirmed': 'confirmed',
  'meeting.rescheduled': 'rescheduled',
  'meeting.reschedule_lapsed': 'the change came to nothing',
  'meeting.cancelled': 'cancelled',
  'meeting.no_overlap': 'there is no time for everybody',
  'meeting.lapsed': 'lapsed',
  'exception.opened': 'something is missing',
  'repair.opened': 'somebody must repair',
} satisfies Words<ClientEvent>)

export const messageText = lookUp({
  invitation: 'asks for their time',
  reminder: 'asks once more',
  confirm_reading: 'asks whether their words were read right',
  clarification: 'asks what their words meant',
  withdrawn: 'says that the meeting is cancelled',
  approval_request: 'asks for approval',
} satisfies Words<(typeof askKinds)[number] | (typeof noticeKinds)[number]>)

export const lookText = lookUp({
  after_booking: 'soon after booking',
  day_before: 'a day before',
  hour_before: 'an hour before',
} satisfies Words<Look>)

export const sourceText = lookUp({
  google: 'Google calendar',
  microsoft: 'Microsoft calendar',
  reply_page: 'reply page',
  mail: 'mail',
  outreach: 'asked by mail',
} satisfies Words<EvidenceSource>)

/** Why somebody cannot at a time. */
export const absenceText = lookUp({
  outside_hours: 'outside their working hours',
  held: 'promised to another meeting',
  busy: 'busy',
  buffer: 'too close to something else of theirs',
  not_stated: 'not among the times they named',
  unknown: 'their time is not known',
} satisfies Words<AbsenceReason>)

export const missingText = lookUp({
  zone_missing: 'a time zone',
  authority_missing: 'who may approve',
  identity_missing: 'who somebody is',
  outreach_missing: 'the authority to ask somebody by mail, or their calendar',
  organizer_calendar_missing: 'the calendar of the organizer',
} satisfies Words<AbsenceCode>)

export const unclearText = lookUp({
  zone: 'on which clock',
  date: 'which day',
  time: 'which hour',
  only_excluded: 'when they can, and not only when they cannot',
  outside_window: 'a day of the window',
  nothing_understood: 'everything',
} satisfies Words<Unclear>)

export const choiceText = lookUp({
  search_again: 'search again',
  correct_address: 'correct the address',
  substitute_person: 'put another person in the place',
  ask_in_words: 'ask by mail',
  keep_one: 'keep one event',
  look_again: 'look at the event again',
  restore_event: 'restore the event',
  accept_change: 'accept the change',
  keep_as_is: 'keep it as it is',
  cancel_meeting: 'cancel the meeting',
} satisfies Words<RepairChoiceType>)

export const checkText = lookUp({
  calendar: 'calendar',
  identity: 'identity',
  status: 'status',
  title: 'title',
  start: 'start',
  end: 'end',
  required_attendees: 'required people',
  optional_attendees: 'optional people',
  nobody_else: 'nobody else',
  attendee_addresses: 'addresses',
  location: 'location',
  conference: 'conference',
  visibility: 'visibility',
} satisfies Words<CheckedField>)

export const messageOutcomeText = lookUp({
  accepted: 'taken by the mail server',
  maybe_sent: 'perhaps sent, nobody can tell',
  refused: 'refused by the mail server',
  bounced: 'came back',
} satisfies Words<ContactOutcome>)

/** Who must act, or by whose right something was decided. */
export const ownerText = lookUp({
  organizer: 'the organizer',
  named_approver: 'the approver whom the meeting names',
  requester: 'the requester',
  participant: 'the participant',
  calendar_owner: 'the owner of the calendar',
  rule: 'the rules of the meeting',
  operations: 'whoever operates this service',
  client_integration: 'whoever runs the receiver of the client’s webhooks',
  automatic: 'the rules of the meeting',
} satisfies Words<Decider | 'operations' | 'client_integration' | 'automatic'>)

/** Who was waited for, in few words. */
export const waitedForText = lookUp({
  requester: 'the requester',
  organizer: 'the organizer',
  named_approver: 'the approver',
  calendar_owner: 'the owner of the calendar',
  operations: 'operations',
  client_integration: 'the client',
})

export const lookAgainText = lookUp({
  slot_held: 'somebody was promised to another meeting meanwhile',
  evidence_expired: 'what somebody had said of their time had grown too old',
  slot_passed: 'the proposed time had begun',
  slot_taken: 'somebody’s time was taken before the event was written',
  search_outdated: 'what was known had grown too old for the search',
  answered: 'somebody told their time anew',
  declined: 'somebody optional will not come',
  cleared: 'what had stood at the provider is gone',
} satisfies Words<LookAgainReason>)

/** What one attempt came to. */
export const outcomeText = lookUp({
  succeeded: 'succeeded',
  retrying: 'failed, is tried again',
  throttled: 'told to wait',
  unknown: 'nobody can tell whether it happened',
  absent: 'not to be seen there',
  handed_back: 'handed back',
  lease_lost: 'its dispatcher went silent',
  suppressed: 'not done',
  superseded: 'not needed any more',
  dead: 'given up',
})

const networkCode = /^(UND_ERR|E[A-Z]{4,}|[A-Z_]*CERT)/
const httpCode = /^(?:http|status|client_error|redirect)_(\d{3})$/
const mailCode = /^(\d{3})(?:_\d+_\d+_\d+)?$/

/** Why something went wrong, or was left undone, as a clause: `the provider answered 503`. */
export const causeText = (code: string): string => {
  if (Object.hasOwn(causes, code)) return causes[code as keyof typeof causes]
  const http = httpCode.exec(code)?.[1]
  if (http !== undefined) return `the other side answered ${http}`
  const mail = mailCode.exec(code)?.[1]
  if (mail !== undefined) return `the mail server answered ${mail}`
  if (networkCode.test(code)) return `the connection failed (${code})`
  if (/^[a-z_]+_shape$/.test(code)) return 'the answer was not what its provider documents'
  return /^[a-z_]+$/.test(code) ? code.replaceAll('_', ' ') : `in the provider’s words “${code}”`
}
