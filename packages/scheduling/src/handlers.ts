/** Everything scheduling does to the world: one handler per action, or it does not compile. */
import type { Handlers, Registration } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingActions } from './actions.ts'
import { askParticipant } from './handlers/ask-participant.ts'
import { cancelEvent, sweepEvent } from './handlers/cancel-event.ts'
import { changeEvent } from './handlers/change-event.ts'
import { findTime } from './handlers/find-time.ts'
import { notifyClient } from './handlers/notify-client.ts'
import { reachDeadline } from './handlers/reach-deadline.ts'
import { readAvailability } from './handlers/read-availability.ts'
import { readBackEvent } from './handlers/read-back-event.ts'
import { sendNotice } from './handlers/send-notice.ts'
import { watchEvent } from './handlers/watch-event.ts'
import type { World } from './handlers/world.ts'
import { writeEvent } from './handlers/write-event.ts'

export { schedulingActions }
export type { Post } from './handlers/mail.ts'
export type { OpenedCalendar, OpenedSecret, World } from './handlers/world.ts'
export { replaceCredential } from './store.ts'
export type { CalendarConnection, WebhookEndpoint } from './store.ts'

export const schedulingHandlers = (world: World): readonly Registration<Tx>[] => {
  const handlers = {
    readAvailability: readAvailability(world),
    findTime: findTime(),
    writeEvent: writeEvent(world),
    readBackEvent: readBackEvent(world),
    changeEvent: changeEvent(world),
    cancelEvent: cancelEvent(world),
    sweepEvent: sweepEvent(world),
    watchEvent: watchEvent(world),
    askParticipant: askParticipant(world),
    sendNotice: sendNotice(world),
    reachDeadline: reachDeadline(),
    notifyClient: notifyClient(world),
  } satisfies Handlers<typeof schedulingActions, Tx>
  return Object.values(handlers)
}
