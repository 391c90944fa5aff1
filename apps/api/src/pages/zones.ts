import { listedZones, type TimeZone } from '@aftercommit/time'

export interface ZoneGroup {
  readonly area: string
  readonly zones: readonly { readonly zone: TimeZone; readonly label: string }[]
}

/** Zones by area, as people look for them: the place in front, so that its first letters find it in a list. */
const groupsOf = (zones: readonly TimeZone[]): readonly ZoneGroup[] => {
  const byArea = new Map<string, { zone: TimeZone; label: string }[]>()
  for (const zone of zones) {
    const slash = zone.indexOf('/')
    const area = slash === -1 ? 'Other' : zone.slice(0, slash)
    const label = zone
      .slice(slash + 1)
      .replaceAll('_', ' ')
      .replaceAll('/', ', ')
    byArea.set(area, [...(byArea.get(area) ?? []), { zone, label }])
  }
  return [...byArea].map(([area, inArea]) => ({ area, zones: inArea }))
}

let listed: readonly ZoneGroup[] | undefined

/** Every zone to choose from; those given are among them even where the runtime does not list their names. */
export const zoneGroups = (known: readonly TimeZone[]): readonly ZoneGroup[] => {
  // Asking the runtime for all of them takes long enough to do it once.
  listed ??= groupsOf(listedZones())
  const names = new Set(listed.flatMap(({ zones }) => zones.map(({ zone }) => zone)))
  const others = known.filter((zone) => !names.has(zone))
  if (others.length === 0) return listed
  return groupsOf([...new Set([...others, ...names])].sort((a, b) => (a < b ? -1 : 1)))
}
