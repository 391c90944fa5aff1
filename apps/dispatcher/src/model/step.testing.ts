/** A step of a run as fast-check's command: what is drawn for it, what it does, and what is told of it. */
import fc from 'fast-check'
import { mustHold } from './invariants.testing.ts'
import type { KnownMeeting, Play } from './play.testing.ts'
import { look, type SeenMeeting } from './seen.testing.ts'

/** All that the plan of a run knows: whether there is anything yet to act on. */
export interface Plan {
  opened: number
}

export type Step = fc.AsyncCommand<Plan, Play>

interface Kind<Drawn> {
  readonly name: string
  /** Does it, and tells what came of it; undefined when there was nothing to do it to. */
  readonly act: (play: Play, drawn: Drawn) => Promise<string | undefined>
  readonly opens?: boolean
}

export const stepOf = <Drawn>({
  draw,
  ...kind
}: Kind<Drawn> & { readonly draw: fc.Arbitrary<Drawn> }): fc.Arbitrary<Step> =>
  draw.map((drawn) => stepWith(kind, drawn))

/** The same where what is drawn is part of something larger. */
export const stepWith = <Drawn>({ name, act, opens = false }: Kind<Drawn>, drawn: Drawn): Step => ({
  check: ({ opened }) => opens || opened > 0,
  run: async (plan, play) => {
    if (opens) plan.opened += 1
    await takeTurn(play, `${name} ${JSON.stringify(drawn)}`, () => act(play, drawn))
  },
  toString: () => `${name}(${JSON.stringify(drawn)})`,
})

/** Does one thing, looks at everything afterwards, and holds what is seen against the invariants. */
export const takeTurn = async (
  play: Play,
  name: string,
  act: () => Promise<string | undefined>,
): Promise<void> => {
  play.turn += 1
  const line = `${play.turn}. ${name}`
  play.story.push(line)
  const told = await act()
  if (told === undefined) {
    play.story[play.story.length - 1] = `${line} → nothing to do`
    return
  }
  const before = play.seen
  play.seen = await look(play.database, play.control)
  play.noteMails(play.seen)
  const states = play.known.meetings.map(({ id, number }) => `#${number} ${stateOf(play, id)}`)
  play.story[play.story.length - 1] = `${line} → ${told}\n     ${states.join(', ')}`
  mustHold(play, before)
}

const stateOf = ({ seen }: Play, id: string): string => {
  const state = seen.meetings.find((each) => each.id === id)?.state
  return state?.code === undefined ? (state?.type ?? 'unseen') : `${state.type} (${state.code})`
}

export const seenMeeting = ({ seen }: Play, { id }: KnownMeeting): SeenMeeting => {
  const meeting = seen.meetings.find((each) => each.id === id)
  if (!meeting) throw new Error('a meeting was opened and is not there')
  return meeting
}

/** One of those for which it makes sense, else any: refusals are answers too. */
export const pick = <T>(all: readonly T[], index: number, sensible: (each: T) => boolean): T | undefined => {
  const best = all.filter(sensible)
  const from = best.length > 0 ? best : all
  return from[index % from.length]
}

/** Which of several is drawn; the choice is made when the step is taken, among what is there by then. */
export const anyIndex = fc.nat({ max: 11 })
