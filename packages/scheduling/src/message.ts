/** What a client is sent, as it reads it. */
import { z } from 'zod'
import { clientEvents, type ClientEvent } from './actions.ts'

/** What happened, and what the occasion of each message is. */
export const clientEventMeanings = {
  'exception.opened':
    'Something that the meeting cannot do without was not told; the occasion is the exception.',
  'proposal.awaiting_approval': 'A time was found and waits for the approver; the occasion is the proposal.',
  'meeting.confirmed':
    'The event was written, read back, and agrees in every point; the occasion is the proposal.',
  'meeting.rescheduled': 'A change was approved, written and read back; the occasion is the proposal.',
  'meeting.reschedule_lapsed':
    'No change was approved in time, or it was withdrawn; the event stands as it was. The occasion is this change.',
  'meeting.cancelled': 'The meeting is cancelled, and so is its event; the occasion is the meeting.',
  'meeting.no_overlap': 'No time in the window suits everybody who is required; the occasion is this search.',
  'meeting.lapsed': 'The booking deadline came first; the occasion is the meeting.',
  'repair.opened':
    'Something went wrong that only a person can put right; the occasion is the repair, which says who.',
} as const satisfies Record<ClientEvent, string>

const typeMeanings = clientEvents.map((event) => `\`${event}\`: ${clientEventMeanings[event]}`).join('\n\n')

/** It names a meeting and an occasion, and no person. Both are looked up with the API. */
export const ClientMessage = z.object({
  type: z.enum(clientEvents).meta({
    description: `What happened. New types may be added: answer 2xx to one that you do not know.\n\n${typeMeanings}`,
    examples: ['meeting.confirmed'],
  }),
  data: z.object({
    meetingId: z.uuid().meta({
      description: 'The meeting that it happened to. Where it stands now, ask the API.',
      examples: ['3f2b8c1d-6a4e-4f0b-9d27-8e5c1a7b9f03'],
    }),
    occasionId: z.uuid().meta({
      description: 'What it is about; see `type`. One occasion of one type is told once to each endpoint.',
      examples: ['0f4a1c2e-93b7-4d55-8a61-2b7c9d3e5f10'],
    }),
  }),
})
export type ClientMessage = z.output<typeof ClientMessage>
