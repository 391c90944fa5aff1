import { z } from 'zod'

export const TEMPLATE = 'aftercommit_test_template'

/** Where a test run's server is, and as whom each process connects. Handed to the workers in the environment. */
export const TestCluster = z.object({
  ownerUrl: z.string(),
  apiUrl: z.string(),
  dispatcherUrl: z.string(),
  operatorUrl: z.string(),
})
export type TestCluster = z.infer<typeof TestCluster>

export const testCluster = (): TestCluster => {
  const handed = process.env.AFTERCOMMIT_TEST_CLUSTER
  if (handed === undefined) throw new Error('no test database: run the tests through Jest')
  return TestCluster.parse(JSON.parse(handed))
}
