import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { endpoints, eventsOf, ids, intentOf, meetingIn, personOf, slot } from './cast.testing.ts'
import type { Meeting } from './meeting.ts'
import { timesFound, type Searched } from './proposal.ts'

describe('a search that ended', () => {
  const choosing = (more: Partial<Meeting> = {}) => meetingIn({ type: 'choosing' }, more)
  const people = [personOf(), personOf()]
  const [first, second] = people.map(({ id }) => id)
  const found: Searched = {
    result: {
      type: 'found',
      slots: [
        { ...slot, optionalAttending: [], optionalMissing: [{ id: 'chen', because: 'busy' }], ranking: [] },
      ],
    },
    evidenceIds: [ids.evidence()],
    unknownRequired: [],
  }
  const unknown = (codes: readonly string[]): Searched => {
    const unknownRequired = codes.map((code, index) => ({ participantId: String(people[index]?.id), code }))
    const participantIds = unknownRequired.map(({ participantId }) => participantId)
    return { result: { type: 'unknown_required', participantIds }, evidenceIds: [], unknownRequired }
  }
  const end = (searched: Searched, meeting = choosing()) =>
    timesFound(meeting, searched, endpoints, randomUUID)

  test('with a time proposes the best one, from this revision, round and evidence', () => {
    const meeting = choosing({ revision: 3, round: 2 })
    const chosen = end(found, meeting)
    if (chosen.type !== 'proposed') throw new Error(chosen.type)
    expect(chosen.proposal).toEqual({
      id: expect.any(String),
      meetingRevision: 3,
      round: 2,
      ...slot,
      evidenceIds: found.evidenceIds,
      grounds: {
        optionalAttending: [],
        optionalMissing: [{ id: 'chen', because: 'busy' }],
        ranking: [],
        alternatives: [],
      },
    })
    expect(chosen.meeting.state).toEqual({ type: 'awaiting_approval', proposalId: chosen.proposal.id })
    expect(eventsOf(chosen.actions.slice(0, 2))).toEqual([
      'proposal.awaiting_approval',
      'proposal.awaiting_approval',
    ])
    expect(chosen.actions.slice(2)).toMatchObject([
      { action: 'scheduling.send_notice', payload: { kind: 'approval_request' } },
    ])
  })

  test('asks nobody where the approval is automatic', () => {
    const meeting = choosing({ intent: intentOf({ approval: { type: 'automatic' } }) })
    expect(end(found, meeting)).toMatchObject({ type: 'proposed', actions: [] })
  })

  test('without a time is an outcome that the client is told', () => {
    const result = {
      type: 'no_overlap',
      startsTried: 3,
      blockers: [],
      blockersTruncated: false,
      soleBlockers: [],
      nearest: [],
    } as const
    const chosen = end({ result, evidenceIds: [], unknownRequired: [] })
    if (chosen.type !== 'no_overlap') throw new Error(chosen.type)
    expect(chosen.meeting.state).toMatchObject({ type: 'no_overlap', because: { startsTried: 3 } })
    expect(eventsOf(chosen.actions)).toEqual(['meeting.no_overlap', 'meeting.no_overlap'])
  })

  test('without knowing a required person is a repair that names them and why, and never a proposal', () => {
    const chosen = end(unknown(['grant_revoked', 'notFound']))
    if (chosen.type !== 'repair') throw new Error(chosen.type)
    expect(chosen.repair).toMatchObject({
      code: 'availability_unknown',
      owner: 'calendar_owner',
      facts: {
        participantIds: [first, second],
        reasons: [
          { participantId: first, code: 'grant_revoked' },
          { participantId: second, code: 'notFound' },
        ],
      },
    })
    expect(chosen.meeting.state).toMatchObject({ type: 'in_repair', repairId: chosen.repair.id })
  })

  test('that only lacks a key is a matter of whoever keeps the keys', () => {
    const ownerOf = (codes: readonly string[]) => {
      const chosen = end(unknown(codes))
      return chosen.type === 'repair' ? chosen.repair.owner : chosen.type
    }
    expect(ownerOf(['credential_unreadable', 'credential_unreadable'])).toBe('operations')
    expect(ownerOf(['credential_unreadable', 'grant_revoked'])).toBe('calendar_owner')
  })

  test('with nothing worse than evidence that grew old is outdated, and everybody is read anew', () => {
    expect(end(unknown(['expired', 'expired']))).toEqual({ type: 'outdated' })
  })

  test('with old evidence beside an unreadable calendar is a repair: reading anew would not help', () => {
    const chosen = end(unknown(['expired', 'notFound']))
    const reasons = [{ participantId: second, code: 'notFound' }]
    expect(chosen).toMatchObject({ type: 'repair', repair: { facts: { participantIds: [second], reasons } } })
  })

  test('that claims to have found a time and names none is a defect', () => {
    expect(() => end({ ...found, result: { type: 'found', slots: [] } })).toThrow()
  })
})
