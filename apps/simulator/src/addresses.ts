import type { World } from './state.ts'

/**
 * Whether a provider takes this address as an attendee: well formed, not under the reserved `.invalid` (RFC
 * 2606), and not of a person marked as not invitable.
 */
export const isInvitable = (world: World, address: string): boolean =>
  /^[^\s"'<>()@,;:\\]+@[^\s"'<>()@,;:\\]+\.[^\s"'<>()@,;:\\.]+$/.test(address) &&
  !address.toLowerCase().endsWith('.invalid') &&
  world.people.get(address.toLowerCase())?.invitable !== false
