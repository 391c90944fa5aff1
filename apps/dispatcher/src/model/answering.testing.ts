/** What people do who are asked: answer on their page or by mail, refuse, connect a calendar, take back a grant. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { asked, cast, dateAfter, MEETING_ZONE, names, organizers } from './cast.testing.ts'
import { Broken, lastSequence, type Play } from './play.testing.ts'
import { readRows, type Rows } from './seen.testing.ts'
import { anyIndex, pick, stepOf, type Step } from './step.testing.ts'

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

/** The part in a meeting that a link speaks for, if it is anybody's still. */
const partOf = ({ participants }: Rows, link: string) => {
  const { participantId, revision } = claimsOf(link)
  const part = participants.find(({ id }) => id === participantId)
  return part && { part, isCurrent: part.revision === revision }
}

/** A link that another revision has made void; where there is none, the person's part is made another one. */
const outdatedOf = async (play: Play, links: readonly string[]): Promise<string | undefined> => {
  const outdated = links.findLast((each) => partOf(play.seen, each)?.isCurrent !== true)
  if (outdated !== undefined) return outdated
  for (const link of links) {
    const part = partOf(play.seen, link)?.part
    if (part && !part.connected && (await connect(play, part))?.endsWith('200')) return link
  }
  return links[0]
}

/** Within the window of the meeting, or nothing that was said would be taken. */
const timesOf = (play: Play, meetingId: string, narrow: boolean): Record<string, string> => {
  const { day: first, days: more } = play.known.meetings.find(({ id }) => id === meetingId)?.window ?? {
    day: 2,
    days: 0,
  }
  const days = Array.from({ length: more + 1 }, (_, row): [string, string][] => [
    [`date-${row}`, dateAfter(play.startedAt, first + row)],
    [`from-${row}`, narrow ? '10:00' : '08:00'],
    [`to-${row}`, narrow ? '11:00' : '18:00'],
  ])
  return Object.fromEntries([['do', 'send'], ['zone', MEETING_ZONE], ...days.flat()])
}

/** Who has had mail of ours, and so has something to answer: addresses, the longest ago first. */
const mailedTo = ({ known }: Play): readonly string[] => [...new Set(known.mails.map(({ to }) => to))]

const oneMailedTo = (play: Play, index: number): string | undefined =>
  pick(mailedTo(play), index, (address) => asked.some((name) => cast[name].address === address))

export const answerOnPage = stepOf({
  name: 'page',
  draw: fc.record({
    index: anyIndex,
    old: fc.constantFrom(false, false, true),
    answer: fc.constantFrom('times', 'times', 'narrow', 'not_taking_part', 'contact_refused'),
  }),
  act: async (play, { index, old, answer }) => {
    const address = oneMailedTo(play, index)
    const links = address === undefined ? [] : await linksTo(play, address, 'reply')
    const link = old ? await outdatedOf(play, links) : links.at(-1)
    if (link === undefined) return undefined
    return `${await send(play, link, answer)}`
  },
})

type Answer = 'times' | 'narrow' | 'not_taking_part' | 'contact_refused'

const send = async (play: Play, link: string, answer: Answer): Promise<number> => {
  const isTimes = answer === 'times' || answer === 'narrow'
  const { status } = await play.page(
    play.client.sendForm(link, {
      answer: isTimes ? 'times' : answer,
      ...(isTimes && timesOf(play, claimsOf(link).meetingId, answer === 'narrow')),
    }),
  )
  // Within the window, and long enough: a model whose people are never understood would prove little.
  if (isTimes && status === 422) throw new Broken('answers_are_taken', 'good times were not understood')
  if (status === 200) await heard(play, link, answer)
  return status
}

/** By a link that is void already, or that becomes so a moment before. */
export const answerByVoidLink = stepOf({
  name: 'void link',
  draw: fc.constantFrom<Answer[]>('times', 'times', 'not_taking_part'),
  act: async (play, answer) => {
    const links = await Promise.all(asked.map((name) => linksTo(play, cast[name].address, 'reply')))
    const link = await outdatedOf(play, links.flat())
    return link === undefined ? undefined : `${await send(play, link, answer)}`
  },
})

