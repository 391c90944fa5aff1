import { randomUUID } from 'node:crypto'
import { createEngine, type Engine } from '@aftercommit/outbox/engine'
import { bindTenant, enqueue, supersede, throughPrisma } from '@aftercommit/outbox/enqueue'
import { openDb, type Db } from '@aftercommit/platform/db'
import { useDatabase } from '@aftercommit/testing'
import { PrismaPg } from '@prisma/adapter-pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { clinicActions } from './actions.ts'
import type { NewAppointment } from './appointment.ts'
import { bookWithPrisma } from './book-with-prisma.ts'
import { book } from './book.ts'
import { startGateway, type Gateway } from './gateway.testing.ts'
import { PrismaClient } from './generated/client.ts'
import { clinicHandlers } from './handlers.ts'
import { start, type Started } from './process.testing.ts'
import { setUp } from './set-up.ts'

const REFUSED = 'refused'
/** Lets a commit fail when everything in the transaction has been done. */
const REFUSE_AT_COMMIT = `
  create function clinic.refuse() returns trigger language plpgsql as $$
    begin raise exception 'refused at the commit'; end $$;
  create constraint trigger refuse after insert on clinic.appointment deferrable initially deferred
    for each row when (new.patient_ref = '${REFUSED}') execute function clinic.refuse()`

// Registered first, because it needs the database that is closed next.
afterAll(async () => {
  await Promise.all([pool.end(), prisma.$disconnect(), worker.close()])
  // Logins belong to the cluster, and the next run makes them again.
  for (const url of Object.values(logins)) {
    const name = new URL(url).username
    await database.owner.query(`drop owned by ${name}; drop role ${name}`)
  }
})

const database = useDatabase()
let logins: { app: string; worker: string }
let pool: pg.Pool
let prisma: PrismaClient
let worker: Db
let gateway: Gateway
let engine: Engine

beforeAll(async () => {
  const login = (name: string): string => {
    const url = new URL(database.urls.owner)
    url.username = `${url.pathname.slice(1)}_${name}`
    url.password = randomUUID()
    return url.href
  }
  logins = { app: login('app'), worker: login('worker') }
  await setUp(database.urls.owner, logins)
  await database.owner.query(REFUSE_AT_COMMIT)
  pool = new pg.Pool({ connectionString: logins.app })
  prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: logins.app }) })
  worker = openDb({ url: logins.worker, applicationName: 'clinic worker' })
})
beforeEach(async () => {
  gateway = await startGateway()
  engine = createEngine({ db: worker, registrations: clinicHandlers(gateway.url) })
})
afterEach(() => gateway.stop())

const newAppointment = (): NewAppointment => ({
  appointmentId: randomUUID(),
  patientRef: `patient-${randomUUID()}`,
  startsAt: new Date('2027-03-01T09:00:00Z'),
})

const confirmationOf = async ({ appointmentId }: NewAppointment): Promise<string | undefined> => {
  const { rows } = await database.owner.query<{ confirmation: string }>(
    'select confirmation from clinic.appointment where appointment_id = $1',
    [appointmentId],
  )
  return rows[0]?.confirmation
}
const outboxRows = async (clinicId: string): Promise<number> => {
  const { rowCount } = await database.owner.query('select from outbox where tenant_id = $1', [clinicId])
  return rowCount ?? 0
}

type Book = (clinicId: string, appointment: NewAppointment) => Promise<void>
const doors: readonly (readonly [string, Book])[] = [
  ['pg', (clinicId, appointment) => book(pool, clinicId, appointment)],
  ['Prisma', (clinicId, appointment) => bookWithPrisma(prisma, clinicId, appointment)],
]

describe.each(doors)('an appointment that is booked through %s', (_, bookThere) => {
  test('is confirmed to the patient exactly once after the commit', async () => {
    const [clinicId, appointment] = [randomUUID(), newAppointment()]
    await bookThere(clinicId, appointment)
    expect([await outboxRows(clinicId), gateway.calls(), await confirmationOf(appointment)]).toEqual([
      1,
      0,
      'pending',
    ])
    await engine.drain()
    await engine.drain()
    expect(gateway.sent).toEqual([appointment.patientRef])
    expect([await outboxRows(clinicId), gateway.calls(), await confirmationOf(appointment)]).toEqual([
      0,
      1,
      'sent',
    ])
  })

  test('leaves no row and no message when its transaction does not commit', async () => {
    const [clinicId, appointment] = [randomUUID(), { ...newAppointment(), patientRef: REFUSED }]
    await expect(bookThere(clinicId, appointment)).rejects.toThrow('refused at the commit')
    await engine.drain()
    expect([await outboxRows(clinicId), gateway.calls(), await confirmationOf(appointment)]).toEqual([
      0,
      0,
      undefined,
    ])
  })

  test('is not booked twice, and nobody is told twice', async () => {
    const [clinicId, appointment] = [randomUUID(), newAppointment()]
    await bookThere(clinicId, appointment)
    await expect(bookThere(clinicId, appointment)).rejects.toThrow()
    await engine.drain()
    expect(gateway.sent).toEqual([appointment.patientRef])
  })
})

