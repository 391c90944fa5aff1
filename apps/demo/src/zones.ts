/** Where the people of the stories live. */
import { parseTimeZone, type TimeZone } from '@aftercommit/time'

const zone = (name: string): TimeZone => {
  const parsed = parseTimeZone(name)
  if (parsed.type !== 'zone') throw new Error(`this runtime does not know ${name}`)
  return parsed.zone
}

export const BERLIN = zone('Europe/Berlin')
export const NEW_YORK = zone('America/New_York')
