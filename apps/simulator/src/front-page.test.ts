import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { controlRoutes } from './control.ts'
import { controlTable } from './front-page.ts'
import { emptyWorld } from './state.ts'
import { ada, startTestWorld } from './world.testing.ts'
import type { TestWorld } from './world.testing.ts'

describe('the front page', () => {
  let world: TestWorld
  beforeAll(async () => {
    world = await startTestWorld()
  })
  afterAll(() => world.stop())

  it('lists every route of the control API, and no other', () => {
    const routes = controlRoutes(emptyWorld()).stack.flatMap(({ route }) =>
      route ? route.stack.map(({ method }) => `${method.toUpperCase()} ${route.path}`) : [],
    )
    expect(controlTable.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes.sort())
  })

  it('says what this is and who is in it, and its links lead somewhere', async () => {
    const answer = await fetch(`${world.url}/`)
    const page = await answer.text()
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page).toContain('The simulated world')
    expect(page).toContain(ada)
    const links = [...page.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path)
    expect(links).toContain(`/control/calendars/${encodeURIComponent(ada)}/events`)
    for (const path of links) expect([path, (await fetch(`${world.url}${path}`)).status]).toEqual([path, 200])
  })

  it('shows an address as text, whatever is in it', async () => {
    const address = '<b>&"@elsewhere.example'
    await fetch(`${world.url}/control/mailboxes/${encodeURIComponent(address)}`)
    const page = await (await fetch(`${world.url}/`)).text()
    expect(page).toContain('&lt;b&gt;&amp;&quot;@elsewhere.example')
    expect(page).not.toContain('<b>')
  })
})
