/** The contract's stage: one simulator for a test file, a fresh world for each test. */
import { simulatorControl, startSimulator } from '@aftercommit/simulator'
import type { Simulator } from '@aftercommit/simulator'
import { vendorCheck } from '@aftercommit/simulator/vendor-schemas'
import type { EventDraft } from './calendar.ts'
import { contractContext, contractDraft, contractScene, ORGANIZER, WEEK } from './contract.testing.ts'
import type { ContractScene, ContractSubject } from './contract.testing.ts'
import { google, microsoft } from './subjects.testing.ts'

export interface Stage extends ReturnType<typeof stageCalls> {
  readonly url: string
  /** Of the test that is running. */
  readonly scene: ContractScene
}

/** Tells a part of the contract once for every adapter. */
export const forEachCalendar = (tell: (subject: ContractSubject, stage: Stage) => void): void => {
  let simulator: Simulator | undefined
  let scene: ContractScene | undefined
  const check = vendorCheck('ours')
  beforeAll(async () => {
    simulator = await startSimulator({ observe: check.observe })
  })
  // What the adapters send is held against the vendors' schemas in every test, where those are at hand.
  afterEach(() => expect(check.takeMistakes()).toEqual([]))
  afterAll(() => simulator?.stop())
  const stage = {
    get url() {
      return there(simulator).url
    },
    get scene() {
      return there(scene)
    },
    ...stageCalls(() => there(scene)),
  }
  describe.each([google, microsoft])('the $provider calendar', (subject) => {
    beforeEach(async () => {
      const { url } = stage
      scene = await contractScene(subject, { url, control: simulatorControl(url) })
    })
    tell(subject, stage)
  })
}

const there = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('the stage is set while tests run, not before')
  return value
}

/** The port's methods on the organizer's calendar, with what most tests do not care about filled in. */
const stageCalls = (scene: () => ContractScene) => {
  const readBusy = (addresses: readonly string[], window = WEEK, context = contractContext()) =>
    scene().calendar.readFreeBusy({ addresses, window }, context)
  const busyOf = async (address: string, window = WEEK) => {
    const answer = await readBusy([address], window)
    return answer.type === 'read' ? answer.busyByAddress.get(address) : answer
  }
  const insert = (draft = contractDraft(), context = contractContext()) =>
    scene().calendar.insertEvent(draft, context)
  const read = (eventId: string, context = contractContext()) =>
    scene().calendar.readEvent({ calendarAddress: ORGANIZER, eventId }, context)
  const update = (
    { eventId }: { readonly eventId: string },
    draft: EventDraft,
    etag: string | undefined,
    context = contractContext(),
  ) => scene().calendar.updateEvent({ calendarAddress: ORGANIZER, eventId }, draft, etag, context)
  const find = (operationId: string, context = contractContext()) =>
    scene().calendar.findEvents(ORGANIZER, operationId, context)
  const cancel = (eventId: string, context = contractContext()) =>
    scene().calendar.cancelEvent({ calendarAddress: ORGANIZER, eventId }, context)
  const liveEvents = async (operationId: string) => {
    const answer = await find(operationId)
    if (answer.type !== 'read') throw new Error(`the calendar could not be searched: ${answer.type}`)
    return answer.events.filter(({ status }) => status !== 'cancelled')
  }
  return { readBusy, busyOf, insert, read, update, find, cancel, liveEvents }
}
