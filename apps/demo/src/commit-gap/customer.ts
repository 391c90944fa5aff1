/** Who books: sends a request, and without an answer either sends it again under the same key, or is gone. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'

const StoredBooking = z.object({
  key: z.uuid(),
  state: z.enum(['pending', 'confirmed', 'failed']),
  eventId: z.string().nullable(),
})
export type StoredBooking = z.infer<typeof StoredBooking>

export interface Request {
  readonly key: string
  /** True with the application's answer, false when the connection broke. */
  readonly answered: Promise<boolean>
}

export const book = (appUrl: string, calendar: string, key: string = randomUUID()): Request => {
  const sent = fetch(appUrl, {
    method: 'POST',
    headers: { 'idempotency-key': key },
    body: JSON.stringify({ calendar, startsAt: '2027-03-01T09:00:00Z' }),
  })
  const answered = sent.then(
    async (response) => {
      if (!response.ok)
        throw new Error(`the booking was answered ${response.status}: ${await response.text()}`)
      return true
    },
    () => false,
  )
  return { key, answered }
}

/** What the application says of a booking, to whoever asks; undefined when it knows none. */
export const look = async (appUrl: string, key: string): Promise<StoredBooking | undefined> => {
  const answer: unknown = await (await fetch(`${appUrl}/${key}`)).json()
  return StoredBooking.nullable().parse(answer) ?? undefined
}
