/** What operators and readers do with rows. Runs nothing. */
export {
  countDeadRows as countDeadLetters,
  dismissDeadRow as dismissDeadLetter,
  listDeadRows as listDeadLetters,
  readActions,
  readAttempts,
  readDecisions,
  replayDeadRow as replayDeadLetter,
  sampleGauges,
  type ActionRecordRow,
  type AttemptRecordRow,
  type DeadLetterFilter,
  type DeadLetterRow,
  type DecisionRow,
  type DismissResult,
  type LaneGauge,
  type ReplayResult,
} from './sql.ts'
