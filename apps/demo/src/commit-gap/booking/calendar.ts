/** The provider, as every way calls it: plain HTTP in the manner of Google Calendar v3. */
import { z } from 'zod'
import type { Booking } from './store.ts'

export interface Calendar {
  /** Makes one event, marked if asked to, and answers its id. Rejects when no answer, or another answer, came. */
  insert(
    booking: Booking,
    options?: { readonly mark?: string; readonly signal?: AbortSignal },
  ): Promise<string>
  /** Finds the event that was made under a mark. */
  find(booking: Booking, mark: string): Promise<string | undefined>
}

const LENGTH_MS = 30 * 60_000
const Token = z.object({ access_token: z.string() })
const Event = z.object({ id: z.string() })
const Events = z.object({ items: z.array(Event) })
/** A private property of the event: the provider stores it, and finds events by it. */
const MARK = 'aftercommitOperationId'

export const calendarAt = (url: string): Calendar => {
  const call = async (booking: Booking, query: string, init: RequestInit): Promise<unknown> => {
    const grant = { grant_type: 'refresh_token', client_id: 'booking', refresh_token: booking.calendar }
    const { access_token } = Token.parse(
      await answered(`${url}/google/token`, { method: 'POST', body: new URLSearchParams(grant) }),
    )
    const events = `${url}/google/calendar/v3/calendars/${encodeURIComponent(booking.calendar)}/events${query}`
    const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
    return answered(events, { ...init, headers })
  }
  return {
    insert: async (booking, { mark, signal } = {}) => {
      const end = new Date(Date.parse(booking.startsAt) + LENGTH_MS).toISOString()
      const event = {
        summary: 'Appointment',
        start: { dateTime: booking.startsAt },
        end: { dateTime: end },
        ...(mark !== undefined && { extendedProperties: { private: { [MARK]: mark } } }),
      }
      const init = { method: 'POST', body: JSON.stringify(event), signal: signal ?? null }
      return Event.parse(await call(booking, '', init)).id
    },
    find: async (booking, mark) => {
      const query = `?privateExtendedProperty=${encodeURIComponent(`${MARK}=${mark}`)}`
      return Events.parse(await call(booking, query, { method: 'GET' })).items[0]?.id
    },
  }
}

const answered = async (url: string, init: RequestInit): Promise<unknown> => {
  const response = await fetch(url, init)
  if (!response.ok) throw new Error(`the calendar answered ${response.status}`)
  return response.json()
}
