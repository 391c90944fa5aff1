/** The completion contract, judged from outside: by the API, and by what the provider and the client hold. */
import { simulatorControl, type LedgerEntry } from '@aftercommit/simulator'
import type { Stack } from './stack.ts'
import { duePending, type Story } from './story.ts'

export interface Verdict {
  readonly passed: boolean
  readonly checks: readonly { readonly name: string; readonly passed: boolean }[]
  /** Every fault that was asked for, at a provider or to a process, and when it fired. */
  readonly faults: readonly {
    readonly id: string
    readonly asked: unknown
    readonly fired: readonly { readonly at: string }[]
  }[]
  readonly ledger: readonly LedgerEntry[]
}

const PAGE_LINES_MAX = 80

export const judge = async (stack: Stack, story: Story): Promise<Verdict> => {
  const control = simulatorControl(stack.simulatorUrl)
  const [scripted, ledger, events, inbox] = await Promise.all([
    control.readFaults(),
    control.readLedger(),
    control.readEvents(story.script.organizer.address),
    control.readWebhooks(story.webhookName),
  ])
  const { meeting, trace, page, script } = story
  const faults = [
    ...scripted.map(({ id, provider, operation, act, fired }) => ({
      id,
      asked: { provider, operation, act },
      fired: fired.map(({ at }) => ({ at })),
    })),
    ...story.blows,
  ]
  const live = events.filter(({ status }) => status !== 'cancelled')
  const approvedGuests = script.people
    .filter(({ address }) => address !== script.organizer.address)
    .map(({ address }) => address)
    .sort()
  const guests = live.flatMap(({ attendees }) => attendees.map(({ address }) => address))
  const told = inbox.received.filter(({ body, verified }) => verified && body.includes('"meeting.confirmed"'))
  const checks = [
    { name: 'the meeting is confirmed', passed: meeting.state.type === 'confirmed' },
    { name: 'nothing is left to do', passed: duePending(trace).length === 0 },
    {
      name: 'every arranged fault fired',
      passed: faults.every(({ fired }) => fired.length > 0) && faults.length > 0,
    },
    {
      name: 'the provider made exactly one event',
      passed: ledger.filter(({ effect }) => effect === 'event_created').length === 1 && live.length === 1,
    },
    {
      name: 'exactly the approved people are invited',
      passed:
        JSON.stringify([...new Set(guests)].filter((guest) => guest !== script.organizer.address).sort()) ===
        JSON.stringify(approvedGuests),
    },
    {
      name: 'it stands at the approved time',
      passed: Date.parse(live[0]?.start ?? '') === Date.parse(meeting.proposal?.start ?? '-'),
    },
    { name: 'the client was told once, and could check who told it', passed: told.length === 1 },
    {
      name: 'the trace tells all of it on one page, and names nobody',
      passed:
        page.split('\n').length <= PAGE_LINES_MAX &&
        /^STANDS +confirmed /m.test(page) &&
        script.people.every(({ name, address }) => !page.includes(address) && !page.includes(name)),
    },
  ]
  return {
    passed: checks.every(({ passed }) => passed),
    checks,
    faults,
    ledger,
  }
}
