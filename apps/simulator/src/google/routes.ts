import { Router } from 'express'
import type { Answer, Call, Operation } from '../exchange.ts'
import { serve } from '../exchange.ts'
import type { World } from '../state.ts'
import { calendarAddressOf, callerOf, grantToken, personOfRefreshToken } from './access.ts'
import { deleteEvent, getEvent, insertEvent, patchEvent } from './events.ts'
import { queriedAddresses, queryFreeBusy } from './freebusy.ts'
import { listEvents } from './list.ts'

/** Google's token endpoint and Calendar v3, to be mounted at the root that stands for googleapis.com. */
export const googleRoutes = (world: World, stopping: AbortSignal): Router => {
  const router = Router()
  const answering = (
    operation: string,
    addresses: Operation['addresses'],
    answer: (world: World, call: Call) => Answer,
  ) =>
    serve(world, stopping, {
      provider: 'google',
      operation,
      addresses,
      answer: (call) => answer(world, call),
      headers: ({ requestId }) => ({ 'x-request-id': requestId }),
    })
  const calendar: Operation['addresses'] = (call) => [calendarAddressOf(world, call)]
  const events = '/calendar/v3/calendars/:calendarId/events'

  router.post(
    '/token',
    answering('token', (call) => [personOfRefreshToken(world, call)?.address], grantToken),
  )
  router.post(
    '/calendar/v3/freeBusy',
    answering(
      'freebusy.query',
      (call) => [callerOf(world, call)?.address, ...queriedAddresses(call)],
      queryFreeBusy,
    ),
  )
  router.post(events, answering('events.insert', calendar, insertEvent))
  router.get(events, answering('events.list', calendar, listEvents))
  router.get(`${events}/:eventId`, answering('events.get', calendar, getEvent))
  router.patch(`${events}/:eventId`, answering('events.patch', calendar, patchEvent))
  router.delete(`${events}/:eventId`, answering('events.delete', calendar, deleteEvent))
  return router
}
