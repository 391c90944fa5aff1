import { fork } from 'node:child_process'
import { once } from 'node:events'
import { startBenchFleet } from '../fleet.ts'
import { connectPairs, eachOf, meetingOf, type Pair } from '../meetings.ts'
import { installPeers, peerScript } from '../peers.ts'
import { percentile } from '../results.ts'
import { inTurns, recorder, type Scenario } from '../scenario.ts'
import { z } from 'zod'

const POSTS = { full: 1_000, quick: 100 }
const AT_A_TIME = 4

type Post = (body: unknown) => Promise<unknown>

export const api: Scenario = {
  name: 'api',
  title: 'POST /v1/meetings, beside a bare Express that inserts the same bytes',
  needsPeers: true,
  run: async ({ server, quick, repetitions, tell }) => {
    const posts = quick ? POSTS.quick : POSTS.full
    const { note, series } = recorder()
    const fleet = await startBenchFleet(server, 'api')
    try {
      const bare = await startBareExpress(await server.createEmpty('bare_express'))
      try {
        const [pair] = await connectPairs(fleet, 1)
        if (!pair) throw new Error('nobody was connected')
        const sides: readonly (readonly [string, Post])[] = [
          ['aftercommit', (body) => fleet.post('/v1/meetings', body)],
          ['bare Express', bare.post],
        ]
        for (const [, post] of sides) await timed(post, pair, posts / 5)
        await inTurns(repetitions, sides, async ([name, post], repetition) => {
          const samples = await timed(post, pair, posts)
          const [p50, p99] = [percentile(samples, 0.5), percentile(samples, 0.99)]
          note(name, 'p50', 'ms', p50)
          note(name, 'p99', 'ms', p99)
          tell(`${repetition + 1}. ${name}: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`)
        })
      } finally {
        await bare.stop()
      }
    } finally {
      await fleet.stop()
    }
    const notes = [
      `${posts} requests, ${AT_A_TIME} at a time. The product checks key and body, writes the meeting, its people and two outbox rows with their identities; the bare Express parses the JSON and inserts it. No dispatcher runs.`,
      'No bar: it shows what the product’s work per request costs.',
    ]
    return { scenario: 'api', title: api.title, series, notes }
  },
}

const timed = async (post: Post, pair: Pair, count: number): Promise<readonly number[]> => {
  const samples: number[] = []
  await eachOf(
    Array.from({ length: count }, () => meetingOf(pair)),
    AT_A_TIME,
    async (body) => {
      const began = performance.now()
      await post(body)
      samples.push(performance.now() - began)
    },
  )
  return samples
}

const Port = z.object({ port: z.int() })

const startBareExpress = async (databaseUrl: string): Promise<{ post: Post; stop: () => Promise<void> }> => {
  await installPeers()
  const child = fork(peerScript('bare-express'), [databaseUrl], { execArgv: [] })
  const exited = once(child, 'exit')
  const [message] = (await once(child, 'message')) as [unknown]
  const url = `http://127.0.0.1:${Port.parse(message).port}/v1/meetings`
  return {
    post: async (body) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      await response.text()
      if (!response.ok) throw new Error(`the bare Express answered ${response.status}`)
    },
    stop: async () => {
      child.disconnect()
      await exited
    },
  }
}
