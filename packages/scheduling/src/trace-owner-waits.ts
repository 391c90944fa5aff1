/** Who was waited for by their office and not for their time: the requester, the approver, the owner of a repair. Pure. */
import type { EntryOf, TraceEntry } from './trace-entries.ts'
import { ended, overBy, roundBegunBy, type Wait } from './trace-waits.ts'

/** In the order in which they began. `approver` is who approves, as the meeting says now. */
export const ownerWaitsIn = (
  entries: readonly TraceEntry[],
  approver: string | undefined,
): readonly Wait[] => [...missingWaits(entries), ...approvalWaits(entries, approver), ...repairWaits(entries)]

/** What one person was asked at a time is one wait: it lasts until the last answer. */
const missingWaits = (entries: readonly TraceEntry[]): readonly Wait[] => {
  const waits: Wait[] = []
  const open = new Set<string>()
  for (const entry of entries) {
    const last = waits.at(-1)
    if (entry.type === 'exception_opened') {
      const { owner, code, at, exceptionId } = entry
      open.add(exceptionId)
      const isMore = last?.owner === owner && (last.until === undefined || last.until === at)
      if (!last || !isMore) {
        waits.push({ what: 'missing', owner, codes: [code], round: 1, from: at, because: [] })
        continue
      }
      // One answer may raise the next question.
      const { until: _, durationMs: __, ...again } = last
      waits[waits.length - 1] = { ...again, codes: [...(last.codes ?? []), code] }
    } else if (entry.type === 'exception_ended' && last) {
      open.delete(entry.exceptionId)
      const over = entry.state === 'resolved' ? {} : { over: entry.state }
      if (open.size === 0) waits[waits.length - 1] = { ...ended(last, entry.at), ...over }
    }
  }
  return waits
}

const approvalWaits = (entries: readonly TraceEntry[], approver: string | undefined): readonly Wait[] => {
  const approvals = new Map(
    entries.flatMap((entry) => (entry.type === 'approval' ? [[entry.proposalId, entry] as const] : [])),
  )
  return entries.flatMap((entry, index) => {
    if (entry.type !== 'proposal') return []
    const { at, round, proposalId } = entry
    const approval = approvals.get(proposalId)
    const owner = approval?.authority ?? approver
    if (owner === undefined || owner === 'automatic') return []
    const wait: Wait = { what: 'approval', owner, round, from: at, because: [] }
    if (approval) return [ended(wait, approval.at)]
    const over = entries.slice(index + 1).find((later) => overBy(later, round) !== undefined)
    return [over ? { ...ended(wait, over.at), over: overBy(over, round) } : wait]
  })
}

const repairWaits = (entries: readonly TraceEntry[]): readonly Wait[] => {
  const resolved = new Map(
    entries.flatMap((entry) => (entry.type === 'repair_resolved' ? [[entry.repairId, entry] as const] : [])),
  )
  let round = 1
  return entries.flatMap((entry) => {
    round = Math.max(round, roundBegunBy(entry) ?? 1)
    return entry.type === 'repair_opened' ? [repairWait(entry, round, resolved.get(entry.repairId))] : []
  })
}

const repairWait = (
  { owner, code, at }: EntryOf<'repair_opened'>,
  round: number,
  resolved: EntryOf<'repair_resolved'> | undefined,
): Wait => {
  const wait: Wait = { what: 'repair', owner, codes: [code], round, from: at, because: [] }
  return resolved ? ended(wait, resolved.at) : wait
}
