/** A run in which everything went well: one meeting booked, another cancelled. Tests spoil one thing in it. */
import type { LedgerEntry, RequestEntry } from '@aftercommit/simulator'
import type { HoldNote } from './hold-log.ts'
import type { Seen, SeenRow } from './seen.ts'

export const at = (second: number): Date => new Date(Date.UTC(2030, 0, 7, 9, 0, second))
const START = '2030-01-14T09:00:00.000Z'
const END = '2030-01-14T10:00:00.000Z'

export const row = (id: number, action: string, of: Partial<SeenRow> = {}): SeenRow => ({
  id: String(id),
  action: `scheduling.${action}`,
  meetingId: 'booked',
  orderingKey: null,
  state: null,
  outcome: 'succeeded',
  code: null,
  notBefore: at(0),
  startedAt: at(id * 2),
  endedAt: at(id * 2 + 1),
  isForLater: false,
  payload: { proposalId: 'p1' },
  ...of,
})

const rows: readonly SeenRow[] = [
  row(1, 'write_event', { orderingKey: 'meeting:booked' }),
  row(2, 'read_back_event', { orderingKey: 'meeting:booked' }),
  row(3, 'notify_client', { payload: { event: 'meeting.confirmed', occasionId: 'p1' } }),
  row(4, 'watch_event', {
    state: 'scheduled',
    outcome: null,
    startedAt: null,
    endedAt: null,
    isForLater: true,
  }),
  row(5, 'write_event', {
    meetingId: 'called_off',
    orderingKey: 'meeting:called_off',
    payload: { proposalId: 'p2' },
  }),
  row(6, 'cancel_event', {
    meetingId: 'called_off',
    orderingKey: 'meeting:called_off',
    payload: { proposalId: 'p2' },
  }),
  row(7, 'notify_client', {
    meetingId: 'called_off',
    payload: { event: 'meeting.cancelled', occasionId: 'called_off' },
  }),
]

export const effect = (
  name: LedgerEntry['effect'],
  n: 1 | 2,
  more: Partial<LedgerEntry> = {},
): LedgerEntry => ({
  sequence: n,
  at: START,
  provider: 'google',
  effect: name,
  by: 'api',
  eventId: `event${n}`,
  operationId: `operation${n}`,
  start: START,
  end: END,
  ...more,
})

export const request = (operation: string, status: number | null): RequestEntry => ({
  at: START,
  requestId: operation,
  provider: 'google',
  operation,
  address: 'ada@google.example',
  status,
})

export const note = (of: Partial<HoldNote>): HoldNote => ({
  rowId: '1',
  op: 'moved',
  at: at(10),
  targetId: null,
  stateBefore: 'ready',
  stateAfter: 'leased',
  fenceBefore: '0',
  fenceAfter: '1',
  leaseUntil: null,
  login: 'first',
  tx: '100',
  ...of,
})

const claimed = note({})
const began = note({ op: 'started', stateBefore: 'leased', fenceBefore: '1' })
const ended = note({
  op: 'removed',
  stateBefore: 'leased',
  stateAfter: null,
  fenceBefore: '1',
  fenceAfter: null,
})

export const wellSeen: Seen = {
  asked: [
    {
      key: 'k1',
      path: '/v1/meetings',
      about: 'Chaos 1',
      unanswered: 2,
      answer: { status: 201, body: { id: 'booked' } },
    },
  ],
  meetings: [
    { id: 'booked', purpose: 'Chaos 1', state: 'confirmed', standingProposalId: 'p1' },
    { id: 'called_off', purpose: 'Chaos 2', state: 'cancelled', standingProposalId: null },
  ],
  rows,
  approvals: [
    { proposalId: 'p1', meetingId: 'booked', operationId: 'operation1', start: START, end: END },
    { proposalId: 'p2', meetingId: 'called_off', operationId: 'operation2', start: START, end: END },
  ],
  written: [{ proposalId: 'p1', meetingId: 'booked' }],
  completed: [{ proposalId: 'p1', meetingId: 'booked' }],
  holds: [claimed, began, ended],
  ledger: [effect('event_created', 1), effect('event_created', 2), effect('event_cancelled', 2)],
  requests: [request('events.insert', null), request('events.list', 200), request('events.insert', 200)],
  told: [
    { type: 'meeting.confirmed', data: { meetingId: 'booked', occasionId: 'p1' } },
    { type: 'meeting.cancelled', data: { meetingId: 'called_off', occasionId: 'called_off' } },
  ],
}
