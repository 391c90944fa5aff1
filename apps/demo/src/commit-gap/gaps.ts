/** What is compared: ways to make an effect follow a commit, the places where a process may die, and who waits for it. */

export const ways = ['inline_call', 'callback', 'memory_queue', 'swept_status', 'outbox'] as const
export type WayName = (typeof ways)[number]

/** In the order in which a booking passes them. */
export const gaps = ['before_commit', 'before_call', 'during_call', 'after_effect', 'after_answer'] as const
export type Gap = (typeof gaps)[number]

/** Where the process itself says that it has come, and waits to be killed; in the others it waits for the provider. */
export type HaltPoint = Exclude<Gap, 'during_call' | 'after_effect'>

/** Who gets no answer either asks again under the same Idempotency-Key, or is gone. */
export const customers = ['retries', 'leaves'] as const
export type Customer = (typeof customers)[number]

/** The inline call makes the customer wait for the provider; the others answer as soon as the booking is committed. */
export const answersAtCommit: Readonly<Record<WayName, boolean>> = {
  inline_call: false,
  callback: true,
  memory_queue: true,
  swept_status: true,
  outbox: true,
}
