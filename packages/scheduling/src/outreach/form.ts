/** What the reply page is shown from, and what becomes of an answer. The page knows no more of a meeting than this. */
import type { Interval, TimeZone } from '@aftercommit/time'
import type { Disclosed } from './disclosure.ts'
import type { LocalWindow, NormalisedReply } from './reply.ts'
import type { Unclear } from './understand.ts'

/** A meeting that still wants to know this person's time. */
export interface ReplyForm {
  readonly type: 'open'
  readonly disclosed: Disclosed
  /** Answers are taken up to this moment. */
  readonly answerBy: Date
  /** The person's own: told by the client, or by the person in an earlier answer. Undefined is not a zone to guess. */
  readonly zone: TimeZone | undefined
  /** In which times are shown to a person whose zone is not known, and said to be. */
  readonly meetingZone: TimeZone
  /** What the person answered before. It may be changed until the meeting is booked. */
  readonly standing: StandingAnswer | undefined
  /** What was understood of the person's own words, to be confirmed or corrected. */
  readonly draft: ShownDraft | undefined
}

export type StandingAnswer =
  | { readonly type: 'times'; readonly zone: TimeZone; readonly free: readonly Interval[] }
  | { readonly type: 'not_taking_part' }

export interface ShownDraft {
  readonly id: string
  readonly windows: readonly LocalWindow[]
  readonly zone: TimeZone | undefined
  readonly unclear: readonly Unclear[]
}

/** Why an answer is not, or no longer, wanted. Each has words of its own on the page. */
export type ReplyRefusal =
  /** The link is for another revision of the meeting or of the person: a newer message has the link that counts. */
  | { readonly type: 'outdated' }
  /** A time has been found and approved. */
  | { readonly type: 'closed' }
  /** The deadline passed without one. */
  | { readonly type: 'lapsed' }
  | { readonly type: 'cancelled' }
  /** The meeting goes on without this person. */
  | { readonly type: 'not_needed' }
  /** There is no such meeting or person. */
  | { readonly type: 'not_found' }

export type RecordReplyResult =
  | Extract<NormalisedReply, { readonly type: 'stated' | 'unclear' }>
  | { readonly type: 'not_taking_part' }
  /** Recorded whatever became of the meeting: this wish has no deadline and no revision. */
  | { readonly type: 'contact_refused' }
  | ReplyRefusal