/** Mails go out, and whoever is still waited for answers. */
const allAnswer = (given: Answer): fc.Arbitrary<Step> =>
  stepOf({
    name: 'all answer',
    draw: fc.constant(given),
    act: async (play, answer) => {
      await play.dispatcher.drain()
      const rows = await readRows(play.database)
      const links = await Promise.all(asked.map((name) => linksTo(play, cast[name].address, 'reply')))
      const current = links.flat().filter((each) => {
        const { meetingId, participantId } = claimsOf(each)
        const state = rows.meetings.find(({ id }) => id === meetingId)?.state.type
        return (
          state === 'gathering' && !play.known.answers.has(participantId) && partOf(rows, each)?.isCurrent
        )
      })
      const byPart = new Map(current.map((each) => [claimsOf(each).participantId, each]))
      const statuses: number[] = []
      for (const link of byPart.values()) statuses.push(await send(play, link, answer))
      const { claimed } = await play.dispatcher.drain()
      return `${statuses.join(' ')}, ${claimed} rows`
    },
  })
export const answerAll = allAnswer('times')
export const declineAll = allAnswer('not_taking_part')

/** The answer was taken: it must have been of somebody who takes part, by the link that they were given last. */
const heard = async (play: Play, link: string, answer: string): Promise<void> => {
  const { meetingId, participantId, revision } = claimsOf(link)
  const [{ participants }, ledger] = await Promise.all([readRows(play.database), play.control.readLedger()])
  const person = participants.find(({ id }) => id === participantId)
  const sequence = lastSequence({ ledger })
  if (answer === 'contact_refused') {
    if (person) play.known.refusals.set(person.address, sequence)
    return
  }
  if (person?.revision !== revision) {
    throw new Broken('outdated_links', `an answer was taken by a link of revision ${revision}`)
  }
  play.known.answers.set(participantId, { meetingId, sequence })
}

export const optOut = stepOf({
  name: 'opt out',
  draw: fc.record({ index: anyIndex }),
  act: async (play, { index }) => {
    const address = oneMailedTo(play, index)
    const [link] = address === undefined ? [] : await linksTo(play, address, 'opt-out')
    if (address === undefined || link === undefined) return undefined
    const page = await play.page(play.client.sendForm(link, {}))
    if (page.status === 200) play.known.refusals.set(address, lastSequence(play.seen))
    return `${address} ${page.status}`
  },
})

export const answerByMail = stepOf({
  name: 'mail',
  draw: fc.record({
    index: anyIndex,
    kind: fc.constantFrom('reply' as const, 'reply' as const, 'out_of_office' as const, 'bounce' as const),
    text: fc.constantFrom('Any time on Wednesday.', 'Tomorrow 10:00 to 11:00 I can.', 'I cannot say.', ''),
  }),
  act: async (play, { index, kind, text }) => {
    const address = oneMailedTo(play, index)
    if (address === undefined) return undefined
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
    const part = pick(
      play.seen.participants.filter(({ connected }) => !connected),
      index,
      ({ address }) => address === cast[who].address,
    )
    return part && connect(play, part)
  },
})

/** Names this person's calendar to the meeting, if they have one. */
export const connect = async (
  play: Play,
  { id, meetingId, address }: Play['seen']['participants'][number],
): Promise<string | undefined> => {
  const meeting = play.known.meetings.find((each) => each.id === meetingId)
  const name = names.find((each) => cast[each].address === address)
  if (!meeting || !name) return undefined
  const { status } = await play.post(`/v1/meetings/${meetingId}/participants/${id}/calendar`, {
    by: { address: cast[meeting.organizer].address },
    calendarConnectionId: play.people.get(name)?.connectionId,
  })
  // Whoever has a calendar is not asked, unless somebody says so.
  if (status === 200) play.known.answers.set(id, { meetingId, sequence: lastSequence(play.seen) })
  return `#${meeting.number} ${status}`
}

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
  draw: fc.record({ index: anyIndex, who: anyIndex }),
  act: async (play, { index, who }) => {
    const proposal = pick(play.seen.proposals, index, ({ id }) =>
      play.seen.meetings.some(
        ({ state }) =>
          state.proposalId === id && (state.type === 'awaiting_approval' || state.type === 'booking'),
      ),
    )
    const taking = play.seen.participants.filter(
      ({ meetingId, connected }) => connected && meetingId === proposal?.meetingId,
    )
    const one = pick(taking, who, ({ role }) => role === 'required')
    const name = names.find((each) => cast[each].address === one?.address)
    const person = name && play.people.get(name)
    if (!proposal || !name || !person) return undefined
    const { start, end } = proposal
    const block = { start: start.toISOString(), end: end.toISOString(), status: 'busy' as const }
    await play.putPerson(name, { busy: [...(person.busy ?? []), block] })
    play.known.busy.push({ address: person.address, start, end, turn: play.turn })
    return 'done'
  },
})
