import { Router } from 'express'
import type { Request, RequestHandler, Response } from 'express'
import { z } from 'zod'
import { Consistency, EventAct, FaultSpec, Paging, People, WebhookSettings } from './contract.ts'
import { addFault, clearFaults, faultView, findFault, firedAtLeast } from './faults.ts'
import { eventView } from './ledger.ts'
import { actOnEvent } from './people-acts.ts'
import { putPerson, resetWorld } from './state.ts'
import type { World } from './state.ts'
import { inboxNamed } from './webhooks.ts'
import { isZone } from './zone.ts'

const waitMaxMs = 20_000

/** The control API: how a test or a demo scripts the simulated world and reads what happened in it. */
export const controlRoutes = (world: World): Router => {
  const router = Router()

  router.put(
    '/people',
    taking(People, (people, _request, response) => {
      const wrong = people.find(({ timeZone }) => !isZone(timeZone))
      if (wrong) {
        refuse(response, 400, `${wrong.timeZone} is no IANA time zone.`)
        return
      }
      for (const person of people) putPerson(world, person)
      response.status(204).end()
    }),
  )
  router.get('/ledger', (_request, response) => void response.json(world.ledger))
  router.get('/requests', (_request, response) => void response.json(world.requests))
  router.get('/calendars/:address/events', ({ params }, response) => {
    const address = params.address.toLowerCase()
    response.json(world.events.filter(({ calendarAddress }) => calendarAddress === address).map(eventView))
  })
  router.post(
    '/events/:id',
    taking(EventAct, (act, { params }, response) => {
      const event = world.events.findLast(({ id, defaultId }) => id === params.id || defaultId === params.id)
      if (!event) {
        refuse(response, 404, 'There is no such event.')
        return
      }
      actOnEvent(world, event, act, new Date())
      response.json(eventView(event))
    }),
  )
  router.put(
    '/consistency',
    taking(Consistency, ({ provider, readsMissFor }, _request, response) => {
      world.readsMissFor[provider] = readsMissFor
      response.status(204).end()
    }),
  )
  router.put(
    '/paging',
    taking(Paging, ({ provider, scannedPerPage }, _request, response) => {
      world.scannedPerPage[provider] = scannedPerPage
      response.status(204).end()
    }),
  )
  router.post('/reset', (_request, response) => {
    resetWorld(world)
    response.status(204).end()
  })
  addFaultRoutes(router, world)
  addWebhookRoutes(router, world)
  return router
}

const addFaultRoutes = (router: Router, world: World): void => {
  router.post(
    '/faults',
    taking(FaultSpec, (spec, _request, response) => {
      const fault = addFault(world, spec)
      if (!fault) {
        refuse(response, 409, `A fault named ${spec.id} exists.`)
        return
      }
      response.status(201).json(faultView(fault))
    }),
  )
  router.get('/faults', (_request, response) => void response.json(world.faults.map(faultView)))
  router.get('/faults/:id', async ({ params, query }, response) => {
    const fault = findFault(world, params.id)
    if (!fault) {
      refuse(response, 404, 'There is no such fault.')
      return
    }
    const count = z.coerce.number().int().nonnegative().default(0).safeParse(query.firedAtLeast)
    if (!count.success) {
      refuse(response, 400, 'firedAtLeast must be a count.')
      return
    }
    const reached = await firedAtLeast(fault, count.data, waitMaxMs)
    if (reached) response.json(faultView(fault))
    else refuse(response, 504, `The fault fired ${fault.fired.length} times.`)
  })
  router.post('/faults/:id/release', ({ params }, response) => {
    const fault = findFault(world, params.id)
    if (!fault) {
      refuse(response, 404, 'There is no such fault.')
      return
    }
    fault.gate.open()
    response.json(faultView(fault))
  })
  router.delete('/faults', (_request, response) => {
    clearFaults(world)
    response.status(204).end()
  })
}

const addWebhookRoutes = (router: Router, world: World): void => {
  router.put(
    '/webhooks/:name',
    taking(WebhookSettings, ({ secret }, { params }, response) => {
      const inbox = inboxNamed(world, z.string().parse(params.name))
      inbox.secret = secret
      inbox.verifying = secret !== null
      response.status(204).end()
    }),
  )
  router.get('/webhooks/:name', ({ params }, response) => {
    const { name, verifying, refused, received } = inboxNamed(world, params.name)
    response.json({ name, verifying, refused, received })
  })
}

/** A handler whose body has been validated; anything else answers 400 and what is wrong with it. */
const taking =
  <T>(
    schema: z.ZodType<T>,
    handle: (input: T, request: Request, response: Response) => void,
  ): RequestHandler =>
  (request, response) => {
    const input = schema.safeParse(readJson(request.body))
    if (input.success) handle(input.data, request, response)
    else refuse(response, 400, z.prettifyError(input.error))
  }

const readJson = (text: unknown): unknown => {
  if (typeof text !== 'string') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const refuse = (response: Response, status: number, message: string): void => {
  response.status(status).json({ error: { message } })
}
