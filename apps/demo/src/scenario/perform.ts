/** What each step does to the product and to the world. */
import type { EventView } from '@aftercommit/simulator'
import { z } from 'zod'
import { copyEvent } from './copy-event.ts'
import type { MeetingAnswer } from './client.ts'
import type { Play } from './play.ts'
import type { Fault, Step, Who } from './scenario.ts'
import { waitsOf } from './telling.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

type StepOf<Type extends Step['type']> = Extract<Step, { type: Type }>

export const perform = async (play: Play, step: Step): Promise<void> => {
  const { stage, cast } = play
  switch (step.type) {
    case 'open_meeting':
      return open(play, step)
    case 'wait_for':
      return waitFor(play, step)
    case 'pass_time':
      return passTime(play, step.hours * HOUR_MS)
    case 'approve': {
      const { status } = await approve(play, step.meeting)
      expectAnswers([status], [step.answer === 'slot_held' ? 409 : 200])
      if (step.thenKill === true) {
        const { name, at } = await stage.killDispatcher()
        play.note(at, `${name} is dead. The row is the work: nothing was in its memory.`)
      }
      return
    }
    case 'reply_on_page':
    case 'refuse_on_page':
      return reply(play, step)
    case 'fill_time': {
      const { start, end } = step
      return stage.control.addBusy(cast.member(step.who).address, { start, end })
    }
    case 'act_on_event': {
      const { id } = await liveEvent(play, step.meeting)
      await stage.control.actOnEvent(id, step.act)
      return
    }
    case 'copy_event': {
      const { organizer } = askedFor(play, step.meeting)
      const { id } = await liveEvent(play, step.meeting)
      return copyEvent(stage.simulatorUrl, cast.grantOf(organizer), id)
    }
    case 'revoke_consent':
      return cast.revoke(step.who)
    case 'arrange':
      return arrange(play, ({ id }) => id === step.fault)
    case 'let_go':
      await stage.control.releaseFault(step.fault)
      return
    case 'reschedule':
      return reschedule(play, step)
    case 'cancel': {
      expectAnswers([(await order(play, step.meeting, 'cancel', {})).status], [200])
      return
    }
    case 'resolve_repair':
      return resolve(play, step)
    case 'freeze_dispatcher':
      return freeze(play, step)
  }
}

/** Lets these faults lie in wait. */
export const arrange = async (
  { scenario, stage, cast }: Pick<Play, 'scenario' | 'stage' | 'cast'>,
  which: (fault: Fault) => boolean,
): Promise<void> => {
  for (const { who, harmlessBecause: _, later: _later, ...fault } of (scenario.faults ?? []).filter(which)) {
    await stage.control.addFault({ skip: 0, times: 1, ...fault, address: cast.member(who).address })
  }
}

const labelOf = (play: Play, meeting: string | undefined): string =>
  meeting ?? Object.keys(play.scenario.meetings)[0] ?? ''

const askedFor = (play: Play, meeting: string | undefined) => {
  const asked = play.scenario.meetings[labelOf(play, meeting)]
  if (!asked) throw new Error(`the scenario has no meeting ${meeting ?? ''}`)
  return asked
}

const statusesOf = (answers: readonly { readonly status: number }[]): readonly number[] =>
  answers.map(({ status }) => status)

const expectAnswers = (answers: readonly number[], expected: readonly number[]): void => {
  const [is, should] = [answers, expected].map((each) => [...each].sort().join(', '))
  if (is !== should) throw new Error(`the API answered ${is} and not ${should}`)
}

const freeze = async (play: Play, { fault }: StepOf<'freeze_dispatcher'>): Promise<void> => {
  const { name, at } = await play.stage.freezeDispatcher(fault, play.tellNews)
  play.note(at, `${name} woke after another had done its work: its token is stale, and it changed nothing.`)
}

const participantIdOf = ({ participants }: MeetingAnswer, who: Who): string => {
  const found = participants.find(({ displayName }) => displayName === who)
  if (!found) throw new Error(`${who} takes no part`)
  return found.id
}

const open = async (play: Play, { meeting }: StepOf<'open_meeting'>): Promise<void> => {
  const intent = play.cast.intentOf(askedFor(play, meeting))
  play.meetingIds.set(labelOf(play, meeting), await play.stage.client.create('/v1/meetings', intent))
}

/** Lets time jump from one row that falls due to the next; nothing in between would happen anyway. */
const waitFor = async (play: Play, step: StepOf<'wait_for'>): Promise<void> => {
  const { clock } = play.stage
  const withinMs = step.withinHours === undefined ? 10 * MINUTE_MS : step.withinHours * HOUR_MS
  const deadline = new Date((await clock.now()).getTime() + withinMs)
  for (;;) {
    const due = await play.stage.settle(play.tellNews)
    const view = await play.view(step.meeting)
    if (view.state.type === step.state) return checkRepair(play, step)
    if (due === undefined || due > deadline) {
      const code = view.state.code === undefined ? '' : ` (${view.state.code})`
      const waits = await waitsOf(play.stage, view.id)
      throw new Error(`${waits}${code}, and it is not ${step.state} in time`)
    }
    await clock.moveTo(due)
  }
}

