import { z } from 'zod'

/** Branded ids: a raw string, or one domain object's id in another's place, does not compile. */
const id = <Brand extends string>() => z.uuid().brand<Brand>()

export const MeetingId = id<'MeetingId'>()
export type MeetingId = z.output<typeof MeetingId>
export const ParticipantId = id<'ParticipantId'>()
export type ParticipantId = z.output<typeof ParticipantId>
export const ProposalId = id<'ProposalId'>()
export type ProposalId = z.output<typeof ProposalId>
export const EvidenceId = id<'EvidenceId'>()
export type EvidenceId = z.output<typeof EvidenceId>
export const ConnectionId = id<'ConnectionId'>()
export type ConnectionId = z.output<typeof ConnectionId>
export const EndpointId = id<'EndpointId'>()
export type EndpointId = z.output<typeof EndpointId>
export const RepairId = id<'RepairId'>()
export type RepairId = z.output<typeof RepairId>
export const ExceptionId = id<'ExceptionId'>()
export type ExceptionId = z.output<typeof ExceptionId>
export const ContactId = id<'ContactId'>()
export type ContactId = z.output<typeof ContactId>
export const ReplyDraftId = id<'ReplyDraftId'>()
export type ReplyDraftId = z.output<typeof ReplyDraftId>

/** Where new ids come from. A decision is given one, so that it stays a function of its input. */
export type NewId = () => string
