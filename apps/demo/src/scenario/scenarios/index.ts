/** Every scenario, in the order in which docs/scenarios.md tells them. */
import type { Scenario } from '../scenario.ts'
import { noOverlap } from './no-overlap.ts'
import { providerOutage } from './provider-outage.ts'

export const scenarios: readonly Scenario[] = [noOverlap, providerOutage]
