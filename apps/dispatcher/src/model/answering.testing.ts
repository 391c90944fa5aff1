/** What people do who are asked: answer on their page or by mail, refuse, connect a calendar, take back a grant. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import type { names } from './cast.testing.ts'
import { asked, cast, dateAfter, organizers } from './cast.testing.ts'
import { Broken, lastSequence, type Play } from './play.testing.ts'
import { anyIndex, pick, stepOf } from './step.testing.ts'

/** Links of one kind in the mails to this person, oldest first. */
const linksTo = async ({ control }: Play, address: string, kind: 'reply' | 'opt-out') =>
  (await control.readMailLinks(address)).map(({ url }) => url).filter((url) => url.includes(`/${kind}/`))

interface Claims {
  readonly meetingId: string
  readonly participantId: string
  readonly revision: number
}

/** What a link says that it is about, read as any holder of it could. */
const claimsOf = (link: string): Claims => {
  const bytes = Buffer.from(link.slice(link.lastIndexOf('/') + 1), 'base64url')
  const at = 3 + (bytes[2] ?? 0)
  const uuid = (from: number): string =>
    bytes
      .subarray(at + from, at + from + 16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { meetingId: uuid(16), participantId: uuid(32), revision: bytes.readUInt32BE(at + 48) }
}

const timesOf = (play: Play, narrow: boolean): Record<string, string> => {
  const days = [2, 3, 4, 7, 8].map((day, row): [string, string][] => [
    [`date-${row}`, dateAfter(play.startedAt, day)],
    [`from-${row}`, narrow ? '10:00' : '08:00'],
    [`to-${row}`, narrow ? '11:00' : '18:00'],
  ])
  return Object.fromEntries([['do', 'send'], ['zone', 'Europe/Berlin'], ...days.flat()])
}

const mailed = [...asked, 'wenyuan'] as const
const addressOf = (name: (typeof mailed)[number]): string =>
  name === 'wenyuan' ? 'wenyuan@microsoft.example' : cast[name].address

export const answerOnPage = stepOf({
  name: 'page',
  draw: fc.record({
    who: fc.constantFrom(...mailed, 'dora' as const),
    old: fc.constantFrom(false, false, true),
    answer: fc.constantFrom('times', 'times', 'narrow', 'not_taking_part', 'contact_refused'),
  }),
  act: async (play, { who, old, answer }) => {
    const links = await linksTo(play, addressOf(who), 'reply')
    const link = old ? links[0] : links.at(-1)
    if (link === undefined) return undefined
    const isTimes = answer === 'times' || answer === 'narrow'
    const page = await play.page(
      play.client.sendForm(link, {
        answer: isTimes ? 'times' : answer,
        ...(isTimes && timesOf(play, answer === 'narrow')),
      }),
    )
    if (page.status === 200) heard(play, link, answer)
    return `${page.status}`
  },
})

/** The answer was taken: it must have been of somebody who takes part, by the link that they were given last. */
const heard = (play: Play, link: string, answer: string): void => {
  const { meetingId, participantId, revision } = claimsOf(link)
  const person = play.seen.participants.find(({ id }) => id === participantId)
  if (answer === 'contact_refused') {
    if (person) play.known.refusals.set(person.address, lastSequence(play.seen))
    return
  }
  if (person?.revision !== revision) {
    throw new Broken('outdated_links', `an answer was taken by a link of revision ${revision}`)
  }
  play.known.answers.set(participantId, { meetingId, sequence: lastSequence(play.seen) })
}

export const optOut = stepOf({
  name: 'opt out',
  draw: fc.record({ who: fc.constantFrom(...asked) }),
  act: async (play, { who }) => {
    const [link] = await linksTo(play, cast[who].address, 'opt-out')
    if (link === undefined) return undefined
    const page = await play.page(play.client.sendForm(link, {}))
    if (page.status === 200) play.known.refusals.set(cast[who].address, lastSequence(play.seen))
    return `${page.status}`
  },
})

export const answerByMail = stepOf({
  name: 'mail',
  draw: fc.record({
    who: fc.constantFrom(...asked),
    kind: fc.constantFrom('reply' as const, 'reply' as const, 'out_of_office' as const, 'bounce' as const),
    text: fc.constantFrom('Any time on Wednesday.', 'Tomorrow 10:00 to 11:00 I can.', 'I cannot say.', ''),
  }),
  act: async (play, { who, kind, text }) => {
    const { address } = cast[who]
    const mail = (await play.control.readMailbox(address)).received.at(-1)
    if (!mail?.messageId) return undefined
    const { raw } = await play.control.replyToMail(address, {
      inReplyTo: mail.messageId,
      to: play.world.sink,
      kind,
      text,
    })
    const answer = await play.page(play.client.postMail(raw))
    return `${answer.status} ${answer.text.slice(0, 60)}`
  },
})

export const connectCalendar = stepOf({
  name: 'connect',
  draw: fc.record({ index: anyIndex, who: fc.constantFrom('dora' as const, 'emil' as const) }),
  act: async (play, { index, who }) => {
    const { address } = cast[who]
    const parts = play.seen.participants.filter((each) => each.address === address && !each.connected)
    const part = parts[index % Math.max(parts.length, 1)]
    const meeting = part && play.known.meetings.find(({ id }) => id === part.meetingId)
    if (!meeting) return undefined
    const { status } = await play.post(`/v1/meetings/${meeting.id}/participants/${part.id}/calendar`, {
      by: { address: cast[meeting.organizer].address },
      calendarConnectionId: play.people.get(who)?.connectionId,
    })
    return `#${meeting.number} ${status}`
  },
})

const token = (): string => randomBytes(24).toString('base64url')

export const takeBackGrant = stepOf({
  name: 'take back grant',
  draw: fc.record({ who: fc.constantFrom(...organizers, 'ben' as const, 'chen' as const) }),
  act: async (play, { who }) => {
    await play.putPerson(who, { refreshToken: token() })
    return 'done'
  },
})

export const connectAgain = async (play: Play, who: (typeof names)[number]): Promise<number> => {
  const refreshToken = token()
  await play.putPerson(who, { refreshToken })
  const { provider, address } = cast[who]
  return (await play.post('/v1/calendar-connections', { provider, address, refreshToken })).status
}

export const giveGrant = stepOf({
  name: 'connect again',
  draw: fc.record({ who: fc.constantFrom(...organizers, 'ben' as const, 'chen' as const) }),
  act: async (play, { who }) => `${await connectAgain(play, who)}`,
})

/** Somebody's calendar fills up just where a meeting is proposed or booked. */
export const becomeBusy = stepOf({
  name: 'busy',
  draw: fc.record({ index: anyIndex, who: fc.constantFrom('ben' as const, 'chen' as const, ...organizers) }),
  act: async (play, { index, who }) => {
    const proposal = pick(play.seen.proposals, index, ({ id }) =>
      play.seen.meetings.some(({ state }) => state.proposalId === id),
    )
    const person = play.people.get(who)
    if (!proposal || !person) return undefined
    const { start, end } = proposal
    const block = { start: start.toISOString(), end: end.toISOString(), status: 'busy' as const }
    await play.putPerson(who, { busy: [...(person.busy ?? []), block] })
    play.known.busy.push({ address: person.address, start, end, turn: play.turn })
    return 'done'
  },
})
