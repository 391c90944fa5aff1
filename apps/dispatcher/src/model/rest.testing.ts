/** The end of a run: all trouble over, everything given its time, and everything that was told and kept looked at. */
import { z } from 'zod'
import { connectAgain } from './answering.testing.ts'
import { cast, displayNameOf, names, PURPOSE } from './cast.testing.ts'
import { eventsAtRest, handsAreNoticed } from './invariants.testing.ts'
import { Broken, type Play } from './play.testing.ts'
import { outboxText, readRows } from './seen.testing.ts'
import { takeTurn } from './step.testing.ts'

const STEPS_MAX = 150
const resting = ['confirmed', 'cancelled', 'lapsed', 'no_overlap', 'in_repair', 'incomplete'] as const
const waitsForPerson: readonly string[] = [...resting, 'awaiting_approval']

/** Ends all trouble, and lets time pass until nothing is left to do. */
export const comeToRest = async (play: Play): Promise<void> => {
  await takeTurn(play, 'trouble over', async () => {
    await play.control.clearFaults()
    for (const provider of ['google', 'microsoft'] as const) {
      await play.control.setConsistency({ provider, readsMissFor: 0 })
    }
    for (const name of ['ada', 'mia', 'ben', 'chen'] as const) await connectAgain(play, name)
    return 'done'
  })
  // Sooner than any deadline: what can be done without a person is done.
  await takeTurn(play, 'a while', () => passUntil(play, () => isQuiet(play)))
  await takeTurn(play, 'long after', () => passUntil(play, () => play.seen.live.length === 0))
  eventsAtRest(play)
  handsAreNoticed(play)
  everyMeetingRests(play)
  await clientWasToldOnce(play)
  await outboxNamesNobody(play)
}

const isQuiet = ({ seen }: Play): boolean =>
  seen.meetings.every(({ state }) => waitsForPerson.includes(state.type))

/** Works, and moves the clock to what is due next, until it is enough. */
const passUntil = async (play: Play, isEnough: () => boolean): Promise<string> => {
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    await play.dispatcher.drain()
    const rows = await readRows(play.database)
    play.seen = { ...play.seen, ...rows }
    if (isEnough()) return `${steps} steps`
    const waits = rows.live.map(({ availableAt }) => availableAt.getTime() - rows.now.getTime())
    // What is leased or blocked is due already: leases run out, and rests end.
    await play.advance(Math.max(31_000, Math.min(...waits.filter((ms) => ms > 0), 24 * 3_600_000)))
  }
  const left = play.seen.live.map(({ action, state }) => `${action} ${state}`)
  throw new Broken('everything_ends', `after ${STEPS_MAX} steps there are ${left.join(', ')}`)
}

const everyMeetingRests = ({ known, seen }: Play): void => {
  for (const { id, number } of known.meetings) {
    const type = seen.meetings.find((each) => each.id === id)?.state.type ?? ''
    if (!resting.some((each) => each === type)) {
      throw new Broken('every_meeting_rests', `#${number} is ${type} and nothing is left to do`)
    }
  }
}

const Told = z.object({
  type: z.string(),
  data: z.object({ meetingId: z.string(), occasionId: z.string() }),
})

const clientWasToldOnce = async ({ control, client, known, seen }: Play): Promise<void> => {
  const { received } = await control.readWebhooks(client.webhookName)
  const told = received.map(({ body }) => Told.parse(JSON.parse(body)))
  const keys = told.map(({ type, data }) => `${type} ${data.meetingId} ${data.occasionId}`)
  const twice = keys.find((key, index) => keys.indexOf(key) !== index)
  if (twice !== undefined) throw new Broken('told_once', `${twice} was told twice`)
  for (const { id, number } of known.meetings) {
    const type = seen.meetings.find((each) => each.id === id)?.state.type
    for (const end of ['cancelled', 'lapsed'] as const) {
      const count = told.filter((each) => each.data.meetingId === id && each.type === `meeting.${end}`).length
      if (count !== (type === end ? 1 : 0)) {
        throw new Broken(
          'told_once',
          `#${number} is ${type ?? ''}; that it is ${end} was told ${count} times`,
        )
      }
    }
    const toldBooked = told.some((each) => each.data.meetingId === id && each.type === 'meeting.confirmed')
    if (type === 'confirmed' && !toldBooked)
      throw new Broken('told_once', `nobody was told that #${number} is booked`)
  }
}

const outboxNamesNobody = async ({ database }: Play): Promise<void> => {
  const text = await outboxText(database)
  const personal = [PURPOSE, ...names.flatMap((name) => [cast[name].address, displayNameOf(name)])]
  const found = personal.find((each) => text.toLowerCase().includes(each.toLowerCase()))
  if (found !== undefined || /[\w.+-]+@[\w-]+\.example/.test(text)) {
    throw new Broken('outbox_names_nobody', `a row of the outbox holds ${found ?? 'an address'}`)
  }
}
