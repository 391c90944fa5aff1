/** The pure half of the engine: what a domain needs to say which actions exist and how they end. */
export * from './action.ts'
export { guaranteeTable } from './guarantees.ts'
export * from './outcome.ts'
export * from './retry.ts'
export * from './states.ts'
export { handlerOf, payloadHandlerOf } from './handler.ts'
export type { Attempt, EngineTx, Envelope, Handler, Handlers, Registration } from './handler.ts'
export type { Sql } from './connection.ts'
