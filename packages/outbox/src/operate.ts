/** What operators and readers do with rows. Runs nothing. */
export {
  readActions,
  readAttempts,
  replayDeadRow as replayDeadLetter,
  type ActionRecordRow,
  type AttemptRecordRow,
  type ReplayResult,
} from './sql.ts'
