/** Ends a run with one plain line that any log reader understands. */
export default class ClosingLineReporter {
  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites } = results
    const failed = numFailedTests + numRuntimeErrorTestSuites
    process.stdout.write(`\ntests: ${numPassedTests} passed, ${failed} failed, ${numPendingTests} skipped\n`)
  }
}
