import { done, go, handlerOf, type Outcome } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from '../actions.ts'
import type { ClientMessage } from '../message.ts'
import { disableEndpoint, readAnyMeeting, readEndpoint } from '../store.ts'
import { callContext, deadOutOfReach, type World } from './world.ts'

interface Plan {
  readonly url: string
  readonly id: string
  readonly body: string
  readonly secret: string
}

const THROTTLE_DEFAULT_MS = 60_000
/** Standard Webhooks: 410 means that nothing shall be sent there any more. */
const ENDPOINT_GONE = 'endpoint_gone'

/** One signed message. It names the meeting and the occasion; who is in it and where it stands, the client asks the API. */
export const notifyClient = (world: World) =>
  handlerOf<Tx>()(schedulingActions.notifyClient, {
    prepare: async (tx, { payload, operationId }) => {
      const endpoint = await readEndpoint(tx, payload.endpointId)
      if (endpoint?.state !== 'active') return { type: 'suppressed', reason: 'endpoint_disabled' }
      // A meeting that still waits to be told something has messages too: it asks for what is missing.
      const meeting = await readAnyMeeting(tx, payload.meetingId)
      if (!meeting) return { type: 'obsolete', reason: 'meeting_gone' }
      // Built from the row alone, so that a message sent twice is the same message.
      const { event, meetingId, occasionId } = payload
      const message: ClientMessage = { type: event, data: { meetingId, occasionId } }
      const body = JSON.stringify(message)
      const opened = world.webhookSecretOf(tx.tenantId, endpoint)
      if (opened.type === 'unreadable') return deadOutOfReach({ code: 'credential_unreadable' })
      return go<Plan>({ url: endpoint.url, id: operationId, body, secret: opened.secret })
    },

    perform: async (plan, attempt): Promise<Outcome<undefined>> => {
      const answer = await world.webhooks.deliver(
        { ...plan, timestamp: attempt.now },
        callContext(world, attempt),
      )
      switch (answer.type) {
        case 'accepted':
          return done(undefined)
        case 'throttled':
          return {
            type: 'throttled',
            code: `status_${answer.status}`,
            afterMs: answer.retryAfterMs ?? THROTTLE_DEFAULT_MS,
          }
        case 'uncertain':
        case 'not_sent':
          return { type: 'retry', code: answer.code }
        case 'refused':
          // Receivers answer 4xx while they are being repaired, too; only "gone" is final.
          if (answer.reason === 'gone') return { type: 'suppressed', reason: ENDPOINT_GONE }
          return { type: 'retry', code: `${answer.reason}_${answer.status}` }
        case 'forbidden_address':
          return { type: 'dead', class: 'validation', code: answer.code, owner: 'client_integration' }
      }
    },

    settle: async (tx, { payload }, outcome) => {
      if (outcome.type === 'suppressed' && outcome.reason === ENDPOINT_GONE) {
        await disableEndpoint(tx, payload.endpointId)
      }
      return []
    },
  })
