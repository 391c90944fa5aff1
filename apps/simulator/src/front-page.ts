/** What whoever opens the simulator in a browser reads: what it is, who is in it, and how it is told what to do. */
import type { RequestHandler } from 'express'
import type { World } from './state.ts'

interface ControlRoute {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Under `/control`, as Express writes it. */
  readonly path: string
  readonly does: string
}

/** Every route of the control API; a test holds it against the router. */
export const controlTable: readonly ControlRoute[] = [
  { method: 'PUT', path: '/people', does: 'Adds people with calendars, or replaces them.' },
  { method: 'POST', path: '/people/:address/busy', does: 'Makes somebody busy for a while.' },
  { method: 'GET', path: '/calendars/:address/events', does: 'The events in a calendar.' },
  {
    method: 'POST',
    path: '/events/:id',
    does: 'What a person does to an event by hand: move, delete, respond.',
  },
  { method: 'GET', path: '/mailboxes/:address', does: 'The mails that an address has received.' },
  { method: 'PUT', path: '/mailboxes/:address', does: 'Whether the mailbox takes mail, and how it refuses.' },
  { method: 'GET', path: '/mailboxes/:address/links', does: 'Every link in these mails.' },
  {
    method: 'POST',
    path: '/mailboxes/:address/reply',
    does: 'Answers a mail: in words, by an absence notice, or as a bounce.',
  },
  { method: 'POST', path: '/faults', does: 'Scripts what goes wrong with the next matching calls.' },
  { method: 'GET', path: '/faults', does: 'The scripted faults, and when they struck.' },
  {
    method: 'GET',
    path: '/faults/:id',
    does: 'One of them; `?firedAtLeast=N` waits until it has struck so often.',
  },
  { method: 'POST', path: '/faults/:id/release', does: 'Lets calls go on that a fault holds.' },
  { method: 'DELETE', path: '/faults', does: 'Ends every fault.' },
  {
    method: 'PUT',
    path: '/webhooks/:name',
    does: 'Gives the receiver at /webhooks/NAME the secret that it verifies with.',
  },
  { method: 'GET', path: '/webhooks/:name', does: 'What this receiver was sent.' },
  { method: 'GET', path: '/ledger', does: 'Every effect in this world, in order.' },
  { method: 'GET', path: '/requests', does: 'Every call that was made to it.' },
  { method: 'PUT', path: '/consistency', does: 'For how many reads a new event is not seen yet.' },
  { method: 'PUT', path: '/paging', does: 'How many events one page of a list looks at.' },
  { method: 'POST', path: '/reset', does: 'Forgets everything.' },
]

export const frontPage =
  (world: World, smtpUrl: string): RequestHandler =>
  (_request, response) => {
    response.type('html').send(pageOf(world, smtpUrl))
  }

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const linkTo = (path: string, text: string): string => `<a href="${escaped(path)}">${escaped(text)}</a>`

const pageOf = (world: World, smtpUrl: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Aftercommit simulator</title></head>
<body>
<h1>The simulated world</h1>
<p>Google Calendar, Microsoft Graph, their sign-in, a mail server and webhook receivers, for demonstrations and tests.
Nothing here leaves this machine, and everything is forgotten when it stops. How to use it: docs/simulator.md.</p>
<ul>
<li>Google Calendar: <code>/google/</code></li>
<li>Microsoft Graph: <code>/graph/</code>, its sign-in: <code>/login/</code></li>
<li>Webhook receivers: <code>/webhooks/NAME</code>, any name</li>
<li>Mail server: <code>${escaped(smtpUrl)}</code></li>
</ul>
<h2>Who is in it</h2>
${peopleTable(world)}
<h2>What it can be told: the control API, below <code>/control</code></h2>
<table>
<tr><th>Method</th><th>Path</th><th>What it does</th></tr>
${controlTable.map(controlRow).join('\n')}
</table>
</body>
</html>
`

const peopleTable = ({ people, mailboxes }: World): string => {
  const addresses = [...new Set([...people.keys(), ...mailboxes.keys()])].sort()
  if (addresses.length === 0) return '<p>Nobody yet.</p>'
  const rows = addresses.map((address) => {
    const person = people.get(address)
    const at = encodeURIComponent(address)
    const calendar = person
      ? `${escaped(person.provider)}, ${escaped(person.timeZone)}: ${linkTo(`/control/calendars/${at}/events`, 'events')}`
      : 'none'
    const count = mailboxes.get(address)?.received.length ?? 0
    return `<tr><td>${escaped(address)}</td><td>${calendar}</td><td>${linkTo(`/control/mailboxes/${at}`, `${count} received`)}</td></tr>`
  })
  return `<table>\n<tr><th>Address</th><th>Calendar</th><th>Mail</th></tr>\n${rows.join('\n')}\n</table>`
}

const controlRow = ({ method, path, does }: ControlRoute): string => {
  const shown = `/control${path.replaceAll(/:(\w+)/g, '{$1}')}`
  const address = method === 'GET' && !path.includes(':') ? linkTo(shown, shown) : escaped(shown)
  return `<tr><td>${method}</td><td><code>${address}</code></td><td>${escaped(does)}</td></tr>`
}
