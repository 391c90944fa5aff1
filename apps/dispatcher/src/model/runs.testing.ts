/** Many runs of the model, each from a seed of its own; the first that breaks a promise is made as short as it gets. */
import type { TestDatabase } from '@aftercommit/testing'
import fc from 'fast-check'
import { z } from 'zod'
import type { SchedulingWorld } from '../scheduling-world.testing.ts'
import * as answering from './answering.testing.ts'
import { beginBooked } from './beginning.testing.ts'
import * as deciding from './deciding.testing.ts'
import { openMeeting, openRival, openRivals, tellWhatIsMissing } from './opening.testing.ts'
import { raiseCurtain, type Play } from './play.testing.ts'
import * as providing from './providing.testing.ts'
import { comeToRest } from './rest.testing.ts'
import type { Plan, Step } from './step.testing.ts'
import * as working from './working.testing.ts'

const Settings = z.object({
  MODEL_RUNS: z.coerce.number().int().positive().default(12),
  MODEL_SEED: z.coerce.number().int().default(20_270_329),
  /** Of the failure that is to be seen again. */
  MODEL_PATH: z.string().optional(),
  MODEL_REPLAY: z.string().optional(),
  MODEL_SHRINK_MS: z.coerce.number().int().nonnegative().default(60_000),
})

const often = (times: number, step: fc.Arbitrary<Step>): readonly fc.Arbitrary<Step>[] =>
  Array.from({ length: times }, () => step)

const steps: readonly fc.Arbitrary<Step>[] = [
  ...often(3, openMeeting),
  ...often(2, openRival),
  ...often(2, tellWhatIsMissing),
  ...often(8, working.work),
  ...often(2, working.workALittle),
  ...often(3, working.workUntil),
  ...often(2, working.workTogether),
  ...often(4, working.passTime),
  ...often(3, working.die),
  ...often(4, working.actWhileWriting),
  ...often(3, working.actBeforeProof),
  ...often(2, working.handNoticed),
  ...often(2, working.loseAnswer),
  ...often(6, deciding.approve),
  ...often(3, deciding.approveAtOnce),
  ...often(2, deciding.approveSuperseded),
  ...often(3, deciding.cancelMeeting),
  ...often(3, deciding.rescheduleMeeting),
  ...often(2, deciding.withdrawChange),
  ...often(5, deciding.resolveRepair),
  ...often(3, answering.answerOnPage),
  ...often(3, answering.answerAll),
  ...often(2, answering.answerByVoidLink),
  ...often(3, answering.optOut),
  ...often(1, answering.answerByMail),
  ...often(3, answering.connectCalendar),
  ...often(1, answering.takeBackGrant),
  ...often(1, answering.giveGrant),
  ...often(2, answering.becomeBusy),
  ...often(6, providing.addFault),
  ...often(1, providing.clearFaults),
  ...often(1, providing.setConsistency),
  ...often(1, providing.setMailbox),
  ...often(1, providing.setConferences),
  ...often(1, providing.refuseInvitation),
  ...often(4, providing.touchEvent),
  ...often(1, providing.plantDuplicate),
]

const STEPS_MAX = 18
const MIB = 1_048_576

export interface Runs {
  readonly count: number
  readonly seed: number
  readonly timeoutMs: number
  run(world: SchedulingWorld, database: TestDatabase): Promise<void>
}

export const runsFrom = (env: Readonly<Record<string, string | undefined>>): Runs => {
  const { MODEL_RUNS: count, MODEL_SEED: seed, ...more } = Settings.parse(env)
  return {
    count,
    seed,
    timeoutMs: count * 60_000 + more.MODEL_SHRINK_MS,
    run: async (world, database) => {
      const startedMs = Date.now()
      for (let index = 0; index < count; index += 1) {
        await runOnce(world, database, seed + index, more)
        if ((index + 1) % 25 === 0) {
          const perRun = Math.round((Date.now() - startedMs) / (index + 1))
          const held = Math.round(process.memoryUsage.rss() / MIB)
          process.stderr.write(`model: ${index + 1} of ${count} runs, ${perRun} ms each, ${held} MiB held\n`)
        }
      }
    },
  }
}

const runOnce = async (
  world: SchedulingWorld,
  database: TestDatabase,
  seed: number,
  {
    MODEL_PATH: path,
    MODEL_REPLAY: replayPath,
    MODEL_SHRINK_MS: shrinkMs,
  }: Omit<z.output<typeof Settings>, 'MODEL_RUNS' | 'MODEL_SEED'>,
): Promise<void> => {
  let broken: { readonly story: string; readonly why: string } | undefined
  const property = fc.asyncProperty(
    fc.oneof(openRivals, beginBooked, beginBooked, fc.array(openMeeting, { minLength: 1, maxLength: 2 })),
    fc.commands([...steps], {
      maxCommands: STEPS_MAX,
      size: 'max',
      ...(replayPath !== undefined && { replayPath }),
    }),
    async (openings, commands) => {
      const play = await raiseCurtain(world, database)
      try {
        const plan: Plan = { opened: 0 }
        for (const opening of openings) await opening.run(plan, play)
        await fc.asyncModelRun(() => ({ model: plan, real: play }), commands)
        await comeToRest(play)
      } catch (error) {
        broken = { story: storyOf(play), why: error instanceof Error ? (error.stack ?? error.message) : '' }
        throw error
      }
    },
  )
  const result = await fc.check(property, {
    seed,
    numRuns: 1,
    plugins: [fc.unbiased()],
    skipAllAfterTimeLimit: shrinkMs,
    ...(path !== undefined && { path }),
  })
  if (!result.failed) return
  const commands = result.counterexample === null ? '' : fc.stringify(result.counterexample)
  const replay = /replayPath="([^"]*)"/.exec(commands)?.[1]
  const again = [
    `--runs 1 --seed ${seed}`,
    result.counterexamplePath && `--path ${result.counterexamplePath}`,
  ]
  throw new Error(
    [
      `A promise was broken after ${result.numShrinks} shrinks.`,
      broken?.why,
      broken?.story,
      `To see it again: npm run model -- ${again.join(' ')}${replay ? ` --replay ${replay}` : ''}`,
    ].join('\n'),
  )
}

const storyOf = ({ story }: Play): string => story.join('\n')
