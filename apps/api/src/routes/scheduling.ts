import type { Db } from '@aftercommit/platform/db'
import type { Seal } from '@aftercommit/platform/sealing'
import {
  addWebhookEndpoint,
  approveProposal,
  connectCalendar,
  MeetingId,
  IntentDraft,
  openMeeting,
  ProposalId,
  readTrace,
  viewMeeting,
  type ApproveResult,
} from '@aftercommit/scheduling'
import { Router, type Request } from 'express'
import { z } from 'zod'
import { tenantIdOf } from '../keys.ts'
import { malformed, problem, ProblemError } from '../problem.ts'

const Approve = z.strictObject({ proposalId: ProposalId, approver: z.strictObject({ address: z.email() }) })
const Connect = z.strictObject({
  provider: z.enum(['google', 'microsoft']),
  address: z.email().max(254),
  refreshToken: z.string().min(1).max(8_192),
})
const Endpoint = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2_000),
  /** Standard Webhooks form. */
  secret: z.string().regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'whsec_ and at least 24 bytes of base64'),
})

/** The status of each answer to an approval. */
const approvalStatus = {
  approved: 200,
  not_found: 404,
  not_awaiting: 409,
  outdated: 409,
  not_authorised: 403,
  too_late: 409,
} as const satisfies Record<ApproveResult['type'], number>

export const schedulingRoutes = ({ db, seal }: { readonly db: Db; readonly seal: Seal }): Router => {
  const router = Router()

  router.post('/meetings', async (request, response) => {
    const intent = IntentDraft.parse(request.body)
    const result = await openMeeting(db, tenantIdOf(response), intent, request.get('traceparent'))
    if (result.type === 'malformed') {
      throw new ProblemError(malformed(result.problems.map(({ path, reason }) => ({ path, rule: reason }))))
    }
    const { id, revision, state } = result.meeting
    response.status(201).location(`/v1/meetings/${id}`).json({ id, revision, state })
  })

  router.get('/meetings/:meetingId', async (request, response) => {
    const view = await viewMeeting(db, tenantIdOf(response), meetingIdOf(request))
    response.json(view ?? notFound())
  })

  router.get('/meetings/:meetingId/trace', async (request, response) => {
    const trace = await readTrace(db, tenantIdOf(response), meetingIdOf(request))
    response.json(trace ?? notFound())
  })

  router.post('/meetings/:meetingId/approve', async (request, response) => {
    const { proposalId, approver } = Approve.parse(request.body)
    const by = { type: 'person', address: approver.address } as const
    const result = await approveProposal(db, tenantIdOf(response), meetingIdOf(request), proposalId, by)
    if (result.type === 'not_found') return notFound()
    if (result.type !== 'approved') throw new ProblemError(approvalProblem(result))
    const { id, revision, state } = result.meeting
    response.status(approvalStatus.approved).json({ id, revision, state })
  })

  router.post('/calendar-connections', async (request, response) => {
    const result = await connectCalendar(db, seal, tenantIdOf(response), Connect.parse(request.body))
    if (result.type === 'already_connected') {
      throw new ProblemError(problem(409, 'already-connected', 'This calendar is connected already.'))
    }
    response.status(201).json({ id: result.id })
  })

  router.post('/webhook-endpoints', async (request, response) => {
    const id = await addWebhookEndpoint(db, seal, tenantIdOf(response), Endpoint.parse(request.body))
    response.status(201).json({ id })
  })

  return router
}

const notFound = (): never => {
  throw new ProblemError(problem(404, 'not-found', 'This tenant has no such meeting or proposal.'))
}

/** An id that cannot exist names nothing that exists. */
const meetingIdOf = (request: Request): MeetingId => {
  const id = MeetingId.safeParse(request.params.meetingId)
  return id.success ? id.data : notFound()
}

const approvalProblem = (result: Exclude<ApproveResult, { type: 'approved' | 'not_found' }>) => {
  const status = approvalStatus[result.type]
  switch (result.type) {
    case 'not_awaiting':
      return problem(status, 'not-awaiting-approval', 'The meeting does not wait for an approval.', {
        detail: `It is ${result.state}.`,
      })
    case 'outdated':
      return problem(status, 'proposal-outdated', 'Another proposal stands now.', {
        detail: `The current proposal is ${result.currentProposalId}.`,
      })
    case 'not_authorised':
      return problem(status, 'not-authorised', 'This person may not approve this meeting.')
    case 'too_late':
      return problem(status, 'booking-deadline-passed', 'The booking deadline has passed.')
  }
}
