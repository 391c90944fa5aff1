import { Router } from 'express'
import type { Answer, Call, Operation } from '../exchange.ts'
import { serve } from '../exchange.ts'
import type { World } from '../state.ts'
import { mailboxAddressOf } from './access.ts'
import { requestIds } from './errors.ts'
import { cancelEvent, createEvent, deleteEvent, getEvent, patchEvent } from './events.ts'
import { listEvents } from './list.ts'
import { getSchedule, queriedAddresses } from './schedule.ts'
import { grantToken, openidConfiguration, personOfRefreshToken } from './sign-in.ts'

type Answering = (world: World, call: Call) => Answer

const microsoft =
  (world: World, stopping: AbortSignal) =>
  (operation: string, addresses: Operation['addresses'], answer: Answering) =>
    serve(world, stopping, {
      provider: 'microsoft',
      operation,
      addresses,
      answer: (call) => answer(world, call),
      headers: requestIds,
    })

/** Microsoft Graph v1.0, to be mounted at the root that stands for graph.microsoft.com. */
export const graphRoutes = (world: World, stopping: AbortSignal): Router => {
  const router = Router()
  const answering = microsoft(world, stopping)
  const mailbox: Operation['addresses'] = (call) => [mailboxAddressOf(world, call)]
  const owners = ['/v1.0/me', '/v1.0/users/:user']
  const under = (...tails: string[]) => owners.flatMap((owner) => tails.map((tail) => `${owner}${tail}`))
  const events = under('/events', '/calendar/events', '/calendars/:calendarId/events')
  const event = under('/events/:eventId', '/calendar/events/:eventId')

  router.post(
    under('/calendar/getSchedule'),
    answering(
      'calendar.getSchedule',
      (call) => [mailboxAddressOf(world, call), ...queriedAddresses(call)],
      getSchedule,
    ),
  )
  router.post(events, answering('events.create', mailbox, createEvent))
  router.get(events, answering('events.list', mailbox, listEvents))
  router.get(event, answering('events.get', mailbox, getEvent))
  router.patch(event, answering('events.patch', mailbox, patchEvent))
  router.delete(event, answering('events.delete', mailbox, deleteEvent))
  router.post(
    event.map((path) => `${path}/cancel`),
    answering('events.cancel', mailbox, cancelEvent),
  )
  return router
}

/** Microsoft's sign-in, to be mounted at the root that stands for login.microsoftonline.com. */
export const loginRoutes = (world: World, stopping: AbortSignal): Router => {
  const router = Router()
  const answering = microsoft(world, stopping)
  router.post(
    '/:tenant/oauth2/v2.0/token',
    answering('token', (call) => [personOfRefreshToken(world, call)?.address], grantToken),
  )
  router.get(
    '/:tenant/v2.0/.well-known/openid-configuration',
    answering('openid.discovery', () => [], openidConfiguration),
  )
  return router
}
