import {
  approveProposal,
  Instant,
  listMeetings,
  MeetingState,
  openMeeting,
  readTrace,
  traceText,
  viewVersionedMeeting,
  type ApproveResult,
  faultsBeyondShape,
} from '@aftercommit/scheduling'
import { z } from 'zod'
import { cursorOf, PageLimit, pageOf } from '../cursor.ts'
import { malformedBody, type ProblemMore } from '../problem.ts'
import type { ProblemName } from '../problems.ts'
import { answered, refused, route, type Route } from '../route.ts'
import { mayNotApprove } from './authority.ts'
import { Approve, meetingExample, OneMeeting } from './scheduling-bodies.ts'
import { SeenVersion, staleRefusal } from './seen-version.ts'
import { Meeting, MeetingDraft, MeetingHead, MeetingList, MeetingTrace } from './scheduling-answers.ts'

const StateName = z.enum(MeetingState.options.map(({ shape }) => shape.type.value))
const Position = z.tuple([Instant, z.uuid()])

/** How each answer to an approval is refused. */
const approvalProblem = {
  not_found: 'not-found',
  unknown_proposal: 'unknown-proposal',
  slot_held: 'slot-held',
  evidence_expired: 'evidence-expired',
  slot_passed: 'slot-passed',
  not_awaiting: 'not-awaiting-approval',
  outdated: 'proposal-outdated',
  not_authorised: 'not-authorised',
  too_late: 'booking-deadline-passed',
} as const satisfies Record<Exclude<ApproveResult['type'], 'approved'>, ProblemName>

export const schedulingRoutes = (): readonly Route[] => [...beginningRoutes(), ...oneMeetingRoutes()]

const beginningRoutes = (): readonly Route[] => [
  route({
    method: 'post',
    path: '/v1/meetings',
    operationId: 'openMeeting',
    summary:
      'Opens a meeting: a complete one starts to be booked, an incomplete one asks for what is missing.',
    body: MeetingDraft,
    example: meetingExample,
    answer: {
      headers: ['location'],
      status: 201,
      description:
        'The meeting is committed. When it is `gathering`, so is its first work; when it is `incomplete`, its `exceptions` say what is missing: after the example above, in whose calendar the event is written.',
      schema: MeetingHead,
    },
    judge: (given, { db, tenantId }) => faultsBeyondShape(db, tenantId, given),
    problems: [],
    handle: async ({ body }, { db, tenantId, traceParent }) => {
      const result = await openMeeting(db, tenantId, body, traceParent)
      if (result.type === 'malformed') throw malformedBody(result.problems)
      const { id, revision, state } = result.meeting
      return answered({ id, revision, state }, { location: `/v1/meetings/${id}` })
    },
  }),

  route({
    method: 'get',
    path: '/v1/meetings',
    operationId: 'listMeetings',
    summary: 'Lists meetings, newest first.',
    query: z.strictObject({
      state: StateName.optional().meta({
        description: 'Only meetings in this state.',
        examples: ['confirmed'],
      }),
      limit: PageLimit,
      cursor: cursorOf(Position).optional(),
    }),
    answer: { status: 200, description: 'One page.', schema: MeetingList },
    problems: [],
    handle: async ({ query: { state, limit, cursor } }, { db, tenantId }) => {
      const after = cursor && { createdAt: cursor[0], id: cursor[1] }
      const found = await listMeetings(db, tenantId, { state, after, limit: limit + 1 })
      const { items, next } = pageOf(found, limit, ({ position }) => [position.createdAt, position.id])
      return answered({
        meetings: items.map(({ position: _, createdAt, changedAt, ...meeting }) => ({
          ...meeting,
          createdAt: createdAt.toISOString(),
          changedAt: changedAt.toISOString(),
        })),
        ...next,
      })
    },
  }),
]

const oneMeetingRoutes = (): readonly Route[] => [
  route({
    method: 'get',
    path: '/v1/meetings/{meetingId}',
    operationId: 'viewMeeting',
    summary: 'Reads a meeting. Its ETag changes whenever anything of it does.',
    params: OneMeeting,
    answer: { headers: ['etag'], status: 200, description: 'The meeting as it is now.', schema: Meeting },
    problems: ['not-found'],
    handle: async ({ params }, { db, tenantId }) => {
      const found = await viewVersionedMeeting(db, tenantId, params.meetingId)
      return found ? answered(found.view, { etag: found.version }) : refused('not-found')
    },
  }),

  route({
    method: 'get',
    path: '/v1/meetings/{meetingId}/trace',
    operationId: 'traceMeeting',
    summary: 'Reads everything that has happened for a meeting, and what is still to happen.',
    params: OneMeeting,
    answer: {
      status: 200,
      description: 'The story so far.',
      schema: MeetingTrace,
      text: { description: 'The same as one page to read.', render: traceText },
    },
    problems: ['not-found'],
    handle: async ({ params }, { db, tenantId }) => {
      const trace = await readTrace(db, tenantId, params.meetingId)
      return trace ? answered(trace) : refused('not-found')
    },
  }),

  route({
    method: 'post',
    path: '/v1/meetings/{meetingId}/approve',
    operationId: 'approveProposal',
    summary: 'Approves the proposal that stands. Nothing is booked that was not approved.',
    params: OneMeeting,
    headers: SeenVersion,
    body: Approve,
    answer: { status: 200, description: 'The one write of the event is committed.', schema: MeetingHead },
    problems: [...Object.values(approvalProblem), 'stale-version'],
    handle: async ({ params: { meetingId }, headers, body: { proposalId, approver } }, { db, tenantId }) => {
      const stale = await staleRefusal(db, tenantId, meetingId, headers)
      if (stale) return stale
      const by = { type: 'person', address: approver.address } as const
      const result = await approveProposal(db, tenantId, meetingId, proposalId, by)
      if (result.type !== 'approved') return refused(approvalProblem[result.type], moreOf(result))
      const { id, revision, state } = result.meeting
      return answered({ id, revision, state })
    },
  }),
]

const moreOf = (result: ApproveResult): ProblemMore => {
  switch (result.type) {
    case 'not_awaiting':
      return { detail: `It is ${result.state}.` }
    case 'outdated':
      return { detail: `The current proposal is ${result.currentProposalId}.` }
    case 'unknown_proposal':
      return {
        errors: [{ in: 'body', pointer: '/proposalId', rule: 'is not a proposal of this meeting' }],
      }
    case 'not_authorised':
      return { detail: mayNotApprove(result) }
    case 'approved':
    case 'not_found':
    case 'slot_held':
    case 'evidence_expired':
    case 'slot_passed':
    case 'too_late':
      return {}
  }
}
