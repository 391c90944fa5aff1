import { Router } from 'express'
import type { RequestHandler } from 'express'
import { z } from 'zod'
import { BusyBlock, Consistency, EventAct, FaultSpec, Paging, People, WebhookSettings } from './contract.ts'
import { addFault, clearFaults, faultView, findFault, firedAtLeast } from './faults.ts'
import { eventView } from './ledger.ts'
import { addMailboxRoutes } from './mail/control.ts'
import { actOnEvent, objectionTo } from './people-acts.ts'
import { putPerson, resetWorld } from './state.ts'
import type { World } from './state.ts'
import { refuse, taking } from './taking.ts'
import { inboxNamed } from './webhooks.ts'
import { isZone } from './zone.ts'

const waitMaxMs = 20_000

/** The control API: how a test or a demo scripts the simulated world and reads what happened in it. */
export const controlRoutes = (world: World): Router => {
  const router = Router()

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
      const objection = objectionTo(event, act)
      if (objection !== undefined) {
        refuse(response, 409, objection)
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
  addPeopleRoutes(router, world)
  addFaultRoutes(router, world)
  addWebhookRoutes(router, world)
  addMailboxRoutes(router, world)
  return router
}

const addPeopleRoutes = (router: Router, world: World): void => {
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
  router.post(
    '/people/:address/busy',
    taking(BusyBlock, (block, { params }, response) => {
      const person = world.people.get(z.string().parse(params.address).toLowerCase())
      if (!person) {
        refuse(response, 404, 'There is no such person.')
        return
      }
      person.busy.push(block)
      response.status(204).end()
    }),
  )
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

/** Answers for every path and method that the control API does not have. */
export const unknownControl: RequestHandler = ({ method, path }, response) =>
  refuse(response, 404, `The control API has no ${method} ${path}.`)