const NamedPeople = z.object({ participantIds: z.array(z.string()) })

const checkRepair = async (play: Play, { meeting, code, names }: StepOf<'wait_for'>): Promise<void> => {
  if (code === undefined) return
  const { repairs, participants } = await play.view(meeting)
  const repair = repairs.find((each) => each.code === code)
  if (!repair) throw new Error(`the repair is ${repairs.map((each) => each.code).join(', ')} and not ${code}`)
  if (!names) return
  const { participantIds } = NamedPeople.parse(repair.facts)
  const named = participants
    .filter(({ id }) => participantIds.includes(id))
    .map(({ displayName }) => displayName)
  if ([...named].sort().join() !== [...names].sort().join()) {
    throw new Error(`the repair names ${named.join(', ')} and not ${names.join(', ')}`)
  }
}

const passTime = async (play: Play, ms: number): Promise<void> => {
  const { clock } = play.stage
  const until = new Date((await clock.now()).getTime() + ms)
  for (;;) {
    const due = await play.stage.settle(play.tellNews)
    if (due === undefined || due > until) break
    await clock.moveTo(due)
  }
  await clock.moveTo(until)
  await play.stage.settle(play.tellNews)
}

const order = (play: Play, meeting: string | undefined, verb: string, body: object) => {
  const address = play.cast.member(askedFor(play, meeting).organizer).address
  return play.stage.client.post(`/v1/meetings/${play.idOf(meeting)}/${verb}`, { by: { address }, ...body })
}

const approve = async (play: Play, meeting: string | undefined) => {
  const { proposal } = await play.view(meeting)
  const address = play.cast.member(askedFor(play, meeting).organizer).address
  const body = { proposalId: proposal?.id, approver: { address } }
  return play.stage.client.post(`/v1/meetings/${play.idOf(meeting)}/approve`, body)
}

const reschedule = async (
  play: Play,
  { meeting, window, bookBy, answers = [200] }: StepOf<'reschedule'>,
): Promise<void> => {
  const asked = await Promise.all(answers.map(() => order(play, meeting, 'reschedule', { window, bookBy })))
  expectAnswers(statusesOf(asked), answers)
}

const reply = async (play: Play, step: StepOf<'reply_on_page' | 'refuse_on_page'>): Promise<void> => {
  const links = await play.stage.control.readMailLinks(play.cast.member(step.who).address)
  const link = links.map(({ url }) => url).findLast((url) => url.includes('/reply/'))
  if (link === undefined) throw new Error(`${step.who} has no mail with a link`)
  const fields = step.type === 'refuse_on_page' ? { answer: 'not_taking_part' } : fieldsOf(step)
  const { status } = await play.stage.client.sendForm(link, fields)
  expectAnswers([status], [step.type === 'reply_on_page' && step.answers === 'asked_again' ? 422 : 200])
}

const timeFields = ['date', 'from', 'to', 'fromFold', 'toFold'] as const

const fieldsOf = ({ zone, times }: StepOf<'reply_on_page'>): Record<string, string> => ({
  answer: 'times',
  do: 'send',
  zone,
  ...Object.fromEntries(
    times.flatMap((time, index) =>
      timeFields.flatMap((field): [string, string][] => {
        const value = time[field]
        return value === undefined ? [] : [[`${field}-${index}`, value]]
      }),
    ),
  ),
})

const liveEvent = async (play: Play, meeting: string | undefined): Promise<EventView> => {
  const { address } = play.cast.member(askedFor(play, meeting).organizer)
  const live = (await play.stage.control.readEvents(address)).filter(({ status }) => status !== 'cancelled')
  const [event] = live
  if (!event || live.length > 1) throw new Error(`there are ${live.length} live events and not one`)
  return event
}

const resolve = async (play: Play, { meeting, choice }: StepOf<'resolve_repair'>): Promise<void> => {
  const view = await play.view(meeting)
  const [repair] = view.repairs
  if (!repair) throw new Error('no repair is open')
  const address = play.cast.member(askedFor(play, meeting).organizer).address
  const { status, body } = await play.stage.client.post(`/v1/repairs/${repair.id}/resolve`, {
    by: { address },
    choice: play.cast.choiceOf(choice, (who) => participantIdOf(view, who)),
  })
  if (status !== 200) throw new Error(`the choice was answered with ${status}: ${body}`)
}
