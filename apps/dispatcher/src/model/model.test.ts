/** Random sequences of everything that people, providers and time can do, held against the invariants after every step. */
import { useDatabase } from '@aftercommit/testing'
import { test } from '@jest/globals'
import { useSchedulingWorld } from '../scheduling-world.testing.ts'
import { runsFrom } from './runs.testing.ts'

const database = useDatabase()
const world = useSchedulingWorld(database)
const runs = runsFrom(process.env)

test(
  `whatever people, providers and time do, no promise is broken (${runs.count} runs from seed ${runs.seed})`,
  () => runs.run(world, database),
  runs.timeoutMs,
)
