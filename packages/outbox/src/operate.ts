/** What operators and readers do with rows. Runs nothing. */
export {
  dismissDeadRow as dismissDeadLetter,
  readActions,
  readAttempts,
  replayDeadRow as replayDeadLetter,
  type ActionRecordRow,
  type AttemptRecordRow,
  type DismissResult,
  type ReplayResult,
} from './sql.ts'
