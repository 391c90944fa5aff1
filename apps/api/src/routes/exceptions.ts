import {
  absenceCodes,
  answeredBy,
  ExceptionId,
  Instant,
  listExceptions,
  resolutionByCode,
  resolveException,
  viewException,
  type MeetingException,
  faultsBeyondShape,
  faultsOfAnswer,
} from '@aftercommit/scheduling'
import { z } from 'zod'
import { cursorOf, PageLimit, pageOf } from '../cursor.ts'
import { named } from '../named.ts'
import { malformedBody } from '../problem.ts'
import { answered, refused, route, type Route } from '../route.ts'
import { AbsenceCode, AnsweredBy, ExceptionOwner, MeetingHead } from './scheduling-answers.ts'

const OneException = z.strictObject({
  exceptionId: ExceptionId.meta({
    description: 'The id of the exception, as the meeting and the list of exceptions show it.',
    examples: ['5b0c6c0e-8f0d-4b0a-9a53-6f2d1f1f7a11'],
  }),
})
const Position = z.tuple([Instant, z.uuid()])

const Exception = named(
  'Exception',
  z.object({
    id: z.uuid(),
    meetingId: z.uuid(),
    code: AbsenceCode,
    path: z.array(z.union([z.string(), z.int()])),
    answeredBy: AnsweredBy,
    owner: ExceptionOwner,
    state: z.enum(['open', 'resolved', 'lapsed']),
    openedAt: z.iso.datetime(),
    lapsesAt: z.iso.datetime(),
    endedAt: z.iso.datetime().optional(),
  }),
  'Something a meeting cannot do without and was not told: what, where in the intent, and until when it is waited for.',
)
const ExceptionList = named(
  'ExceptionList',
  z.object({ exceptions: z.array(Exception), nextCursor: z.string().optional() }),
)

const fieldsText = absenceCodes.map((code) => `\`${code}\`: ${answeredBy(code).join(', ')}.`).join(' ')

/** The fields of every answer there is. Which of them are asked for, the exception's code says, and the domain checks. */
const Resolution = named(
  'Resolution',
  z
    .strictObject({
      ...resolutionByCode.zone_missing.shape,
      ...resolutionByCode.authority_missing.shape,
      ...resolutionByCode.organizer_calendar_missing.shape,
      ...resolutionByCode.outreach_missing.shape,
    })
    .partial(),
  `What the code of the exception asks for. ${fieldsText} Of \`outreach_missing\` one of them is enough, of \`identity_missing\` the address. What the meeting has already may be left out.`,
)

export const exceptionRoutes = (): readonly Route[] => [
  route({
    method: 'get',
    path: '/v1/exceptions',
    operationId: 'listExceptions',
    summary:
      'Lists what is waited to be told, the soonest to lapse first, and of one meeting in the order in which it was asked.',
    query: z.strictObject({ limit: PageLimit, cursor: cursorOf(Position).optional() }),
    answer: { status: 200, description: 'One page of open exceptions.', schema: ExceptionList },
    problems: [],
    handle: async ({ query: { limit, cursor } }, { db, tenantId }) => {
      const after = cursor && { lapsesAt: new Date(cursor[0]), id: cursor[1] }
      const found = await listExceptions(db, tenantId, { after, limit: limit + 1 })
      const { items, next } = pageOf(found, limit, ({ lapsesAt, id }) => [lapsesAt.toISOString(), id])
      return answered({ exceptions: items.map(wireException), ...next })
    },
  }),

  route({
    method: 'get',
    path: '/v1/exceptions/{exceptionId}',
    operationId: 'viewException',
    summary: 'Reads one exception.',
    params: OneException,
    answer: { status: 200, description: 'The exception as it is now.', schema: Exception },
    problems: ['not-found'],
    handle: async ({ params }, { db, tenantId }) => {
      const exception = await viewException(db, tenantId, params.exceptionId)
      return exception ? answered(wireException(exception)) : refused('not-found')
    },
  }),

  route({
    method: 'post',
    path: '/v1/exceptions/{exceptionId}/resolve',
    operationId: 'resolveException',
    summary: 'Tells what was missing. The last answer completes the meeting and starts its work.',
    params: OneException,
    body: Resolution,
    example: () => ({ calendarConnectionId: '7d0f7a3e-6c0f-4a57-9b0e-3c8e5b1d2f64' }),
    answer: { status: 200, description: 'The meeting, in its new revision.', schema: MeetingHead },
    judge: async (given, { db, tenantId }, { exceptionId }) => [
      ...(await faultsBeyondShape(db, tenantId, given)),
      ...(await faultsOfAnswer(db, tenantId, exceptionId, given)),
    ],
    problems: ['not-found', 'exception-ended'],
    handle: async ({ params, body }, { db, tenantId }) => {
      const result = await resolveException(db, tenantId, params.exceptionId, body)
      switch (result.type) {
        case 'resolved': {
          const { id, revision, state } = result.meeting
          return answered({ id, revision, state })
        }
        case 'malformed':
          throw malformedBody(result.problems)
        case 'not_found':
          return refused('not-found')
        case 'not_open':
          return refused('exception-ended', { detail: `It is ${result.state}.` })
      }
    },
  }),
]

const wireException = ({ absence, openedAt, lapsesAt, endedAt, ...rest }: MeetingException) => ({
  ...rest,
  code: absence.code,
  path: [...absence.path],
  answeredBy: [...answeredBy(absence.code)],
  openedAt: openedAt.toISOString(),
  lapsesAt: lapsesAt.toISOString(),
  ...(endedAt && { endedAt: endedAt.toISOString() }),
})
