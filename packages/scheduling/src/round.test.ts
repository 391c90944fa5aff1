import { describe, expect, test } from '@jest/globals'
import { early, intentOf, meetingIn, namesOf, personOf, unwritten } from './cast.testing.ts'
import type { ParticipantId } from './ids.ts'
import { evidenceArrived, gather } from './round.ts'

describe('gathering', () => {
  const nobody = new Set<ParticipantId>()

  test('reads everybody who has a calendar once, each on the account of their own', () => {
    const people = [personOf(), personOf({ role: 'optional' }), personOf({ connectionId: undefined })]
    const meeting = meetingIn({ type: 'gathering' }, { round: 4 })
    const { actions } = gather(meeting, {
      participants: people,
      knownOf: nobody,
      sentTo: unwritten,
      now: early,
    })
    expect(actions.map(({ payload, account }) => ({ payload, account }))).toEqual(
      people.slice(0, 2).map(({ id, connectionId }) => ({
        payload: { meetingId: expect.any(String), participantId: id, round: 4 },
        account: connectionId,
      })),
    )
  })

  test('asks those without a calendar by mail, if the meeting has the authority to', () => {
    const person = personOf({ connectionId: undefined })
    const gathering = { participants: [person], knownOf: nobody, sentTo: unwritten, now: early }
    const outreach = { messagesMax: 2 }
    const meeting = meetingIn({ type: 'gathering' }, { intent: intentOf({ outreach }) })
    const change = gather(meeting, gathering)
    expect(change.asked).toEqual([person.id])
    expect(change.actions).toMatchObject([
      {
        action: 'scheduling.ask_participant',
        account: 'mail',
        payload: { number: 1, participantRevision: 1 },
      },
    ])
    expect(gather(meetingIn({ type: 'gathering' }), gathering).actions).toEqual([])
  })

  test('neither reads nor asks whom it knows, and looks for a time at once when it knows all', () => {
    const people = [personOf(), personOf({ connectionId: undefined })]
    const knownOf = new Set(people.map(({ id }) => id))
    const change = gather(meetingIn({ type: 'gathering' }), {
      participants: people,
      knownOf,
      sentTo: unwritten,
      now: early,
    })
    expect(change.meeting.state.type).toBe('choosing')
    expect(namesOf(change.actions)).toEqual(['scheduling.find_time'])
  })

  test('does not go on before the last piece of evidence', () => {
    const people = [personOf(), personOf({ role: 'optional' })]
    const meeting = meetingIn({ type: 'gathering' })
    const known = new Set(people.slice(0, 1).map(({ id }) => id))
    expect(evidenceArrived(meeting, people, known)).toEqual({ meeting, actions: [] })
  })
})
