import { randomUUID } from 'node:crypto'
import { withServer } from '../server.testing.ts'
import type { Asked, Scripted } from '../server.testing.ts'
import { contractContext } from './contract.testing.ts'
import { microsoftRefreshTokenSource } from './microsoft-tokens.ts'

describe('Microsoft’s sign-in', () => {
  const client = { clientId: 'client', clientSecret: randomUUID(), tenant: 'organizations' }

  it('is not spoken to over plain http, except on this machine', () => {
    const at = (loginUrl: string) => () =>
      microsoftRefreshTokenSource({ ...client, refreshToken: 'r', loginUrl })
    expect(at('http://login.example.com')).toThrow(TypeError)
    expect(at('http://127.0.0.1.example.com')).toThrow(TypeError)
    expect(at('https://login.example.com')).not.toThrow()
    expect(at('http://localhost:4003/login')).not.toThrow()
  })

  /** A sign-in whose refresh tokens count up, one with each answer. */
  const rotating = () => {
    let issued = 0
    return (): Scripted => {
      issued += 1
      const [access_token, refresh_token] = [`a${issued}`, `r${issued}`]
      return { status: 200, body: { token_type: 'Bearer', access_token, expires_in: 3600, refresh_token } }
    }
  }
  const gate = () => {
    let open = (): void => undefined
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    return { opened, open }
  }
  const refreshTokensIn = (seen: readonly Asked[]) =>
    seen.map(({ body }) => new URLSearchParams(body).get('refresh_token'))

  it('replaces the refresh token, which is told and used from then on', async () => {
    await withServer(rotating(), async (url, seen) => {
      const told: string[] = []
      let now = new Date('2026-03-24T10:00:00Z')
      const tokens = microsoftRefreshTokenSource({
        ...client,
        refreshToken: 'r0',
        loginUrl: `${url}/login`,
        now: () => now,
        onRotated: (refreshToken) => {
          told.push(refreshToken)
        },
      })
      expect(await tokens(contractContext())).toEqual({ type: 'token', accessToken: 'a1' })
      now = new Date('2026-03-24T12:00:00Z')
      expect(await tokens(contractContext())).toEqual({ type: 'token', accessToken: 'a2' })
      expect(told).toEqual(['r1', 'r2'])
      expect(refreshTokensIn(seen)).toEqual(['r0', 'r1'])
      expect(seen[0]?.url).toMatch(/^\/login\/organizations\/oauth2\/v2.0\/token(\?|$)/)
    })
  })

  it('hands out no access token before the replacement is kept, and to many who ask at once tells it once', async () => {
    await withServer(rotating(), async (url, seen) => {
      const [told, kept] = [gate(), gate()]
      const steps: string[] = []
      const tokens = microsoftRefreshTokenSource({
        ...client,
        refreshToken: 'r0',
        loginUrl: `${url}/login`,
        onRotated: async (refreshToken) => {
          steps.push(`told ${refreshToken}`)
          told.open()
          await kept.opened
          steps.push('kept')
        },
      })
      const asked = [1, 2, 3].map(async () => {
        await tokens(contractContext())
        steps.push('handed out')
      })
      await told.opened
      expect(steps).toEqual(['told r1'])
      kept.open()
      await Promise.all(asked)
      expect(steps).toEqual(['told r1', 'kept', 'handed out', 'handed out', 'handed out'])
      expect(seen).toHaveLength(1)
    })
  })

  it('is told anew of a replacement that could not be kept: the old token is asked with until one is', async () => {
    await withServer(rotating(), async (url, seen) => {
      const told: string[] = []
      const tokens = microsoftRefreshTokenSource({
        ...client,
        refreshToken: 'r0',
        loginUrl: `${url}/login`,
        onRotated: (refreshToken) => {
          told.push(refreshToken)
          if (told.length === 1) throw new Error('the store is away')
        },
      })
      await expect(tokens(contractContext())).rejects.toThrow('the store is away')
      expect(await tokens(contractContext())).toEqual({ type: 'token', accessToken: 'a2' })
      expect(told).toEqual(['r1', 'r2'])
      expect(refreshTokensIn(seen)).toEqual(['r0', 'r0'])
    })
  })
})
