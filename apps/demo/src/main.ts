/** `npm start`: the whole product, doing its main job before one's eyes. */
import { mkdir, open, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTenant } from '@aftercommit/platform/tenants'
import { readArguments, USAGE } from './arguments.ts'
import { sentenceOf } from './sentence.ts'
import { realClock } from './scenario/clock.ts'
import { checkLine, judge, type Check } from './scenario/judge.ts'
import { play } from './scenario/play.ts'
import { processStage } from './scenario/process-stage.ts'
import { recordOf, type Recorded } from './scenario/run.ts'
import { hardMeetingAt } from './scenario/scenarios/hard-meeting.ts'
import { startStack, type Stack } from './stack.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

const TENANT = 'Demo'
/** As shells have it for a command that was typed wrongly. */
const UNUSABLE = 2

const main = async (): Promise<number> => {
  const read = readArguments(process.argv.slice(2))
  switch (read.type) {
    case 'help':
      process.stdout.write(USAGE)
      return 0
    case 'unusable':
      return refuse(read.reason)
    case 'run': {
      const unwritable = read.json === undefined ? undefined : await whyUnwritable(read.json)
      return unwritable === undefined ? run(read) : refuse(unwritable)
    }
  }
}

const refuse = (reason: string): number => {
  process.stderr.write(`npm start: ${reason}\n\n${USAGE}`)
  return UNUSABLE
}

/** Found out before the story, not after it. */
const whyUnwritable = async (file: string): Promise<string | undefined> => {
  try {
    await mkdir(dirname(file), { recursive: true })
    await (await open(file, 'a')).close()
    return undefined
  } catch (error) {
    return `cannot write to ${file}: ${sentenceOf(error)}`
  }
}

const run = async (values: {
  readonly once: boolean
  readonly json: string | undefined
}): Promise<number> => {
  const startedAt = new Date()
  const tell = (line: string): void => {
    const seconds = ((Date.now() - startedAt.getTime()) / 1000).toFixed(2).padStart(6)
    process.stdout.write(`${seconds} s  ${line}\n`)
  }
  const interrupted = new Promise<void>((resolve) => {
    // Kept for good: a second Ctrl-C must not end this process before it has stopped the others.
    process.on('SIGINT', () => resolve())
    process.on('SIGTERM', () => resolve())
    process.on('SIGHUP', () => resolve())
  })
  const data = process.env.AFTERCOMMIT_DATA ?? join(root, '.data')
  const stack = await startStack(root, data, tell)
  try {
    tell(`API, simulator and ${stack.dispatchers.length} dispatcher processes are up.`)
    const { apiKey, tenantId } = await createTenant(stack.ownerUrl, TENANT)
    tell(`A tenant of its own for this start, “${TENANT}” (${tenantId}), with one API key.`)
    const { ownerUrl } = stack
    const stage = processStage({ fleet: stack, ownerUrl, tenantId, apiKey, clockOver: realClock })
    const work = (async () => {
      try {
        const played = await play(hardMeetingAt(startedAt), stage, tell, 'everything')
        const checks = await judge(played)
        const record = await recordOf(played, checks)
        if (values.json !== undefined) await writeJson(values.json, record)
        return { checks, meeting: await played.view() }
      } finally {
        await stage.stop()
      }
    })()
    // Interrupted, the story fails somewhere on its way; that is no news then.
    work.catch(() => undefined)
    const ended = await Promise.race([work, interrupted.then(() => undefined)])
    if (!ended) return 130
    printVerdict(ended.checks, ended.meeting.state.type)
    if (!values.once) {
      printUrls(stack, data, apiKey, ended.meeting.id)
      await interrupted
    }
    return ended.checks.every(({ passed }) => passed) ? 0 : 1
  } finally {
    await stack.stop()
  }
}

/** The story has one meeting; its parts stand at the top, where a reader looks for them. */
const writeJson = (file: string, { meetings, ...record }: Recorded) =>
  writeFile(file, `${JSON.stringify({ ...record, ...meetings[0] }, null, 2)}\n`)

const printVerdict = (checks: readonly Check[], state: string): void => {
  process.stdout.write(`\nThe meeting is ${state}.\n`)
  for (const check of checks) process.stdout.write(`${checkLine(check)}\n`)
}

const printUrls = (stack: Stack, data: string, apiKey: string, meetingId: string): void => {
  const { apiUrl: api, simulatorUrl: simulator } = stack
  process.stdout.write(`
The API and its reference    ${api}/docs
What the providers hold      ${simulator}/control/ledger
Logs of every process        ${join(data, 'logs')}

export API=${api} KEY=${apiKey} SIM=${simulator}

The whole story of this meeting on one page, for a reader who saw nothing else:
curl -s $API/v1/meetings/${meetingId}/trace -H "authorization: Bearer $KEY" -H 'accept: text/plain'

The same as JSON, for a program:
curl -s $API/v1/meetings/${meetingId}/trace -H "authorization: Bearer $KEY"

Your own first meeting: docs/getting-started.md. Ctrl-C stops everything.
`)
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`npm start: ${sentenceOf(error)}\n`)
  return 1
})
