/** What was done to the product, counted as it happened. */
export const deeds = [
  'dispatchers killed',
  'APIs killed',
  'databases crashed',
  'connections cut',
  'dispatchers frozen past their lease',
  'cancellations behind a write',
] as const
export type Deed = (typeof deeds)[number]

export interface Tally {
  add(deed: Deed, count?: number): void
  readonly counts: Readonly<Record<Deed, number>>
}

export const newTally = (): Tally => {
  const counts = Object.fromEntries(deeds.map((deed) => [deed, 0])) as Record<Deed, number>
  return { counts, add: (deed, count = 1) => void (counts[deed] += count) }
}
