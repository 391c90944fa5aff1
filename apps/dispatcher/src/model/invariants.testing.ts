/** What must hold after every step, judged from outside. Each breach names its invariant. */
import { mailsMustBeAllowed } from './mail-invariants.testing.ts'
import { Broken, type KnownMeeting, type Play } from './play.testing.ts'
import { liveEventsOf, operationIdsOf, type Seen, type SeenMeeting } from './seen.testing.ts'

export const mustHold = (play: Play, before: Seen): void => {
  for (const known of play.known.meetings) {
    const meeting = play.seen.meetings.find(({ id }) => id === known.id)
    if (!meeting) throw new Broken('nothing_lost', `#${known.number} is not there any more`)
    peopleOfTheBooking(play, known, meeting)
    nobodyIsDropped(play, known, meeting)
    confirmedIsProved(play, known, meeting)
    somethingFollows(play, known, meeting)
    endsAreFinal(play, before, known, meeting)
    otherPeopleAreAnotherRevision(play, before, known, meeting)
    bookingStands(play, known, meeting)
    onlyOneEventStands(play, known)
  }
  nobodyIsPromisedTwice(play)
  handsAreNotOverwritten(play, before)
  nothingIsWrittenOverBusyTime(play, before)
  mailsMustBeAllowed(play)
}

const sameSet = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((each) => b.has(each))

/** A change that was not approved in time lapses together with its people: those of the booking take part again. */
const peopleOfTheBooking = ({ known, seen }: Play, meeting: KnownMeeting, { state }: SeenMeeting): void => {
  const { booked, roles, id } = meeting
  if (state.type !== 'confirmed' || state.proposalId === undefined) return
  if (booked?.proposalId !== state.proposalId) {
    meeting.booked = { proposalId: state.proposalId, roles: new Map(roles) }
    return
  }
  roles.clear()
  for (const [address, role] of booked.roles) roles.set(address, role)
  for (const person of seen.participants) if (person.meetingId === id) known.replaced.delete(person.id)
}

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

/** What was approved for some people is approved for nobody else: with others the meeting is another one. */
const otherPeopleAreAnotherRevision = (
  { turn }: Play,
  before: Seen,
  { id, number, peopleChangedIn }: KnownMeeting,
  { revision }: SeenMeeting,
): void => {
  const earlier = before.meetings.find((each) => each.id === id)
  if (peopleChangedIn === turn && earlier && revision <= earlier.revision) {
    throw new Broken('other_people_other_revision', `#${number} has other people and is revision ${revision}`)
  }
}

