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
export { absenceCodes, resolutionByCode } from './absence.ts'
export { listExceptions, resolveException, viewException, type ResolveResult } from './exceptions.ts'
export { ConnectionId, EndpointId, ExceptionId, MeetingId, ProposalId } from './ids.ts'
export { IntentDraft } from './intent.ts'
export { listMeetings } from './list.ts'
export { MeetingState } from './meeting.ts'
export { readTrace, type Trace, type TraceEntry } from './trace.ts'
export type { MeetingException } from './store.ts'
export { holdMeetingVersion, viewVersionedMeeting, type VersionedView } from './version.ts'
export { viewMeeting, type MeetingView } from './view.ts'
