import {
  Address,
  Instant,
  listRepairs,
  RepairChoice,
  RepairId,
  resolveRepair,
  viewRepair,
  type ResolveRepairResult,
  type ShownRepair,
  faultsBeyondShape,
} from '@aftercommit/scheduling'
import { z } from 'zod'
import { cursorOf, PageLimit, pageOf } from '../cursor.ts'
import { named } from '../named.ts'
import { malformedBody } from '../problem.ts'
import { answered, refused, route, type Route } from '../route.ts'
import { MeetingHead, RepairCode, RepairOwner } from './scheduling-answers.ts'

const OneRepair = z.strictObject({
  repairId: RepairId.meta({
    description: 'The id of the repair, as the meeting and the list of repairs show it.',
    examples: ['b1f0a9d4-5d0b-4a37-8f0e-0c3f6f0e9a12'],
  }),
})
const Position = z.tuple([Instant, z.uuid()])

const Repair = named(
  'Repair',
  z.object({
    id: z.uuid(),
    meetingId: z.uuid(),
    code: RepairCode,
    owner: RepairOwner,
    facts: z.record(z.string(), z.unknown()),
    choices: z.array(z.string()),
    state: z.enum(['open', 'resolved', 'ended']),
    choice: z.string().optional(),
    authority: z.string().optional(),
    openedAt: z.iso.datetime(),
    resolvedAt: z.iso.datetime().optional(),
  }),
  'Something that only a person can put right: what is wrong, who owns it, and what may be chosen. `ended`: the meeting ended without a choice.',
)
const RepairList = named(
  'RepairList',
  z.object({ repairs: z.array(Repair), nextCursor: z.string().optional() }),
)

const Resolve = named(
  'ResolveRepair',
  z.strictObject({
    by: z.strictObject({ address: Address }).meta({
      description: "Who chooses: the meeting's organizer, or the approver that it names.",
    }),
    choice: RepairChoice.meta({ description: 'One of the `choices` of the repair.' }),
  }),
  'What a person chose to do about a repair.',
)

const resolveExample: z.input<typeof Resolve> = {
  by: { address: 'ada@example.com' },
  choice: { type: 'search_again' },
}

export const repairRoutes = (): readonly Route[] => [
  route({
    method: 'get',
    path: '/v1/repairs',
    operationId: 'listRepairs',
    summary: 'Lists what waits for a person to put it right, the oldest first.',
    query: z.strictObject({ limit: PageLimit, cursor: cursorOf(Position).optional() }),
    answer: { status: 200, description: 'One page of open repairs.', schema: RepairList },
    problems: [],
    handle: async ({ query: { limit, cursor } }, { db, tenantId }) => {
      const after = cursor && { openedAt: new Date(cursor[0]), id: cursor[1] }
      const found = await listRepairs(db, tenantId, { after, limit: limit + 1 })
      const { items, next } = pageOf(found, limit, ({ openedAt, id }) => [openedAt.toISOString(), id])
      return answered({ repairs: items.map(wireRepair), ...next })
    },
  }),

  route({
    method: 'get',
    path: '/v1/repairs/{repairId}',
    operationId: 'viewRepair',
    summary: 'Reads one repair, with what may be chosen.',
    params: OneRepair,
    answer: { status: 200, description: 'The repair as it is now.', schema: Repair },
    problems: ['not-found'],
    handle: async ({ params }, { db, tenantId }) => {
      const repair = await viewRepair(db, tenantId, params.repairId)
      return repair ? answered(wireRepair(repair)) : refused('not-found')
    },
  }),

  route({
    method: 'post',
    path: '/v1/repairs/{repairId}/resolve',
    operationId: 'resolveRepair',
    summary: 'Chooses what is done about a repair. The choice and what follows from it are one commit.',
    params: OneRepair,
    body: Resolve,
    example: () => resolveExample,
    answer: { status: 200, description: 'The meeting, which goes on.', schema: MeetingHead },
    judge: (given, { db, tenantId }) => faultsBeyondShape(db, tenantId, given),
    problems: ['not-found', 'repair-ended', 'not-authorised'],
    handle: async ({ params, body }, { db, tenantId }) => {
      const { by, choice } = body
      const result = await resolveRepair(db, tenantId, params.repairId, by.address, choice)
      return replyOf(result)
    },
  }),
]

const replyOf = (result: ResolveRepairResult) => {
  switch (result.type) {
    case 'resolved': {
      const { id, revision, state } = result.meeting
      return answered({ id, revision, state })
    }
    case 'not_found':
      return refused('not-found')
    case 'not_open':
      return refused('repair-ended')
    case 'not_authorised':
      return refused('not-authorised')
    case 'not_a_choice':
      throw malformedBody([
        { path: ['choice', 'type'], reason: `is not a choice of this repair: ${result.choices.join(', ')}` },
      ])
    case 'malformed':
      throw malformedBody(result.problems)
  }
}

const stateOf = ({ resolvedAt, choice }: ShownRepair) => {
  if (!resolvedAt) return 'open'
  return choice === undefined ? 'ended' : 'resolved'
}

const wireRepair = (repair: ShownRepair) => {
  const { openedAt, resolvedAt, choices, choice, authority, ...rest } = repair
  return {
    ...rest,
    choices: [...choices],
    state: stateOf(repair),
    openedAt: openedAt.toISOString(),
    ...(choice !== undefined && { choice }),
    ...(authority !== undefined && { authority }),
    ...(resolvedAt && { resolvedAt: resolvedAt.toISOString() }),
  } as const
}