/** While the change of a booking is sought, it stands as it is, until another time is approved or a person chooses. */
const bookingStands = ({ seen, known }: Play, meeting: KnownMeeting, { state }: SeenMeeting): void => {
  const { kept, id, number, isCancelled } = meeting
  if (!kept) return
  const approvals = seen.approvals.filter(({ meetingId }) => meetingId === id).length
  const touchedIn = known.touched.get(kept.eventId)?.turn ?? -1
  if (isCancelled || approvals > kept.approvals || touchedIn >= kept.turn) {
    meeting.kept = undefined
    return
  }
  const event = seen.held.find((each) => each.id === kept.eventId)
  if (event?.status !== 'confirmed' || event.start !== kept.start || state.type === 'lapsed') {
    throw new Broken('booking_stands', `#${number} is ${state.type}, its event ${event?.status ?? 'nowhere'}`)
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
  if ((play.known.touched.get(proof.eventId)?.turn ?? -1) >= turn) return
  const differs = differenceOf(known, seen, { proof, proposal, approval })
  if (differs !== undefined) fail(differs)
}

interface Proved {
  readonly proof: Seen['completions'][number]
  readonly proposal: Seen['proposals'][number]
  readonly approval: Seen['approvals'][number]
}

/** In what the event at the provider is not what was approved. */
const differenceOf = (
  { roles }: KnownMeeting,
  { held }: Seen,
  { proof, proposal, approval: { draft } }: Proved,
): string | undefined => {
  const event = held.find(({ id }) => id === proof.eventId)
  if (event?.status !== 'confirmed') return `its event is ${event?.status ?? 'nowhere'}`
  const isOther = (address: string): boolean => address !== draft.calendarAddress
  const guests = event.attendees.filter(({ address }) => isOther(address))
  const invited = new Set(
    guests.map(({ address, optional }) => `${address} ${optional ? 'optional' : 'required'}`),
  )
  const approved = new Set(draft.attendees.map(({ address, role }) => `${address} ${role}`))
  if (!sameSet(invited, approved)) return 'others are invited'
  const left = [...roles].find(
    ([address, role]) => role === 'required' && isOther(address) && !invited.has(`${address} required`),
  )
  if (left) return `${left[0]} is not invited`
  const at = (text: string): number => new Date(text).getTime()
  if (at(event.start) !== proposal.start.getTime() || at(event.end) !== proposal.end.getTime()) {
    return `its event is at ${event.start} and not at ${proposal.start.toISOString()}`
  }
  if (event.conference !== (draft.conference ? 'ready' : 'none')) {
    return `its conference is ${event.conference}`
  }
  if (event.location !== null) return `it takes place at ${event.location}`
  return event.title === draft.title ? undefined : 'its event is called otherwise'
}

const HOUR_MS = 3_600_000

/**
 * Once everything had its time: what people did to a booked event was noticed, if it was done before the last look, an
 * hour before the meeting.
 */
export const handsAreNoticed = ({ seen, known }: Play): void => {
  for (const meeting of known.meetings) {
    const state = seen.meetings.find(({ id }) => id === meeting.id)?.state
    const proof = seen.completions.find(({ proposalId }) => proposalId === state?.proposalId)
    const proposal = seen.proposals.find(({ id }) => id === state?.proposalId)
    const approval = seen.approvals.find(({ proposalId }) => proposalId === state?.proposalId)
    if (state?.type !== 'confirmed' || !proof || !proposal || !approval) continue
    const last = proposal.start.getTime() - HOUR_MS
    const touchedAt = known.touched.get(proof.eventId)?.at.getTime() ?? 0
    // A booking whose change is sought is not looked at meanwhile.
    if (touchedAt >= last || new Date(proof.verifiedAt).getTime() >= last) continue
    if (meeting.isKept || meeting.asking > 0) continue
    const differs =
      differenceOf(meeting, seen, { proof, proposal, approval }) ?? declinedBy(meeting, seen, proof)
    if (differs !== undefined)
      throw new Broken('hands_are_noticed', `#${meeting.number} is confirmed, and ${differs}`)
  }
}

const declinedBy = (
  { roles }: KnownMeeting,
  { held }: Seen,
  { eventId }: Proved['proof'],
): string | undefined => {
  const event = held.find(({ id }) => id === eventId)
  const who = event?.attendees.find(
    ({ address, response }) => response === 'declined' && roles.get(address) === 'required',
  )
  return who && `${who.address} has declined`
}

type Entry = Seen['ledger'][number]

/** Where a person put an event since, there our own changes leave it, until a person chose how it goes on. */
const handsAreNotOverwritten = ({ seen, known }: Play, before: Seen): void => {
  for (const entry of seen.ledger.slice(before.ledger.length)) {
    if (entry.effect !== 'event_patched' || entry.by !== 'api') continue
    const earlier = seen.ledger.filter(
      ({ sequence, eventId }) =>
        sequence < entry.sequence && eventId !== undefined && eventId === entry.eventId,
    )
    const ours = earlier.findLast(({ by }) => by === 'api')
    const theirs = earlier.findLast(({ by }) => by === 'person')
    if (!ours || !theirs || theirs.sequence < ours.sequence) continue
    const isAt = (one: Entry, other: Entry): boolean => one.start === other.start && one.end === other.end
    if (isAt(theirs, ours) || isAt(theirs, entry)) continue
    const meeting = known.meetings.find(({ id }) => operationIdsOf(seen, id).has(entry.operationId ?? ''))
    if (meeting && meeting.chosenAfter < theirs.sequence) {
      throw new Broken('hands_are_not_overwritten', `#${meeting.number} was moved to ${theirs.start ?? '?'}`)
    }
  }
}

/** Also on the way: a second one would be in everybody's calendar, if only for a while. */
const onlyOneEventStands = ({ seen }: Play, { id, number, planted, mayComeLate }: KnownMeeting): void => {
  const ids = operationIdsOf(seen, id)
  const standing = new Set<string>()
  for (const { effect, operationId = '', eventId = '' } of seen.ledger) {
    if (!ids.has(operationId)) continue
    if (effect === 'event_cancelled') standing.delete(eventId)
    if (effect === 'event_created') standing.add(eventId)
    if (!mayComeLate && standing.size > 1 + planted) {
      throw new Broken('one_event', `#${number} had ${standing.size} events, ${planted} of them planted`)
    }
  }
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

/**
 * Nobody is required in two events at one time, as the provider holds them, whatever we made of it. Left out is what
 * stands where no approval put it: a person's hand did, or a copy that came to light.
 */
const nobodyIsPromisedTwice = ({ known, seen }: Play): void => {
  const promised = known.meetings.flatMap(({ id, number, roles }) => {
    const meeting = seen.meetings.find((each) => each.id === id)
    const bound = [meeting?.state.proposalId, meeting?.standing]
    const drafts = seen.approvals
      .filter(({ proposalId }) => bound.includes(proposalId))
      .map(({ draft }) => draft)
    const events = liveEventsOf(seen, id).flatMap((event) => {
      const [start, end] = [new Date(event.start), new Date(event.end)]
      const draft = drafts.find(
        (each) => each.start.getTime() === start.getTime() && each.end.getTime() === end.getTime(),
      )
      if (!draft) return []
      const people = [draft.calendarAddress, ...event.attendees.map(({ address }) => address)]
      return [{ start, end, people: new Set(people.filter((each) => roles.get(each) === 'required')) }]
    })
    return events.map((event) => ({ number, ...event }))
  })
  promised.forEach((one, index) => {
    for (const other of promised.slice(index + 1)) {
      if (one.number === other.number || one.start >= other.end || other.start >= one.end) continue
      const both = [...one.people].find((who) => other.people.has(who))
      if (both !== undefined) {
        throw new Broken(
          'nobody_promised_twice',
          `${both} is in #${one.number} and #${other.number} at one time`,
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

const isTouched = (seen: Seen, touched: Play['known']['touched'], meetingId: string): boolean =>
  seen.events.some((event) => event.meetingId === meetingId && touched.has(event.eventId))
