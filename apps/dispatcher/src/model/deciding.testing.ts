/** What people who are in charge of a meeting do: approve, cancel, move, and choose repairs. Also those who are not. */
import fc from 'fast-check'
import { z } from 'zod'
import { connect } from './answering.testing.ts'
import { cast, displayNameOf } from './cast.testing.ts'
import { windowOf, windows, substituteOf } from './opening.testing.ts'
import { Broken, lastSequence, type Kept, type KnownMeeting, type Play } from './play.testing.ts'
import { anyIndex, pick, seenMeeting, stepOf } from './step.testing.ts'

const mostly = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.constantFrom(usual, usual, usual, ...others)

const is =
  (play: Play, ...types: readonly string[]) =>
  (meeting: KnownMeeting): boolean =>
    types.includes(seenMeeting(play, meeting).state.type)

/** Nobody's right to decide anything. */
const STRANGER = 'gus@microsoft.example'

export const approve = stepOf({
  name: 'approve',
  draw: fc.record({ index: anyIndex, how: mostly('right', 'right', 'twice', 'stranger', 'outdated') }),
  act: async (play, { index, how }) => {
    const meeting = pick(play.known.meetings, index, is(play, 'awaiting_approval'))
    if (!meeting) return undefined
    const proposals = play.seen.proposals.filter(({ meetingId }) => meetingId === meeting.id)
    const { state } = seenMeeting(play, meeting)
    const [older] = proposals.filter(({ id }) => id !== state.proposalId)
    const proposalId = how === 'outdated' ? older?.id : (state.proposalId ?? older?.id)
    if (proposalId === undefined) return undefined
    const address = how === 'stranger' ? STRANGER : (meeting.approver ?? cast.ada.address)
    const path = `/v1/meetings/${meeting.id}/approve`
    const answers = await Promise.all(
      Array.from({ length: how === 'twice' ? 2 : 1 }, () =>
        play.post(path, { proposalId, approver: { address } }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    const taken = statuses.filter((status) => status === 200).length
    const mayBe = how === 'stranger' || how === 'outdated' || meeting.approver === undefined ? 0 : 1
    if (taken > mayBe)
      throw new Broken('authority', `#${meeting.number} was approved ${taken} times (${how})`)
    return `#${meeting.number} ${statuses.join(' ')}`
  },
})

/** Somebody's calendar comes to be known after a time was proposed: that proposal cannot be approved any more. */
export const approveSuperseded = stepOf({
  name: 'approve superseded',
  draw: fc.record({ index: anyIndex }),
  act: async (play, { index }) => {
    const waiting = play.known.meetings.filter(is(play, 'awaiting_approval'))
    const meeting = pick(waiting, index, ({ approver }) => approver !== undefined)
    const part = play.seen.participants.find(
      ({ meetingId, connected }) => meetingId === meeting?.id && !connected,
    )
    if (!meeting || !part) return undefined
    const { proposalId } = seenMeeting(play, meeting).state
    const connected = await connect(play, part)
    if (!connected?.endsWith('200')) return connected
    await play.dispatcher.drain()
    const approver = { address: meeting.approver ?? cast.ada.address }
    const { status } = await play.post(`/v1/meetings/${meeting.id}/approve`, { proposalId, approver })
    if (status === 200) throw new Broken('authority', `#${meeting.number} was approved as it is no more`)
    return `${connected}, ${status}`
  },
})

export const approveAtOnce = stepOf({
  name: 'approve at once',
  draw: fc.constant(null),
  act: (play) => approveAll(play),
})

/** Everybody who is asked says yes in the same moment; undefined when nobody is. */
export const approveAll = async (play: Play): Promise<string | undefined> => {
  const waiting = play.known.meetings.flatMap((meeting) => {
    const { type, proposalId } = seenMeeting(play, meeting).state
    return type === 'awaiting_approval' && meeting.approver !== undefined
      ? [{ meeting, proposalId, approver: { address: meeting.approver } }]
      : []
  })
  if (waiting.length === 0) return undefined
  const answers = await Promise.all(
    waiting.map(({ meeting, ...approval }) => play.post(`/v1/meetings/${meeting.id}/approve`, approval)),
  )
  return answers.map(({ status }, index) => `#${waiting[index]?.meeting.number ?? 0} ${status}`).join(', ')
}

export const cancel = async (play: Play, meeting: KnownMeeting, address: string): Promise<string> => {
  const { status } = await play.post(`/v1/meetings/${meeting.id}/cancel`, { by: { address } })
  const wasIncomplete = seenMeeting(play, meeting).state.type === 'incomplete'
  if (status === 200 && address === STRANGER && !wasIncomplete) {
    throw new Broken('authority', `#${meeting.number} was cancelled by a stranger`)
  }
  if (status === 200) meeting.isCancelled = true
  return `#${meeting.number} ${status}`
}

export const cancelMeeting = stepOf({
  name: 'cancel',
  draw: fc.record({ index: anyIndex, stranger: fc.constantFrom(false, false, false, true) }),
  act: async (play, { index, stranger }) => {
    const meeting = pick(
      play.known.meetings,
      index,
      (each) => !is(play, 'cancelled', 'cancelling', 'lapsed')(each),
    )
    return meeting && cancel(play, meeting, stranger ? STRANGER : cast[meeting.organizer].address)
  },
})

/** Its event stands, and nothing of it is being written: a change may be sought already. */
const isMovable =
  (play: Play) =>
  (meeting: KnownMeeting): boolean =>
    is(play, 'confirmed')(meeting) ||
    (seenMeeting(play, meeting).standing !== null &&
      is(play, 'gathering', 'choosing', 'awaiting_approval', 'no_overlap')(meeting))

export const rescheduleMeeting = stepOf({
  name: 'reschedule',
  draw: fc.record({ index: anyIndex, window: windows, stranger: fc.constantFrom(false, false, false, true) }),
  act: async (play, { index, window, stranger }) => {
    const meeting = pick(play.known.meetings, index, isMovable(play))
    if (!meeting) return undefined
    const address = stranger ? STRANGER : cast[meeting.organizer].address
    const { status } = await play.post(`/v1/meetings/${meeting.id}/reschedule`, {
      by: { address },
      ...windowOf(play, window),
    })
    if (status === 200 && stranger)
      throw new Broken('authority', `#${meeting.number} was moved by a stranger`)
    if (status === 200) {
      askAnew(play, meeting)
      meeting.window = window
      meeting.kept = keptOf(play, meeting)
    }
    return `#${meeting.number} ${status}`
  },
})

export const withdrawChange = stepOf({
  name: 'withdraw change',
  draw: fc.record({ index: anyIndex, stranger: fc.constantFrom(false, false, false, true) }),
  act: async (play, { index, stranger }) => {
    const isSought = (each: KnownMeeting): boolean => isMovable(play)(each) && !is(play, 'confirmed')(each)
    const meeting = pick(play.known.meetings, index, isSought)
    // Whoever took a place in the change leaves it again; from whom, the model has not kept.
    if (!meeting || meeting.roles.has(CORRECTED.address) || meeting.roles.has(cast.gus.address))
      return undefined
    const wasSought = isSought(meeting)
    const address = stranger ? STRANGER : cast[meeting.organizer].address
    const { status } = await play.post(`/v1/meetings/${meeting.id}/withdraw-change`, { by: { address } })
    if (status === 200 && stranger)
      throw new Broken('authority', `the change of #${meeting.number} was given up by a stranger`)
    if (status !== 200 && !stranger && wasSought)
      throw new Broken('authority', `the change of #${meeting.number} was not given up: ${status}`)
    return `#${meeting.number} ${status}`
  },
})

/** The event under which the meeting is confirmed now. */
const keptOf = (play: Play, meeting: KnownMeeting): Kept | undefined => {
  const { proposalId } = seenMeeting(play, meeting).state
  const proof = play.seen.completions.find((each) => each.proposalId === proposalId)
  const event = play.seen.held.find(({ id }) => id === proof?.eventId)
  if (event?.status !== 'confirmed') return undefined
  const approvals = play.seen.approvals.filter(({ meetingId }) => meetingId === meeting.id).length
  return { eventId: event.id, start: event.start, turn: play.turn, approvals }
}

/** People's earlier answers hold no more, and they may be written to as often as the first time. */
const askAnew = (play: Play, meeting: KnownMeeting): void => {
  meeting.asking += 1
  for (const [person, { meetingId }] of play.known.answers) {
    if (meetingId === meeting.id) play.known.answers.delete(person)
  }
}

const choices = [
  'search_again',
  'search_again',
  'correct_address',
  'substitute_person',
  'substitute_person',
  'ask_in_words',
  'keep_one',
  'look_again',
  'restore_event',
  'accept_change',
  'keep_as_is',
  'cancel_meeting',
] as const
type ChoiceType = (typeof choices)[number]

/** Those that may name a window and a deadline of their own. */
const searches: ReadonlySet<ChoiceType> = new Set<ChoiceType>([
  'search_again',
  'correct_address',
  'substitute_person',
])

const Repair = z.object({ choices: z.array(z.string()) })
const Refused = z.object({ errors: z.array(z.object({ pointer: z.string() })) })
/** What of a body was refused by this answer. */
const pointersOf = (answer: string): readonly string[] =>
  Refused.safeParse(JSON.parse(answer)).data?.errors.map(({ pointer }) => pointer) ?? []

export const resolveRepair = stepOf({
  name: 'repair',
  draw: fc.record({
    index: anyIndex,
    choice: anyIndex,
    allowed: fc.constantFrom(true, true, true, true, false),
    stranger: fc.constantFrom(false, false, false, false, true),
    // As often without one: a new window alone makes another revision.
    window: fc.option(windows, { freq: 1 }),
  }),
  act: async (play, { index, choice, allowed, stranger, window }) => {
    const repair = pick(play.seen.repairs, index, () => true)
    const meeting = repair && play.known.meetings.find(({ id }) => id === repair.meetingId)
    if (!meeting) return undefined
    const offered = Repair.parse((await play.get(`/v1/repairs/${repair.id}`)).body).choices
    const type = pick(choices, choice, (each) => offered.includes(each) === allowed)
    if (!type) return undefined
    const [firstOf] = play.seen.participants.filter(({ meetingId }) => meetingId === meeting.id)
    const person = repair.participantIds[0] ?? firstOf?.id ?? ''
    const address = stranger ? STRANGER : cast[meeting.organizer].address
    const isNewSearch = window !== null && searches.has(type)
    const { status, text } = await play.post(`/v1/repairs/${repair.id}/resolve`, {
      by: { address },
      choice: { ...choiceOf(play, type, person), ...(isNewSearch && windowOf(play, window)) },
    })
    if (status === 200 && (stranger || !offered.includes(type))) {
      throw new Broken('authority', `#${meeting.number} was repaired by ${type}, which was not to be`)
    }
    if (offered.includes(type) && pointersOf(text).includes('/choice/type') && type !== 'accept_change') {
      throw new Broken('offers_hold', `#${meeting.number} offered ${type} and refused it`)
    }
    if (status === 200) chosen(play, meeting, type, person)
    if (status === 200 && isNewSearch) {
      askAnew(play, meeting)
      meeting.window = window
    }
    return `#${meeting.number} ${repair.code}: ${type} ${status}`
  },
})

const CORRECTED = { address: 'wenyuan@microsoft.example' }

const choiceOf = (play: Play, type: ChoiceType, participantId: string): Record<string, unknown> => {
  if (type === 'correct_address') return { type, participantId, ...CORRECTED }
  if (type !== 'substitute_person') return { type }
  return { type, participantId, substitute: substituteOf(play, 'gus') }
}

const chosen = (play: Play, meeting: KnownMeeting, type: ChoiceType, participantId: string): void => {
  meeting.isCancelled = type === 'cancel_meeting'
  meeting.isKept = type === 'keep_as_is'
  meeting.chosenAfter = lastSequence(play.seen)
  meeting.kept = undefined
  if (type === 'ask_in_words') askAnew(play, meeting)
  if (type === 'restore_event') meeting.isRestored = true
  if (type !== 'correct_address' && type !== 'substitute_person') return
  const before = play.seen.participants.find(({ id }) => id === participantId)
  if (!before)
    throw new Broken('authority', `somebody was replaced who does not take part (${displayNameOf('gus')})`)
  play.known.replaced.set(participantId, lastSequence(play.seen))
  meeting.peopleChangedIn = play.turn
  meeting.roles.delete(before.address)
  meeting.roles.set(type === 'correct_address' ? CORRECTED.address : cast.gus.address, before.role)
}
