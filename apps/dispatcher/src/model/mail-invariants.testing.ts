/** Nobody is written to who refused, has told or was replaced, nobody too often, and nobody at night. */
import { cast, MEETING_ZONE } from './cast.testing.ts'
import { Broken, type Arrived, type Play } from './play.testing.ts'
import { asksByMessageId } from './seen.testing.ts'

const HOUR_MS = 3_600_000
/** A mail is noted at the end of a step, a little later than it came. */
const NOTED_LATE_MS = 5 * 60_000

export const mailsMustBeAllowed = (play: Play): void => {
  const { known, seen, client } = play
  const asks = asksByMessageId(client.tenantId, seen)
  const asked = new Map<string, Arrived[]>()
  for (const mail of known.mails) {
    const refusedAt = known.refusals.get(mail.to)
    if (refusedAt !== undefined && mail.sequence > refusedAt) {
      throw new Broken('no_mail_after_refusal', `${mail.to} was written to`)
    }
    const ask = asks.get(mail.messageId)
    if (!ask) continue
    const answered = known.answers.get(ask.participantId)
    if (answered && mail.sequence > answered.sequence) {
      throw new Broken('no_asking_after_answer', `${mail.to} was asked`)
    }
    const replacedAt = known.replaced.get(ask.participantId)
    if (replacedAt !== undefined && mail.sequence > replacedAt) {
      throw new Broken('no_asking_after_replacement', `${mail.to} was asked in vain`)
    }
    atNight(mail)
    const key = `${ask.participantId} ${mail.askingByMeeting.get(ask.meetingId) ?? 0}`
    asked.set(key, [...(asked.get(key) ?? []), mail])
    withinAuthority(play, ask, asked.get(key) ?? [])
  }
}

const withinAuthority = (
  { known, seen }: Play,
  { meetingId, participantId }: { readonly meetingId: string; readonly participantId: string },
  mails: readonly Arrived[],
): void => {
  const meeting = known.meetings.find(({ id }) => id === meetingId)
  const person = seen.participants.find(({ id }) => id === participantId)
  if (!meeting?.outreach) throw new Broken('within_authority', 'somebody was asked without authority')
  const { messagesMax, spacingHours } = meeting.outreach
  const max = person?.role === 'optional' ? 1 : messagesMax
  if (mails.length > max) {
    throw new Broken(
      'within_authority',
      `#${meeting.number} wrote ${mails.length} times to ${person?.address ?? '?'}`,
    )
  }
  const [last, before] = [mails.at(-1), mails.at(-2)]
  if (!last || !before) return
  if (last.at.getTime() - before.at.getTime() < spacingHours * HOUR_MS - NOTED_LATE_MS) {
    throw new Broken('within_authority', `#${meeting.number} wrote too soon again to ${last.to}`)
  }
}

/** The quiet hours that an authority has when none are named. */
const QUIET = { from: 20, to: 8 }

const atNight = ({ at, to }: Arrived): void => {
  const zone = Object.values(cast).find(({ address }) => address === to)?.timeZone ?? MEETING_ZONE
  const local = new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', hourCycle: 'h23' })
  const hourOf = (moment: Date): number => Number(local.format(moment))
  const isQuiet = (hour: number): boolean => hour >= QUIET.from || hour < QUIET.to
  if (isQuiet(hourOf(at)) && isQuiet(hourOf(new Date(at.getTime() - NOTED_LATE_MS)))) {
    throw new Broken('quiet_hours', `${to} was asked at ${at.toISOString()}`)
  }
}
