/** Scheduling as the API sees it: what may be asked, and what can be read. Nothing here calls anybody. */
export {
  addWebhookEndpoint,
  approveProposal,
  connectCalendar,
  openMeeting,
  type ApproveResult,
  type ConnectResult,
  type OpenResult,
} from './commands.ts'
export { absenceCodes, absenceMeanings, answeredBy, resolutionByCode } from './absence.ts'
export {
  faultsOfAnswer,
  listExceptions,
  resolveException,
  viewException,
  type ResolveResult,
} from './exceptions.ts'
export {
  ConnectionId,
  EndpointId,
  ExceptionId,
  MeetingId,
  ParticipantId,
  ProposalId,
  RepairId,
} from './ids.ts'
export { disableWebhookEndpoint, listConnections, listEndpoints } from './integrations.ts'
export { IntentDraft } from './intent.ts'
export { faultsBeyondShape } from './faults.ts'
export { listMeetings } from './list.ts'
export { MeetingState } from './meeting.ts'
export { ClientMessage } from './message.ts'
export { exceptionOwnerMeanings, ownerMeanings } from './owners.ts'
export { MeetingTrace, readTrace } from './trace.ts'
export { TraceEntry } from './trace-entries.ts'
export { traceText } from './trace-text.ts'
export type { MeetingException } from './store.ts'
export { holdMeetingVersion, viewVersionedMeeting, type VersionedView } from './version.ts'
export { Address, Instant, LocalDateTime } from './values.ts'
export { viewMeeting, type MeetingView } from './view.ts'
export { cancelMeeting, type CancelResult } from './cancellation.ts'
export type { NotAuthorised } from './booking.ts'
export type { Unmovable } from './ending.ts'
export {
  rescheduleMeeting,
  withdrawChange,
  type RescheduleResult,
  type WithdrawResult,
} from './rescheduling.ts'
export type { ShownRepair } from './repairing.ts'
export { RepairChoice, repairKinds } from './repair.ts'
export { ProposalGrounds } from './slot.ts'
export { listRepairs, resolveRepair, viewRepair, type ResolveRepairResult } from './repairs.ts'
export { readReplyForm, recordReply } from './replies.ts'
export { ignoredReasons, receiveMail, type ReceivedMail, type ReceiveResult } from './inbound.ts'
export { connectParticipant, type ConnectParticipantResult } from './participation.ts'
export { explainTime, type ExplainResult } from './explanation.ts'
export { SlotExplanation } from './explain.ts'
