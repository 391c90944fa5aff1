import { go, handlerOf, type Outcome } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from '../actions.ts'
import type { ParticipantId } from '../ids.ts'
import { sameAddress } from '../intent.ts'
import type { Meeting, Participant } from '../meeting.ts'
import { disclose, factsFor } from '../outreach/disclosure.ts'
import { renderMessage, type RenderedMessage } from '../outreach/message.ts'
import { isUnclear } from '../outreach/understand.ts'
import {
  insertContact,
  isContactRefused,
  readMeeting,
  readParticipants,
  readProposals,
  readReplyDraft,
} from '../store.ts'
import {
  contactOf,
  disclosedTo,
  linksFor,
  MAIL_NOT_CONFIGURED,
  messageIdOf,
  readerOf,
  send,
  type Post,
  type Sent,
} from './mail.ts'
import type { World } from './world.ts'

interface Plan {
  readonly post: Post
  readonly mail: Parameters<typeof send>[2]
}

/** Who a notice is for, and what it says; undefined when there is nothing to say any more. */
type Written =
  | { readonly type: 'written'; readonly to: Plan['mail']['to']; readonly rendered: RenderedMessage }
  | { readonly type: 'nothing_to_say' }

type Payload = ReturnType<typeof schedulingActions.sendNotice.payload.parse>

/** Tells one person one thing by mail. */
export const sendNotice = (world: World) =>
  handlerOf<Tx>()(schedulingActions.sendNotice, {
    prepare: async (tx, { payload, operationId }) => {
      const meeting = await readMeeting(tx, payload.meetingId)
      if (!meeting) return { type: 'obsolete', reason: 'meeting_gone' }
      const { post } = world
      // The API and the client's webhook tell the approver as well; nobody else is reached in another way.
      if (!post) {
        return payload.kind === 'approval_request'
          ? { type: 'suppressed', reason: 'mail_not_configured' }
          : MAIL_NOT_CONFIGURED
      }
      const written =
        payload.kind === 'approval_request'
          ? await approvalRequest(tx, meeting, payload)
          : await personNotice(tx, post, meeting, payload)
      if (written.type === 'nothing_to_say') return { type: 'obsolete', reason: 'nothing_to_say' }
      if (await isContactRefused(tx, written.to.address))
        return { type: 'suppressed', reason: 'contact_refused' }
      const messageId = messageIdOf(post, operationId)
      return go<Plan>({ post, mail: { ...written.rendered, messageId, to: written.to } })
    },

    perform: ({ post, mail }, attempt): Promise<Outcome<Sent>> => send(world, post, mail, attempt),

    settle: async (tx, { payload }, outcome) => {
      if (outcome.type !== 'done') return []
      const meeting = await readMeeting(tx, payload.meetingId)
      if (!meeting) return []
      const { messageId, code, at } = outcome.facts
      const { participantId, kind } = payload
      await insertContact(
        tx,
        contactOf(meeting, { participantId, kind, messageId, outcome: 'accepted', code, contactedAt: at }),
      )
      return []
    },
  })

/** The approver may know everything that is to be approved. */
const approvalRequest = async (tx: Tx, meeting: Meeting, { occasionId }: Payload): Promise<Written> => {
  const { approval, organizer, bookBy } = meeting.intent
  const { state } = meeting
  const proposal = (await readProposals(tx, meeting.id)).find(({ id }) => id === occasionId)
  if (!proposal || state.type !== 'awaiting_approval' || state.proposalId !== proposal.id) return nothing
  const address = approval.type === 'named_approver' ? approval.address : organizer.address
  const person = (await readParticipants(tx, meeting.id)).find((each) => sameAddress(each.address, address))
  const disclosed = disclose('purpose_and_people', factsFor(meeting.intent, address))
  const rendered = renderMessage('approval_request', disclosed, {
    ...readerOf(meeting, person?.timeZone),
    slot: { start: proposal.start, end: proposal.end },
    answerBy: new Date(bookBy),
  })
  return { type: 'written', to: { address, ...(person && { displayName: person.displayName }) }, rendered }
}

const personNotice = async (tx: Tx, post: Post, meeting: Meeting, payload: Payload): Promise<Written> => {
  const person = await participantOf(tx, meeting, payload.participantId)
  if (!person) return nothing
  const rendered = await renderFor(tx, post, meeting, person, payload)
  const { address, displayName } = person
  return rendered ? { type: 'written', to: { address, displayName }, rendered } : nothing
}

const nothing = { type: 'nothing_to_say' } as const

const participantOf = async (
  tx: Tx,
  meeting: Meeting,
  id: ParticipantId | undefined,
): Promise<Participant | undefined> =>
  (await readParticipants(tx, meeting.id)).find((person) => person.id === id)

const renderFor = async (
  tx: Tx,
  post: Post,
  meeting: Meeting,
  person: Participant,
  { kind, occasionId }: Payload,
): Promise<RenderedMessage | undefined> => {
  const disclosed = disclosedTo(meeting, person.address)
  const links = linksFor(post, tx.tenantId, meeting, person)
  const reader = { ...readerOf(meeting, person.timeZone), optOutLink: links.optOutLink }
  if (kind === 'withdrawn') {
    const reason = meeting.state.type === 'cancelled' ? 'cancelled' : 'not_needed'
    return renderMessage('withdrawn', disclosed, { ...reader, reason })
  }
  // A later reply of the same person has a message of its own.
  const draft = await readReplyDraft(tx, person.id)
  if (draft?.id !== occasionId) return undefined
  const view = {
    ...reader,
    link: links.link,
    answerBy: new Date(meeting.intent.bookBy),
    understood: draft.windows,
  }
  const [first, ...others] = draft.unclear.filter(isUnclear)
  return first
    ? renderMessage('clarification', disclosed, { ...view, unclear: [first, ...others] })
    : renderMessage('confirm_reading', disclosed, {
        ...view,
        zone: draft.zone ?? reader.zone,
        zoneIsOwn: true,
      })
}
