/** Asking people for their time, as the pages that take their answers see it. Pure. */
export { disclose, type Disclosed } from './disclosure.ts'
export type { RecordReplyResult, ReplyForm, ReplyRefusal } from './form.ts'
export { html, htmlText, type Html } from './html.ts'
export {
  Fold,
  localWindowOf,
  normaliseReply,
  STATED_WINDOWS_MAX,
  type LocalWindow,
  type PersonAnswer,
  type ReplyProblem,
} from './reply.ts'
export type { Unclear } from './understand.ts'
