export default async function globalTeardown() {
  const cluster = globalThis.aftercommitTestCluster
  const gone = new Promise((resolve) => cluster.once('exit', resolve))
  cluster.stdin.end()
  await gone
}
