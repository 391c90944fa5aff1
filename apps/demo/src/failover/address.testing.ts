/** One address that leads now here and now there, or nowhere: what a platform's virtual address or proxy does. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface Address {
  readonly port: number
  /** Whoever is connected is cut off; whoever comes from now on is led there. */
  leadTo(port: number): void
  /** Whoever is connected is cut off, and nobody is let in. */
  close(): void
  stop(): Promise<void>
}

export const openAddress = async (port: number): Promise<Address> => {
  let target: number | undefined = port
  const open = new Set<Socket>()
  const keep = (socket: Socket): void => {
    open.add(socket)
    socket.on('close', () => open.delete(socket))
    // Its other end hears of it by the end of its own connection.
    socket.on('error', () => undefined)
  }
  const cut = (): void => {
    for (const socket of open) socket.resetAndDestroy()
  }
  const server = createServer((client) => {
    keep(client)
    if (target === undefined) {
      client.resetAndDestroy()
      return
    }
    const behind = connect(target, '127.0.0.1')
    keep(behind)
    client.pipe(behind).pipe(client)
    client.on('close', () => behind.destroy())
    behind.on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    leadTo: (next) => {
      target = next
      cut()
    },
    close: () => {
      target = undefined
      cut()
    },
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
