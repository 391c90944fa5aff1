/** How runs begin that are to get far: something is booked, or stands in the way of what is opened after it. */
import fc from 'fast-check'
import { answerAll, declineAll } from './answering.testing.ts'
import { approveAtOnce, approveSuperseded, rescheduleMeeting, resolveRepair } from './deciding.testing.ts'
import { openFit, openRival } from './opening.testing.ts'
import { setConferences } from './providing.testing.ts'
import type { Step } from './step.testing.ts'
import { handNoticed, loseAnswer, passTime } from './working.testing.ts'

/** Opened, agreed to by everybody, and approved: mostly booked by then. */
const booked: readonly fc.Arbitrary<Step>[] = [openFit, answerAll, approveAtOnce, answerAll]

/** Mostly a booked meeting; sometimes one whose write was not answered, or with somebody's hands on its event, and a second one that wants the same person's time. */
export const beginBooked: fc.Arbitrary<readonly Step[]> = fc.oneof(
  fc.tuple(...booked),
  fc.tuple(setConferences, ...booked),
  fc.tuple(...booked, rescheduleMeeting, answerAll, passTime),
  fc.tuple(openFit, declineAll, resolveRepair, answerAll, approveAtOnce),
  fc.tuple(openFit, answerAll, approveSuperseded, approveAtOnce),
  fc.tuple(openFit, answerAll, loseAnswer),
  fc.tuple(...booked, handNoticed, openRival, answerAll, approveAtOnce),
)
