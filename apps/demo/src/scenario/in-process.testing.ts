/** A stage within one process: the API on a port of its own, a dispatcher that is driven by hand, and the simulator. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createApi } from '@aftercommit/api'
import { createDispatcher } from '@aftercommit/dispatcher'
import { setClock } from '@aftercommit/local-postgres/movable-clock'
import { createLog } from '@aftercommit/platform/log'
import { linkSigner } from '@aftercommit/platform/links'
import { newSealingKey, sealingOf } from '@aftercommit/platform/sealing'
import { createTenant } from '@aftercommit/platform/tenants'
import { simulatorControl, startSimulator } from '@aftercommit/simulator'
import { openTestDatabase } from '@aftercommit/testing'
import { clientOf } from './client.ts'
import { movableClock } from './clock.ts'
import type { Scenario } from './scenario.ts'
import { untilQuiet } from './settling.ts'
import { outboxLedger } from './sql.ts'
import type { Stage } from './stage.ts'

export const inProcessStage = async (scenario: Scenario): Promise<Stage> => {
  const database = await openTestDatabase('_scenario')
  const { owner } = database
  await setClock(owner, new Date(scenario.beginsAt))
  const simulator = await startSimulator()
  const ring = newSealingKey('test')
  const { seal, unseal } = sealingOf(ring)
  const links = linkSigner(ring)
  const { webhookAllowLoopback } = providersAt(simulator.url)
  const log = createLog('api', 'silent')
  const server = createApi({ db: database.api, seal, links, log, webhookAllowLoopback }).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const apiUrl = `http://127.0.0.1:${port}`
  const dispatcher = createDispatcher({
    db: database.dispatcher,
    seal,
    unseal,
    leaseMs: 60_000,
    pollMs: 50,
    providers: {
      ...providersAt(simulator.url, scenario.callTimeoutMs),
      mail: {
        smtpUrl: simulator.smtpUrl,
        requireTls: false,
        from: { address: 'meetings@aftercommit.example', displayName: 'Meetings' },
        publicUrl: apiUrl,
        links,
      },
    },
  })
  const { tenantId, apiKey } = await createTenant(database.urls.owner, 'Scenario')
  const ledger = outboxLedger(owner, tenantId)
  const noProcess = (): Promise<never> => Promise.reject(new Error('there is no process to send a signal to'))
  return {
    client: clientOf(apiUrl, apiKey),
    control: simulatorControl(simulator.url),
    simulatorUrl: simulator.url,
    ledger,
    clock: movableClock(owner),
    settle: () => untilQuiet(ledger, () => dispatcher.drain()),
    killDispatcher: noProcess,
    freezeDispatcher: noProcess,
    signals: [],
    dispatcherName: () => 'the dispatcher',
    stop: async () => {
      await simulator.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await database.close()
    },
  }
}

/** A machine that is busy with other tests is no silent provider. */
const PATIENCE_MS = 20_000

const providersAt = (url: string, callTimeoutMs = PATIENCE_MS) => ({
  google: { clientId: 'test', clientSecret: 'x', rootUrl: `${url}/google/`, tokenUrl: `${url}/google/token` },
  microsoft: {
    clientId: 'test',
    clientSecret: 'x',
    tenant: 'common',
    baseUrl: `${url}/graph/`,
    loginUrl: `${url}/login`,
  },
  webhookAllowLoopback: [url],
  callTimeoutMs,
})
