import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { useDatabase } from '@aftercommit/testing'
import { expect, test } from '@jest/globals'
import { openDb } from './db.ts'

const database = useDatabase()

/** A way to the database that can fall silent: connections stay open, and nothing gets through any more. */
const openWay = async () => {
  const { hostname, port } = new URL(database.urls.api)
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const behind = connect(Number(port), hostname)
    for (const socket of [client, behind]) {
      open.add(socket)
      socket.on('error', () => undefined)
    }
    client.pipe(behind).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(database.urls.api)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    fallSilent: () => {
      for (const socket of open) socket.unpipe().pause()
    },
    close: () => {
      for (const socket of open) socket.destroy()
      server.close()
    },
  }
}

test('a statement to a machine that has vanished is given up, and the next one finds another way', async () => {
  const way = await openWay()
  const db = openDb({ url: way.url, applicationName: 'test silence', silenceMaxMs: 200, connectionsMax: 1 })
  try {
    await db.query('select 1')
    way.fallSilent()
    await expect(db.query('select 2')).rejects.toThrow('silent for too long')
    expect((await db.query('select 3 as n')).rows).toEqual([{ n: 3 }])

    way.fallSilent()
    const bound = db.transact(await database.createTenant(), (tx) => tx.sql.query('select 4'))
    await expect(bound).rejects.toThrow()
    expect((await db.query('select 5 as n')).rows).toEqual([{ n: 5 }])
  } finally {
    await db.close()
    way.close()
  }
})
