import type { LinkClaims, LinkSigner } from '@aftercommit/platform/links'
import type {
  PersonAnswer,
  RecordReplyResult,
  ReplyForm,
  ReplyRefusal,
} from '@aftercommit/scheduling/outreach'

/** What the pages for people without an account need of the world. */
export interface ReplyPageDeps {
  readonly links: Pick<LinkSigner, 'verify'>
  /** The database's time: a process's own may be wrong, and is not the one that a test or a demonstration moves. */
  readonly now: () => Promise<Date>
  /** Changes nothing: scanners of mail open every link. */
  readReplyForm(claims: LinkClaims): Promise<ReplyForm | ReplyRefusal>
  /**
   * Checks the answer once more against the meeting as it is then, and commits it. `contact_refused` is recorded
   * whatever became of the meeting and of the revisions in the claims.
   */
  recordReply(claims: LinkClaims, answer: PersonAnswer): Promise<RecordReplyResult>
}
