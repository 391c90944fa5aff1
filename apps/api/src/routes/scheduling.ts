import type { Db } from '@aftercommit/platform/db'
import type { Seal } from '@aftercommit/platform/sealing'
import {
  addWebhookEndpoint,
  approveProposal,
  connectCalendar,
  holdMeetingVersion,
  listMeetings,
  MeetingId,
  MeetingState,
  openMeeting,
  ProposalId,
  readTrace,
  viewVersionedMeeting,
  type ApproveResult,
  type Trace,
} from '@aftercommit/scheduling'
import { z } from 'zod'
import { cursorFrom, cursorOf, PageLimit } from '../cursor.ts'
import { EntityTags, etagOf, matchesStrongly } from '../etag.ts'
import { named } from '../named.ts'
import { malformedBody } from '../problem.ts'
import type { ProblemName } from '../problems.ts'
import { answered, refused, route, type Route } from '../route.ts'
import {
  Created,
  Meeting,
  MeetingDraft,
  MeetingHead,
  MeetingList,
  MeetingTrace,
} from './scheduling-answers.ts'

const Approve = named(
  'Approve',
  z.strictObject({ proposalId: ProposalId, approver: z.strictObject({ address: z.email().max(254) }) }),
)
const Connect = named(
  'ConnectCalendar',
  z.strictObject({
    provider: z.enum(['google', 'microsoft']),
    address: z.email().max(254),
    refreshToken: z.string().min(1).max(8_192),
  }),
)
const Endpoint = named(
  'AddWebhookEndpoint',
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }).max(2_000),
    /** Standard Webhooks form. */
    secret: z.string().regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'whsec_ and at least 24 bytes of base64'),
  }),
)

const OneMeeting = z.strictObject({ meetingId: MeetingId })
const StateName = z.enum(MeetingState.options.map(({ shape }) => shape.type.value))
const Position = z.tuple([z.iso.datetime(), z.uuid()])

/** How each answer to an approval is refused. */
const approvalProblem = {
  not_found: 'not-found',
  not_awaiting: 'not-awaiting-approval',
  outdated: 'proposal-outdated',
  not_authorised: 'not-authorised',
  too_late: 'booking-deadline-passed',
} as const satisfies Record<Exclude<ApproveResult['type'], 'approved'>, ProblemName>

export const schedulingRoutes = ({ seal }: { readonly seal: Seal }): readonly Route[] => [
  ...beginningRoutes(),
  ...oneMeetingRoutes(),
  ...connectionRoutes(seal),
]

const beginningRoutes = (): readonly Route[] => [
  route({
    method: 'post',
    path: '/v1/meetings',
    operationId: 'openMeeting',
    summary:
      'Opens a meeting: a complete one starts to be booked, an incomplete one asks for what is missing.',
    body: MeetingDraft,
    answer: {
      status: 201,
      description: 'The meeting is committed, and so is its first work.',
      schema: MeetingHead,
    },
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
      state: StateName.optional(),
      limit: PageLimit,
      cursor: cursorOf(Position).optional(),
    }),
    answer: { status: 200, description: 'One page.', schema: MeetingList },
    problems: [],
    handle: async ({ query: { state, limit, cursor } }, { db, tenantId }) => {
      const after = cursor && { createdAt: cursor[0], id: cursor[1] }
      // One more than asked for tells whether there is another page.
      const found = await listMeetings(db, tenantId, { state, after, limit: limit + 1 })
      const page = found.slice(0, limit)
      const last = found.length > limit ? page.at(-1)?.position : undefined
      return answered({
        meetings: page.map(({ position: _, createdAt, changedAt, ...meeting }) => ({
          ...meeting,
          createdAt: createdAt.toISOString(),
          changedAt: changedAt.toISOString(),
        })),
        ...(last && { nextCursor: cursorFrom([last.createdAt, last.id]) }),
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
    answer: { status: 200, description: 'The meeting as it is now.', schema: Meeting },
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
    answer: { status: 200, description: 'The story so far.', schema: MeetingTrace },
    problems: ['not-found'],
    handle: async ({ params }, { db, tenantId }) => {
      const trace = await readTrace(db, tenantId, params.meetingId)
      return trace ? answered(wireTrace(trace)) : refused('not-found')
    },
  }),

  route({
    method: 'post',
    path: '/v1/meetings/{meetingId}/approve',
    operationId: 'approveProposal',
    summary: 'Approves the proposal that stands. Nothing is booked that was not approved.',
    params: OneMeeting,
    headers: z.object({ 'if-match': EntityTags.optional() }),
    body: Approve,
    answer: { status: 200, description: 'The one write of the event is committed.', schema: MeetingHead },
    problems: [...Object.values(approvalProblem), 'stale-version'],
    handle: async ({ params: { meetingId }, headers, body: { proposalId, approver } }, { db, tenantId }) => {
      if (await isStale(db, tenantId, meetingId, headers['if-match'])) return refused('stale-version')
      const by = { type: 'person', address: approver.address } as const
      const result = await approveProposal(db, tenantId, meetingId, proposalId, by)
      if (result.type !== 'approved') return refused(approvalProblem[result.type], detailOf(result))
      const { id, revision, state } = result.meeting
      return answered({ id, revision, state })
    },
  }),
]

const connectionRoutes = (seal: Seal): readonly Route[] => [
  route({
    method: 'post',
    path: '/v1/calendar-connections',
    operationId: 'connectCalendar',
    summary: 'Connects a calendar. Its credential is sealed at once and is never given out.',
    body: Connect,
    answer: { status: 201, description: 'The connection, to be named by meetings.', schema: Created },
    problems: ['already-connected'],
    handle: async ({ body }, { db, tenantId }) => {
      const result = await connectCalendar(db, seal, tenantId, body)
      return result.type === 'connected' ? answered({ id: result.id }) : refused('already-connected')
    },
  }),

  route({
    method: 'post',
    path: '/v1/webhook-endpoints',
    operationId: 'addWebhookEndpoint',
    summary: 'Names an address that is told, in signed messages, what happens to meetings.',
    body: Endpoint,
    answer: { status: 201, description: 'The endpoint; messages go to it from now on.', schema: Created },
    problems: [],
    handle: async ({ body }, { db, tenantId }) =>
      answered({ id: await addWebhookEndpoint(db, seal, tenantId, body) }),
  }),
]

/** Holds the meeting's lock afterwards, so that what was compared is what the command acts on. */
const isStale = async (
  db: Db,
  tenantId: string,
  meetingId: MeetingId,
  ifMatch: string | undefined,
): Promise<boolean> => {
  if (ifMatch === undefined) return false
  const version = await holdMeetingVersion(db, tenantId, meetingId)
  return version !== undefined && !matchesStrongly(ifMatch, etagOf(version))
}

const detailOf = (result: ApproveResult): { readonly detail?: string } => {
  switch (result.type) {
    case 'not_awaiting':
      return { detail: `It is ${result.state}.` }
    case 'outdated':
      return { detail: `The current proposal is ${result.currentProposalId}.` }
    case 'approved':
    case 'not_found':
    case 'not_authorised':
    case 'too_late':
      return {}
  }
}

/** Recorded calls are stored as JSON, so their times come back as text. */
const wireTrace = (trace: Trace) => ({
  ...trace,
  entries: trace.entries.map((entry) =>
    entry.type === 'attempt'
      ? {
          ...entry,
          calls: entry.calls.map((call) => ({ ...call, startedAt: new Date(call.startedAt).toISOString() })),
        }
      : entry,
  ),
})
