/** Holds what came of a scenario against what its file says, from outside: API, database, and the provider's ledger. */
import { z } from 'zod'
import { counted } from '../counted.ts'
import type { Play } from './play.ts'
import { countsOf, type Expected, type LedgerCounts } from './scenario.ts'

export interface Check {
  readonly name: string
  readonly passed: boolean
  /** What was found instead. */
  readonly found?: string
}

export const checkLine = ({ name, passed, found }: Check): string =>
  `  ${passed ? '✓' : '✗'} ${name}${found === undefined ? '' : `: ${found}`}`

const check = (name: string, found: unknown, expected: unknown): Check => {
  const [is, should] = [found, expected].map((each) => JSON.stringify(each))
  return is === should
    ? { name, passed: true }
    : { name, passed: false, found: `${is ?? ''} and not ${should ?? ''}` }
}

export const judge = async (play: Play): Promise<readonly Check[]> => {
  const { scenario, stage } = play
  const { meetings, ledger, dead } = scenario.expects
  const faults = await stage.control.readFaults()
  const found = await stage.control.readLedger()
  const counts = countsOf(found)
  const deadCodes = await stage.ledger.deadCodes()
  const repaired = await repairedCodes(play)
  const checks: Check[] = []
  for (const [label, expected] of Object.entries(meetings)) {
    const of = Object.keys(meetings).length > 1 ? `“${label}”: ` : ''
    checks.push(
      ...(await meetingChecks(play, label, expected)).map((each) => ({ ...each, name: of + each.name })),
    )
  }
  return [
    ...checks,
    check(
      'every fault that was arranged happened',
      faults.filter(({ fired }) => fired.length === 0).map(({ id }) => id),
      [],
    ),
    ...Object.entries(ledgerNames).map(([key, name]) => {
      const [found, expected] = [counts, ledger].map((each) => each[key as keyof LedgerCounts])
      return check(`the providers' ledger: ${counted(expected ?? 0, ...name)}`, found, expected)
    }),
    check('every message to the client was signed, and none was refused', await refusedOf(play), 0),
    check('no mail came twice', found.filter(({ duplicates = 0 }) => duplicates > 0).length, 0),
    check(`the outbox: ${dead} dead`, deadCodes.length, dead),
    check(
      'what died was a repair that somebody was told of',
      deadCodes.filter((code) => !repaired.has(code)),
      [],
    ),
    check('the outbox: nothing is due that was not done', (await stage.ledger.outlook()).busy, 0),
  ]
}

const RepairOpened = z.looseObject({ type: z.literal('repair_opened'), code: z.string() })

/** Every code for which a repair was opened at some time. */
const repairedCodes = async ({ stage, meetingIds }: Play): Promise<ReadonlySet<string>> => {
  const traces = await Promise.all([...meetingIds.values()].map((id) => stage.client.trace(id)))
  return new Set(
    traces.flatMap(({ entries }) =>
      entries.flatMap((entry) => {
        const repair = RepairOpened.safeParse(entry)
        return repair.success ? [repair.data.code] : []
      }),
    ),
  )
}

const ledgerNames: Readonly<Record<keyof LedgerCounts, readonly [one: string, rest?: string]>> = {
  created: ['event', 'created'],
  patched: ['event', 'changed'],
  cancelled: ['event', 'cancelled'],
  byHand: ['thing', 'done by hand'],
  mails: ['mail'],
}

const meetingChecks = async (play: Play, label: string, expected: Expected): Promise<readonly Check[]> => {
  const view = await play.view(label)
  const [repair] = view.repairs
  const { client } = play.stage
  const { next } = await client.trace(view.id)
  const page = await client.tracePage(view.id)
  return [
    check(`the meeting is ${expected.state.replaceAll('_', ' ')}`, view.state.type, expected.state),
    check(
      expected.repair
        ? `a repair is open: ${expected.repair.code}, owned by ${expected.repair.owner}`
        : 'no repair is open',
      repair ? { code: repair.code, owner: repair.owner } : null,
      expected.repair ?? null,
    ),
    check(
      expected.state === 'confirmed' ? 'its completion is proved' : 'nothing is called proved',
      view.state.type === 'confirmed' && view.completion !== undefined,
      expected.state === 'confirmed',
    ),
    ...(await eventChecks(play, label, expected)),
    check(
      expected.repair ? 'somebody must act, and is named' : 'nobody must act any more',
      next.some(({ type }) => type === 'person'),
      expected.repair !== undefined,
    ),
    check('its trace names nobody', namedIn(page, play.scenario), []),
    check('its trace is at most 80 lines long', page.trimEnd().split('\n').length <= 80, true),
    check('the client was told each thing once', await toldOf(play, label), [...expected.told].sort()),
  ]
}

/** Whoever reads a trace learns what happened, and not to whom. */
const namedIn = (page: string, { cast }: Play['scenario']): readonly string[] =>
  Object.entries(cast)
    .filter(([who, { address }]) => page.includes(address) || new RegExp(`\\b${who}\\b`).test(page))
    .map(([who]) => who)

/** Of events that several meetings share a calendar with, those of one meeting are told by their time. */
const eventChecks = async (play: Play, label: string, { event }: Expected): Promise<readonly Check[]> => {
  const { cast, scenario, stage } = play
  const asked = scenario.meetings[label]
  const organizer = cast.member(asked?.organizer ?? '')
  const others = Object.entries(scenario.expects.meetings)
    .filter(([other]) => other !== label)
    .flatMap(([, each]) => each.event?.start ?? [])
  const all = await stage.control.readEvents(organizer.address)
  const live = all.filter(({ status, start }) => status !== 'cancelled' && !others.includes(instant(start)))
  const name = event ? `exactly one event stands, from ${event.start} to ${event.end}` : 'no event stands'
  const stands = check(
    name,
    live.map(({ start, end }) => [instant(start), instant(end)]),
    event ? [[event.start, event.end]] : [],
  )
  if (!event) return [stands]
  const invited = live
    .flatMap(({ attendees }) => attendees.map(({ address }) => address))
    .filter((address) => address !== organizer.address)
    .sort()
  const approved = event.invited.map((who) => cast.member(who).address).sort()
  return [stands, check('exactly the approved people are invited, and nobody else', invited, approved)]
}

const instant = (text: string): string => new Date(text).toISOString()

/** A receiver can hold signatures against the time only where the clock is the real one. */
const refusedOf = async ({ stage, webhookName }: Play): Promise<number> => {
  const { refused, received } = await stage.control.readWebhooks(webhookName)
  const unsigned = received.filter(({ verified, headers }) =>
    stage.clock.isReal ? !verified : headers['webhook-signature'] === undefined,
  )
  return refused + unsigned.length
}

const Message = z.object({ type: z.string() })

const toldOf = async ({ stage, webhookName, idOf }: Play, label: string): Promise<readonly string[]> => {
  const { received } = await stage.control.readWebhooks(webhookName)
  return received
    .filter(({ body }) => body.includes(idOf(label)))
    .map(({ body }) => Message.parse(JSON.parse(body)).type)
    .sort()
}
