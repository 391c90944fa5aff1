/** What must hold after every step, judged from outside. Each breach names its invariant. */
import { mailsMustBeAllowed } from './mail-invariants.testing.ts'
import { Broken, type KnownMeeting, type Play } from './play.testing.ts'
import { liveEventsOf, operationIdsOf, type Seen, type SeenMeeting } from './seen.testing.ts'

export const mustHold = (play: Play, before: Seen): void => {
  for (const known of play.known.meetings) {
    const meeting = play.seen.meetings.find(({ id }) => id === known.id)
    if (!meeting) throw new Broken('nothing_lost', `#${known.number} is not there any more`)
    nobodyIsDropped(play, known, meeting)
    confirmedIsProved(play, known, meeting)
    somethingFollows(play, known, meeting)
    endsAreFinal(play, before, known, meeting)
  }
  nobodyIsPromisedTwice(play)
  nothingIsWrittenOverBusyTime(play, before)
  mailsMustBeAllowed(play)
}

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((each) => b.has(each))

/** Whoever takes part stays, in the same role, until a person agreed to something else. */
const nobodyIsDropped = (
  { seen }: Play,
  { roles, id, number }: KnownMeeting,
  { state }: SeenMeeting,
): void => {
  const taking = seen.participants.filter(({ meetingId }) => meetingId === id)
  if (taking.length === 0 && ['incomplete', 'lapsed', 'cancelled'].includes(state.type)) return
  const found = new Set(taking.map(({ address, role }) => `${role} ${address}`))
  const agreed = new Set([...roles].map(([address, role]) => `${role} ${address}`))
  if (!sameSet(found, agreed)) {
    throw new Broken('nobody_dropped', `#${number} has ${[...found].join()} and not ${[...agreed].join()}`)
  }
}

/** A confirmed meeting has a proof, and its event is what was approved, unless a person has touched it since. */
const confirmedIsProved = (play: Play, known: KnownMeeting, { state }: SeenMeeting): void => {
  if (state.type !== 'confirmed') return
  const { seen } = play
  const fail = (what: string): never => {
    throw new Broken('no_confirmation_without_proof', `#${known.number} is confirmed, and ${what}`)
  }
  const proof = seen.completions.find(({ proposalId }) => proposalId === state.proposalId)
  const proposal = seen.proposals.find(({ id }) => id === state.proposalId)
  const approval = seen.approvals.find(({ proposalId }) => proposalId === state.proposalId)
  if (!proof || !proposal || !approval) return fail('nothing proves it')
  const earlier = play.known.proved.get(proof.proposalId)
  const turn = earlier?.verifiedAt === proof.verifiedAt ? earlier.turn : play.turn
  play.known.proved.set(proof.proposalId, { verifiedAt: proof.verifiedAt, turn })
  if ((play.known.touched.get(proof.eventId) ?? -1) >= turn) return
  const event = seen.held.find(({ id }) => id === proof.eventId)
  if (event?.status !== 'confirmed') return fail(`its event is ${event?.status ?? 'nowhere'}`)
  const { draft } = approval
  const isOther = (address: string): boolean => address !== draft.calendarAddress
  const invited = new Set(event.attendees.map(({ address }) => address).filter(isOther))
  if (!sameSet(invited, new Set(draft.attendees.map(({ address }) => address)))) fail('others are invited')
  for (const [address, role] of known.roles) {
    if (role === 'required' && isOther(address) && !invited.has(address)) fail(`${address} is not invited`)
  }
  const at = (text: string): number => new Date(text).getTime()
  if (at(event.start) !== proposal.start.getTime() || at(event.end) !== proposal.end.getTime()) {
    fail(`its event is at ${event.start} and not at ${proposal.start.toISOString()}`)
  }
  if (event.title !== draft.title) fail('its event is called otherwise')
}

/** What each state waits for: rows of these actions, if it is not a person. */
const followsBy: Readonly<Record<string, readonly string[]>> = {
  gathering: ['read_availability', 'ask_participant', 'reach_deadline'],
  choosing: ['find_time'],
  awaiting_approval: ['reach_deadline'],
  no_overlap: ['reach_deadline'],
  incomplete: ['reach_deadline'],
  booking: ['write_event', 'change_event'],
  write_uncertain: ['write_event', 'change_event', 'write_event#reconcile', 'change_event#reconcile'],
  verifying: ['read_back_event'],
  clearing: ['cancel_event'],
  cancelling: ['cancel_event'],
}

