/** A program that is not ours, with a grant of its own, on Google's API. */
import { z } from 'zod'

const Token = z.object({ access_token: z.string() })
/** All that an event carries, save what Google gives each event itself. */
const Copied = z
  .looseObject({ id: z.unknown(), iCalUID: z.unknown(), etag: z.unknown() })
  .transform(({ id: _, iCalUID: _uid, etag: _etag, ...event }) => event)

export const copyEvent = async (
  simulatorUrl: string,
  refreshToken: string,
  eventId: string,
): Promise<void> => {
  const grant = { grant_type: 'refresh_token', client_id: 'another-program', refresh_token: refreshToken }
  const signedIn = await fetch(`${simulatorUrl}/google/token`, {
    method: 'POST',
    body: new URLSearchParams(grant),
  })
  const { access_token: token } = Token.parse(await signedIn.json())
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const events = `${simulatorUrl}/google/calendar/v3/calendars/primary/events`
  const original = await fetch(`${events}/${eventId}`, { headers })
  const copy = Copied.parse(await original.json())
  const made = await fetch(events, { method: 'POST', headers, body: JSON.stringify(copy) })
  if (!made.ok) throw new Error(`the event could not be copied: ${made.status} ${await made.text()}`)
}
