import { setTimeout as pause } from 'node:timers/promises'
import { startBenchFleet, type BenchFleet } from '../fleet.ts'
import { connectPairs, eachOf, meetingOf, type Pair } from '../meetings.ts'
import { inTurns, recorder, type Scenario } from '../scenario.ts'
import type { Server } from '../server.ts'

const MEETINGS = { full: 100, quick: 10 }
const DISPATCHERS = [1, 2, 4]
/** Meetings already in the tables. */
const STANDING = { full: [0, 10_000, 1_000_000], quick: [0, 1_000] }
const POSTS_AT_A_TIME = 8
const CONFIRMED_MAX_MS = 120_000
const LOOK_MS = 10

export const meetings: Scenario = {
  name: 'meetings',
  title: 'Meetings from POST to confirmed, through whole processes',
  needsPeers: false,
  run: async ({ server, quick, repetitions, tell }) => {
    const count = quick ? MEETINGS.quick : MEETINGS.full
    const { note, series } = recorder()
    let standing = 0
    const fleet = await startBenchFleet(server, 'meetings')
    try {
      for (const wanted of quick ? STANDING.quick : STANDING.full) {
        await addStanding(server, fleet, wanted - standing)
        standing = wanted
        const suffix = wanted === 0 ? '' : `, ${wanted.toLocaleString('en-US')} meetings in the tables`
        await inTurns(repetitions, wanted === 0 ? DISPATCHERS : [2], async (dispatchers) => {
          const { perSecond, commits } = await confirmMany(server, fleet, dispatchers, count)
          const name = `${dispatchers} ${dispatchers === 1 ? 'dispatcher' : 'dispatchers'}${suffix}`
          note(name, 'meetings confirmed', 'per second', perSecond)
          note(name, 'commits', 'per meeting', commits)
          tell(`${name}: ${perSecond.toFixed(1)} meetings/s, ${commits.toFixed(0)} commits each`)
        })
      }
    } finally {
      await fleet.stop()
    }
    const notes = [
      `${count} meetings of two people each (one calendar at Google, one at Microsoft), posted ${POSTS_AT_A_TIME} at a time, approved automatically, written, read back and confirmed; people of their own for each meeting.`,
      'The simulated providers answer at once and share the machine, as does everything else. Commits are those of all processes in that time, polling included.',
    ]
    return { scenario: 'meetings', title: meetings.title, series, notes }
  },
}

const confirmMany = async (
  server: Server,
  fleet: BenchFleet,
  dispatchers: number,
  count: number,
): Promise<{ perSecond: number; commits: number }> => {
  const pairs = await connectPairs(fleet, count)
  const stop = await fleet.dispatch(dispatchers)
  try {
    await server.settle(fleet.ownerUrl)
    const before = await server.usage(fleet.ownerUrl)
    const began = performance.now()
    await postAndAwait(server, fleet, pairs)
    const seconds = (performance.now() - began) / 1_000
    const after = await server.usage(fleet.ownerUrl)
    return { perSecond: count / seconds, commits: (after.commits - before.commits) / count }
  } finally {
    await stop()
  }
}

const postAndAwait = async (server: Server, fleet: BenchFleet, pairs: readonly Pair[]): Promise<void> => {
  const ids: string[] = []
  await eachOf(pairs, POSTS_AT_A_TIME, async (pair) =>
    ids.push((await fleet.post('/v1/meetings', meetingOf(pair))).id),
  )
  const giveUpAt = performance.now() + CONFIRMED_MAX_MS
  await server.on(fleet.ownerUrl, async (sql) => {
    for (;;) {
      const { rows } = await sql.query<{ state: string; meetings: number }>(
        `select state, count(*)::int as meetings from meeting where meeting_id = any($1::uuid[]) group by state`,
        [ids],
      )
      if (rows.find(({ state }) => state === 'confirmed')?.meetings === pairs.length) return
      if (performance.now() > giveUpAt) {
        throw new Error(
          `not all meetings were confirmed: ${rows.map((row) => `${row.meetings} ${row.state}`).join(', ')}`,
        )
      }
      await pause(LOOK_MS)
    }
  })
}

/** Copies of a confirmed meeting and its people, under ids of their own. */
const addStanding = async (server: Server, fleet: BenchFleet, count: number): Promise<void> => {
  if (count <= 0) return
  await server.on(fleet.ownerUrl, (sql) =>
    sql.query(
      `with model as (select * from meeting where state = 'confirmed' limit 1),
       copies as (select gen_random_uuid() as id from generate_series(1, $1::int)),
       standing as (
         insert into meeting select (jsonb_populate_record(null::meeting, to_jsonb(m) || jsonb_build_object(
             'meeting_id', c.id, 'state', 'cancelled', 'standing_proposal_id', null))).* from model m, copies c)
       insert into participant select (jsonb_populate_record(null::participant, to_jsonb(p) || jsonb_build_object(
           'participant_id', gen_random_uuid(), 'meeting_id', c.id))).*
         from participant p join model m on m.meeting_id = p.meeting_id, copies c`,
      [count],
    ),
  )
}
