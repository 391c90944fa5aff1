/** What may be asked about a meeting's time, and told about its people's calendars. */
import {
  Address,
  ConnectionId,
  connectParticipant,
  explainTime,
  Instant,
  ParticipantId,
  SlotExplanation,
  type ConnectParticipantResult,
  faultsBeyondShape,
} from '@aftercommit/scheduling'
import { z } from 'zod'
import { named } from '../named.ts'
import { malformedBody } from '../problem.ts'
import { answered, refused, route, type Route } from '../route.ts'
import { notAuthorised } from './authority.ts'
import { MeetingHead } from './scheduling-answers.ts'
import { OneMeeting } from './scheduling-bodies.ts'

const OneParticipant = z.strictObject({
  ...OneMeeting.shape,
  participantId: ParticipantId.meta({
    description: 'The id of the participant, as the meeting shows it.',
    examples: ['7c1e5a52-2d6f-4c1e-9d0e-3a8f6b1c2d4e'],
  }),
})

const ConnectPerson = named(
  'ConnectParticipant',
  z.strictObject({
    by: z.strictObject({ address: Address }).meta({
      description: "Who says so: the meeting's organizer, or the approver that it names.",
    }),
    calendarConnectionId: ConnectionId.meta({
      description: "The connection of this person's calendar.",
      examples: ['5b0c6c0e-8f0d-4b0a-9a53-6f2d1f1f7a11'],
    }),
  }),
  'The calendar of somebody who is asked by mail.',
)

const Explanation = named(
  'SlotExplanation',
  SlotExplanation,
  'Why a meeting at that time is not proposed, or what comes before it. By what is known now; people by id.',
)

export const askingRoutes = (): readonly Route[] => [
  route({
    method: 'get',
    path: '/v1/meetings/{meetingId}/explain',
    operationId: 'explainTime',
    summary: 'Explains why a time is not the one that is proposed: who is in the way, and how that is known.',
    params: OneMeeting,
    query: z.strictObject({
      start: Instant.meta({
        description: 'When the meeting would start; an instant with its offset.',
        examples: ['2027-03-30T10:00:00+02:00'],
      }),
    }),
    answer: { status: 200, description: 'Every reason there is.', schema: Explanation },
    problems: ['not-found', 'meeting-incomplete'],
    handle: async ({ params, query }, { db, tenantId }) => {
      const result = await explainTime(db, tenantId, params.meetingId, new Date(query.start))
      if (result.type === 'explained') return answered(result.explanation)
      return refused(result.type === 'not_found' ? 'not-found' : 'meeting-incomplete')
    },
  }),

  route({
    method: 'post',
    path: '/v1/meetings/{meetingId}/participants/{participantId}/calendar',
    operationId: 'connectParticipant',
    summary: 'Names the calendar of somebody who is asked by mail: it is read, and they are asked no more.',
    params: OneParticipant,
    body: ConnectPerson,
    answer: { status: 200, description: 'The meeting, in its new revision.', schema: MeetingHead },
    judge: (given, { db, tenantId }) => faultsBeyondShape(db, tenantId, given),
    problems: ['not-found', 'not-authorised', 'time-approved'],
    handle: async ({ params, body }, { db, tenantId }) => {
      const { by, calendarConnectionId } = body
      const input = { by: by.address, calendarConnectionId }
      return replyOf(await connectParticipant(db, tenantId, params.meetingId, params.participantId, input))
    },
  }),
]

const replyOf = (result: ConnectParticipantResult) => {
  switch (result.type) {
    case 'connected': {
      const { id, revision, state } = result.meeting
      return answered({ id, revision, state })
    }
    case 'not_found':
      return refused('not-found')
    case 'not_authorised':
      return notAuthorised(result)
    case 'not_open':
      return refused('time-approved', { detail: `It is ${result.state}.` })
    case 'malformed':
      throw malformedBody(result.problems)
  }
}
