import { randomUUID } from 'node:crypto'
import { withServer } from '../server.testing.ts'
import type { Scripted } from '../server.testing.ts'
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

  it('replaces the refresh token, which is told and used from then on', async () => {
    let issued = 0
    const rotating = (): Scripted => {
      issued += 1
      return {
        status: 200,
        body: {
          token_type: 'Bearer',
          access_token: `a${issued}`,
          expires_in: 3600,
          refresh_token: `r${issued}`,
        },
      }
    }
    await withServer(rotating, async (url, seen) => {
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
      expect(seen.map(({ body }) => new URLSearchParams(body).get('refresh_token'))).toEqual(['r0', 'r1'])
      expect(seen[0]?.url).toMatch(/^\/login\/organizations\/oauth2\/v2.0\/token(\?|$)/)
    })
  })
})
