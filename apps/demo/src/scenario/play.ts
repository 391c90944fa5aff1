/** Plays a scenario on a stage, step by step, and tells what happens and who waits for whom. */
import { randomBytes } from 'node:crypto'
import { assemble, type Cast } from './cast.ts'
import type { MeetingAnswer } from './client.ts'
import { arrange, perform } from './perform.ts'
import type { Scenario } from './scenario.ts'
import { sentenceFor } from './sentences.ts'
import type { Stage } from './stage.ts'
import { tellerOf, timeText, type Detail } from './telling.ts'

export type Tell = (line: string) => void

/** One performance. */
export interface Play {
  readonly scenario: Scenario
  readonly stage: Stage
  readonly cast: Cast
  /** What the client's own system is called at the receiver. */
  readonly webhookName: string
  /** By label. */
  readonly meetingIds: Map<string, string>
  readonly idOf: (meeting?: string) => string
  readonly view: (meeting?: string) => Promise<MeetingAnswer>
  readonly tell: Tell
  /** Tells what is new. */
  readonly tellNews: () => Promise<void>
  /** Tells something that no trace knows of, where its moment belongs. */
  readonly note: (at: Date, line: string) => void
}

export const play = async (scenario: Scenario, stage: Stage, tell: Tell, detail: Detail): Promise<Play> => {
  const { client, control, simulatorUrl } = stage
  // A data folder keeps the endpoints of earlier runs, whose secrets a new simulator does not know.
  const webhookName = `client-${randomBytes(4).toString('hex')}`
  // A receiver that checks signatures checks their time as well, and would refuse what comes from another year.
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  await control.putWebhookSettings(webhookName, { secret: stage.clock.isReal ? secret : null })
  await client.create('/v1/webhook-endpoints', { url: `${simulatorUrl}/webhooks/${webhookName}`, secret })
  const cast = await assemble(scenario, client, control)
  await arrange({ scenario, stage, cast }, ({ later }) => later !== true)
  const meetingIds = new Map<string, string>()
  const idOf = (meeting = onlyMeetingOf(scenario)): string => {
    const id = meetingIds.get(meeting)
    if (id === undefined) throw new Error(`the meeting ${meeting} is not open yet`)
    return id
  }
  const view = (meeting?: string) => client.meeting(idOf(meeting))
  const teller = tellerOf({ scenario, stage, meetingIds, tell, detail })
  const { news: tellNews, note } = teller
  const performance = { scenario, stage, cast, webhookName, meetingIds, idOf, view, tell, tellNews, note }
  for (const [index, step] of scenario.steps.entries()) {
    const at = stage.clock.isReal ? '' : `${timeText((await stage.clock.now()).toISOString())}  `
    tell(`${at}${index + 1}. ${sentenceFor(step)}`)
    await perform(performance, step)
    await teller.afterStep()
  }
  return performance
}

/** The label that a step means which names none. */
export const onlyMeetingOf = ({ meetings }: Pick<Scenario, 'meetings'>): string => {
  const [label, ...more] = Object.keys(meetings)
  if (label === undefined || more.length > 0) throw new Error('a step must say which meeting it is about')
  return label
}
