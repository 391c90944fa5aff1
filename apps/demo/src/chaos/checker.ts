/** Holds the providers' ledger against the database, promise by promise. Pure. */
import { blind } from './checks/blind.ts'
import { doubled } from './checks/doubled.ts'
import { early, stale } from './checks/holds.ts'
import { lost } from './checks/lost.ts'
import type { Offence } from './checks/offence.ts'
import { outOfOrder } from './checks/order.ts'
import { stuck } from './checks/stuck.ts'
import type { Seen } from './seen.ts'

export const promises = {
  lost: 'nothing that was committed is lost',
  doubled: 'nothing is made twice, or without having been decided',
  blind: 'no write that may have happened is repeated without asking',
  stale: 'nobody settles what somebody else holds',
  order: 'nothing overtakes what stands before it',
  early: 'no lease is cut short and nothing begins before its time, whatever a clock says',
  stuck: 'nothing stands still for ever',
} as const
export type PromiseName = keyof typeof promises

export type Offences = Readonly<Record<PromiseName, readonly Offence[]>>

export const check = (seen: Seen): Offences => ({
  lost: lost(seen),
  doubled: doubled(seen),
  blind: blind(seen),
  stale: stale(seen),
  order: outOfOrder(seen),
  early: early(seen),
  stuck: stuck(seen),
})
