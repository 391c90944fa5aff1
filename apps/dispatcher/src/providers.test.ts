import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { newSealingKey, sealingOf, type Seal } from '@aftercommit/platform/sealing'
import {
  schedulingHandlers,
  type CalendarConnection,
  type WebhookEndpoint,
} from '@aftercommit/scheduling/handlers'
import { worldOf, type ProviderSettings } from './providers.ts'

const settings: ProviderSettings = {
  google: { clientId: 'test', clientSecret: randomUUID() },
  microsoft: { clientId: randomUUID(), clientSecret: randomUUID(), tenant: 'common' },
  webhookAllowLoopback: [],
  callTimeoutMs: 1_000,
}
const { seal, unseal } = sealingOf(newSealingKey('first'))
const tenantId = randomUUID()
const world = worldOf(settings, unseal)

const refreshCredential = () =>
  JSON.stringify({ type: 'refresh_token', refreshToken: randomBytes(24).toString('base64url') })

interface Sealing {
  readonly sealedBy?: Seal
  readonly of?: string
  readonly provider?: CalendarConnection['provider']
}

const connectionWith = (
  secret: string,
  { sealedBy = seal, of = tenantId, provider = 'google' }: Sealing = {},
): CalendarConnection => {
  const id = randomUUID() as CalendarConnection['id']
  const sealedCredential = sealedBy(secret, `${of}/${id}`)
  return { id, provider, address: 'ada@google.example', sealedCredential, state: 'active' }
}

describe('a connection', () => {
  test.each(['google', 'microsoft'] as const)('opens as a calendar of its provider: %s', (provider) => {
    const opened = world.calendarOf(tenantId, connectionWith(refreshCredential(), { provider }))
    expect(opened).toMatchObject({ type: 'opened', calendar: { provider } })
  })

  test('is opened once, so that its access token is asked for once', () => {
    const connection = connectionWith(refreshCredential())
    const first = world.calendarOf(tenantId, connection)
    const again = world.calendarOf(tenantId, { ...connection })
    expect(first.type === 'opened' && again.type === 'opened' && first.calendar === again.calendar).toBe(true)
  })

  test('is opened anew when its credential was replaced', () => {
    const connection = connectionWith(refreshCredential())
    const renewed = seal(refreshCredential(), `${tenantId}/${connection.id}`)
    const before = world.calendarOf(tenantId, connection)
    const after = world.calendarOf(tenantId, { ...connection, sealedCredential: renewed })
    expect(before.type === 'opened' && after.type === 'opened' && before.calendar !== after.calendar).toBe(
      true,
    )
  })

  test('stays readable while its key is in the ring, and is unreadable afterwards', () => {
    const [old, young] = [newSealingKey('old'), newSealingKey('young')]
    const connection = connectionWith(refreshCredential(), { sealedBy: sealingOf(old).seal })
    const typeUnder = (ring: string) =>
      worldOf(settings, sealingOf(ring).unseal).calendarOf(tenantId, connection).type
    expect(typeUnder(`${young},${old}`)).toBe('opened')
    expect(typeUnder(young)).toBe('unreadable')
  })

  test("is unreadable in another tenant's or another connection's place", () => {
    const connection = connectionWith(refreshCredential())
    expect(world.calendarOf(randomUUID(), connection)).toEqual({ type: 'unreadable' })
    const moved = { ...connection, id: connectionWith('').id }
    expect(world.calendarOf(tenantId, moved)).toEqual({ type: 'unreadable' })
  })

  test.each([
    '',
    'not json',
    '{}',
    '{"type":"refresh_token"}',
    '{"type":"password","refreshToken":"x"}',
    'null',
  ])('is unreadable when it holds no credential: %j', (secret) => {
    expect(world.calendarOf(tenantId, connectionWith(secret))).toEqual({ type: 'unreadable' })
  })

  test.each([0, 1, 10, 40])('is unreadable when what was stored is damaged at byte %i', (index) => {
    const connection = connectionWith(refreshCredential())
    const sealedCredential = Uint8Array.from(connection.sealedCredential)
    sealedCredential[index] = (sealedCredential[index] ?? 0) ^ 1
    expect(world.calendarOf(tenantId, { ...connection, sealedCredential })).toEqual({ type: 'unreadable' })
    const cut = connection.sealedCredential.subarray(0, index)
    expect(world.calendarOf(tenantId, { ...connection, sealedCredential: cut })).toEqual({
      type: 'unreadable',
    })
  })
})

test("a webhook's secret opens in its own place and nowhere else", () => {
  const id = randomUUID() as WebhookEndpoint['id']
  const secret = randomBytes(32).toString('base64')
  const sealedSecret = seal(secret, `${tenantId}/${id}`)
  const endpoint: WebhookEndpoint = { id, url: 'https://client.example', sealedSecret, state: 'active' }
  expect(world.webhookSecretOf(tenantId, endpoint)).toEqual({ type: 'opened', secret })
  expect(world.webhookSecretOf(randomUUID(), endpoint)).toEqual({ type: 'unreadable' })
})

test('every action has a handler, under a name of its own', () => {
  const names = schedulingHandlers(world).map(({ action }) => action.name)
  expect(new Set(names).size).toBe(names.length)
})
