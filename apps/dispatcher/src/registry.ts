import type { Registration } from '@aftercommit/outbox'
import type { Tx } from '@aftercommit/platform/db'
import { schedulingHandlers, type World } from '@aftercommit/scheduling/handlers'

/** Every handler there is: all that this system can do to the world. */
export const registrationsOf = (world: World): readonly Registration<Tx>[] => [...schedulingHandlers(world)]
