/**
 * Gathers calls made close together into one statement. While one batch is under way the next one gathers, so its
 * size follows the load by itself and a lone call waits for nothing.
 */
export const batcher = <In, Out>(
  flush: (items: readonly In[]) => Promise<readonly Out[]>,
  itemsMax: number,
): ((item: In) => Promise<Out>) => {
  type Waiting = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void }
  let waiting: Waiting[] = []
  let running = false

  const run = async (): Promise<void> => {
    running = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, itemsMax)
      waiting = waiting.slice(itemsMax)
      await flushOne(batch)
    }
    running = false
  }

  const flushOne = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const outs = await flush(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, index) => {
        const out = outs[index]
        if (out === undefined) reject(new Error('a batch answered fewer items than it was given'))
        else resolve(out)
      })
    } catch (error) {
      // One bad row must not reject its neighbours: each is tried by itself.
      if (batch.length === 1) batch[0]?.reject(error)
      else for (const one of batch) await flushOne([one])
    }
  }

  return (item) =>
    new Promise<Out>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!running) setImmediate(() => (running ? undefined : void run()))
    })
}