describe('when processes are killed', () => {
  const running: Started[] = []
  afterEach(async () => {
    for (const each of running.splice(0)) await each.kill()
  })
  const started = async (file: string, env: Readonly<Record<string, string>>): Promise<Started> => {
    const each = await start(file, env)
    running.push(each)
    return each
  }
  const startWorker = (): Promise<Started> =>
    started('./worker.ts', { WORKER_DATABASE_URL: logins.worker, GATEWAY_URL: gateway.url })

  test('the message of an application that died after its commit goes out later, once', async () => {
    const clinicId = randomUUID()
    const app = await started('./app.ts', { APP_DATABASE_URL: logins.app, CLINIC_ID: clinicId })
    const { patientRef, startsAt } = newAppointment()
    const answer = await fetch(app.ready.url ?? '', {
      method: 'POST',
      body: JSON.stringify({ patientRef, startsAt }),
    })
    expect(answer.status).toBe(201)
    await app.kill()
    expect([gateway.calls(), await outboxRows(clinicId)]).toEqual([0, 1])
    const held = gateway.holdNext()
    const heir = await startWorker()
    await held.arrived
    held.open()
    await heir.stop()
    expect([gateway.sent, await outboxRows(clinicId)]).toEqual([[patientRef], 0])
  })

  test('the call of a worker that died in the middle of it is made again, and has one effect', async () => {
    const [clinicId, appointment] = [randomUUID(), newAppointment()]
    await book(pool, clinicId, appointment)
    const lost = gateway.holdNext()
    const first = await startWorker()
    await lost.arrived
    await first.kill()
    lost.open()
    expect([gateway.calls(), await confirmationOf(appointment)]).toEqual([1, 'pending'])
    // Its lease ends, and then the pause before the next attempt.
    const { leaseMs, backoff } = clinicActions.sendConfirmation
    await database.advanceClock(leaseMs)
    await engine.drain()
    await database.advanceClock(backoff.maxMs)
    await engine.drain()
    expect([gateway.calls(), gateway.sent]).toEqual([2, [appointment.patientRef]])
    expect(await confirmationOf(appointment)).toBe('sent')
  })
})

describe('the application’s login', () => {
  test('cannot touch the outbox but through its two functions', async () => {
    for (const statement of ['select from outbox', 'delete from outbox_dead', 'select outbox_due(1)']) {
      await expect(pool.query(statement)).rejects.toThrow('permission denied')
    }
  })

  test('enqueues nothing without a tenant', async () => {
    const request = clinicActions.sendConfirmation.request({ appointmentId: randomUUID() })
    await expect(enqueue({ sql: pool }, [request])).rejects.toThrow('no tenant is set')
  })

  test('sees no other clinic’s appointments', async () => {
    const [clinicId, appointment] = [randomUUID(), newAppointment()]
    await book(pool, clinicId, appointment)
    const seenBy = (tenantId: string): Promise<number> =>
      prisma.$transaction(async (tx) => {
        await bindTenant(throughPrisma(tx), tenantId)
        return tx.appointment.count({ where: { appointmentId: appointment.appointmentId } })
      })
    expect([await seenBy(clinicId), await seenBy(randomUUID())]).toEqual([1, 0])
    await engine.drain()
  })

  test('takes back what has not begun, in the transaction that cancels', async () => {
    const [clinicId, appointment] = [randomUUID(), newAppointment()]
    await book(pool, clinicId, appointment)
    const { appointmentId: id } = appointment
    const { name } = clinicActions.sendConfirmation
    const taken = await prisma.$transaction(async (tx) => {
      const sql = throughPrisma(tx)
      await bindTenant(sql, clinicId)
      return supersede({ sql }, { type: 'appointment', id }, [name], 'cancelled')
    })
    await engine.drain()
    expect([taken, gateway.calls()]).toEqual([{ ended: 1, inFlight: 0 }, 0])
  })
})
