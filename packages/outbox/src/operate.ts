/** What operators and readers do with rows. Runs nothing. */
export {
  dismissDeadRow as dismissDeadLetter,
  listDeadRows as listDeadLetters,
  readActions,
  readAttempts,
  replayDeadRow as replayDeadLetter,
  sampleGauges,
  type ActionRecordRow,
  type AttemptRecordRow,
  type DeadLetterRow,
  type DismissResult,
  type LaneGauge,
  type ReplayResult,
} from './sql.ts'