const somethingFollows = ({ seen }: Play, { id, number }: KnownMeeting, { state }: SeenMeeting): void => {
  const fail = (what: string): never => {
    throw new Broken('something_follows', `#${number} is ${state.type}, and ${what}`)
  }
  if (state.type === 'in_repair' && !seen.repairs.some((repair) => repair.id === state.repairId)) {
    fail('its repair is not open')
  }
  if (state.type === 'incomplete' && !seen.exceptions.some(({ meetingId }) => meetingId === id)) {
    fail('it has no open exception')
  }
  const follows = followsBy[state.type]
  const live = seen.live.filter(({ meetingId }) => meetingId === id).map(({ action }) => action)
  if (follows && !live.some((action) => follows.some((each) => action === `scheduling.${each}`))) {
    fail(`nothing that is pending leads on: ${live.join(', ')}`)
  }
}

/** What ended stays ended; and what was cancelled by a right word is cancelled, or a repair says why not. */
const endsAreFinal = (
  { seen: { live } }: Play,
  before: Seen,
  { id, number, isCancelled }: KnownMeeting,
  { state }: SeenMeeting,
): void => {
  const earlier = before.meetings.find((each) => each.id === id)?.state.type
  if ((earlier === 'cancelled' || earlier === 'lapsed') && state.type !== earlier) {
    throw new Broken('ends_are_final', `#${number} was ${earlier} and is ${state.type}`)
  }
  const isEnding =
    state.type === 'cancelled' ||
    state.type === 'cancelling' ||
    (state.type === 'in_repair' && state.code === 'cancel_failed')
  if (isCancelled && !isEnding) {
    throw new Broken(
      'ends_are_final',
      `#${number} was cancelled by a person and is ${state.type} (${live.length} rows)`,
    )
  }
}

/** Of two confirmed meetings at one time nobody is required in both. */
const nobodyIsPromisedTwice = ({ known, seen }: Play): void => {
  const booked = known.meetings.flatMap(({ id, number, roles }) => {
    const state = seen.meetings.find((each) => each.id === id)?.state
    const slot = state?.type === 'confirmed' && seen.proposals.find((each) => each.id === state.proposalId)
    return slot ? [{ number, slot, roles }] : []
  })
  booked.forEach((one, index) => {
    for (const other of booked.slice(index + 1)) {
      if (one.slot.start >= other.slot.end || other.slot.start >= one.slot.end) continue
      const both = [...one.roles].find(
        ([who, role]) => role === 'required' && other.roles.get(who) === 'required',
      )
      if (both) {
        throw new Broken(
          'nobody_promised_twice',
          `${both[0]} is in #${one.number} and #${other.number} at one time`,
        )
      }
    }
  })
}

/** What was in a required person's calendar before this step, an event of this step does not lie upon. */
const nothingIsWrittenOverBusyTime = ({ known, seen, turn }: Play, before: Seen): void => {
  const written = seen.ledger
    .slice(before.ledger.length)
    .filter(
      ({ effect, by, operationId }) =>
        by === 'api' &&
        operationId !== undefined &&
        (effect === 'event_created' || effect === 'event_patched'),
    )
  for (const { operationId = '', start = '', end = '' } of written) {
    const meeting = known.meetings.find(({ id }) => operationIdsOf(seen, id).has(operationId))
    if (!meeting || meeting.isRestored || meeting.planted > 0) continue
    for (const block of known.busy) {
      const overlaps = block.start < new Date(end) && block.end > new Date(start)
      const person = seen.participants.find(
        ({ meetingId, address }) => meetingId === meeting.id && address === block.address,
      )
      const isRead = person?.role === 'required' && person.connected && !toldInWords(seen, person.id)
      if (overlaps && isRead && block.turn < turn) {
        throw new Broken(
          'no_event_over_busy_time',
          `#${meeting.number} was written where ${block.address} is busy`,
        )
      }
    }
  }
}

const toldInWords = ({ stated }: Seen, id: string): boolean =>
  stated.some(({ participantId }) => participantId === id)

/** Once everything had its time: how many events there may be of a meeting. */
export const eventsAtRest = ({ seen, known }: Play): void => {
  for (const { id, number, planted } of known.meetings) {
    const meeting = seen.meetings.find((each) => each.id === id)
    const live = liveEventsOf(seen, id)
    const fail = (what: string): never => {
      throw new Broken(
        'one_event_at_rest',
        `#${number} is ${meeting?.state.type ?? 'nowhere'} and has ${what}`,
      )
    }
    const stands =
      meeting?.state.type === 'confirmed' ||
      meeting?.standing != null ||
      (meeting?.state.type === 'in_repair' && meeting.state.proposalId !== undefined)
    const isRepaired = meeting?.state.type === 'in_repair'
    if (!stands && live.length > 0) fail(`${live.length} events`)
    if (stands && !isRepaired && live.length > 1 + planted)
      fail(`${live.length} events, ${planted} of them planted`)
    if (stands && !isRepaired && live.length === 0 && !isTouched(seen, known.touched, id)) fail('no event')
  }
}

const isTouched = (seen: Seen, touched: ReadonlyMap<string, number>, meetingId: string): boolean =>
  seen.events.some((event) => event.meetingId === meetingId && touched.has(event.eventId))
