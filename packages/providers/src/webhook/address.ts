/**
 * Which addresses a webhook may be sent to: those on the internet that are nobody's inside, and origins of this machine that
 * its operator allows. Whoever takes an address in and whoever sends there judge it alike.
 */
import { BlockList, isIP } from 'node:net'
import { z } from 'zod'

const RESERVED = new BlockList()

/** IANA's special-purpose registry for IPv4, everything in it that is not globally reachable, and multicast. */
const RESERVED_IPV4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const

/** Inside 2000::/3, what is not one host's own public address: tunnels that carry an IPv4 address, and documentation. */
const RESERVED_IPV6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const

const GLOBAL_UNICAST = new BlockList()
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6')
for (const [net, prefix] of RESERVED_IPV4) RESERVED.addSubnet(net, prefix, 'ipv4')
for (const [net, prefix] of RESERVED_IPV6) RESERVED.addSubnet(net, prefix, 'ipv6')

/**
 * Whether an address is public. IPv6 is allowed by what is assigned for it, not by what is forbidden: loopback, link-local,
 * unique-local, multicast, IPv4-mapped and NAT64 addresses all lie outside 2000::/3.
 */
export const isPublicAddress = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !RESERVED.check(address, 'ipv4')
    case 6:
      return GLOBAL_UNICAST.check(address, 'ipv6') && !RESERVED.check(address, 'ipv6')
    default:
      return false
  }
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether an address is this machine's own. An IPv4-mapped one is not: nothing of ours listens under that spelling. */
export const isLoopbackAddress = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return LOOPBACK.check(address, 'ipv4')
    case 6:
      return address === '::1'
    default:
      return false
  }
}

const isLoopbackOrigin = (origin: string): boolean =>
  URL.canParse(origin) &&
  new URL(origin).origin === origin &&
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(origin).hostname)

export const LOOPBACK_ORIGIN_RULE = 'takes origins of this machine, such as http://127.0.0.1:4003'

/** The origins on this machine that messages may go to, as a process is told them: exact, separated by commas. */
export const LoopbackOrigins = z
  .string()
  .default('')
  .transform((text) => text.split(',').filter((part) => part !== ''))
  .refine((origins) => origins.every(isLoopbackOrigin), { error: LOOPBACK_ORIGIN_RULE })

/** Throws for anything but origins of this machine. */
export const allowedOrigins = (origins: readonly string[]): ReadonlySet<string> => {
  const other = origins.find((origin) => !isLoopbackOrigin(origin))
  if (other !== undefined) throw new TypeError(`allowLoopback ${LOOPBACK_ORIGIN_RULE}, not ${other}`)
  return new Set(origins)
}

export type AddressFault = 'invalid_url' | 'credentials_in_url' | 'not_https' | 'not_public'

/**
 * Why nothing is ever sent to an address, as far as it tells by itself. Where a name leads is known only when a message is
 * sent; an address that is written out can be judged at once.
 */
export const addressFault = (given: string, allowed: ReadonlySet<string>): AddressFault | undefined => {
  if (!URL.canParse(given)) return 'invalid_url'
  const { origin, protocol, hostname, username, password } = new URL(given)
  if (username !== '' || password !== '') return 'credentials_in_url'
  if (allowed.has(origin)) return undefined
  if (protocol !== 'https:') return 'not_https'
  const address = hostname.replace(/^\[(.*)\]$/, '$1')
  const isInside = hostname === 'localhost' || (isIP(address) !== 0 && !isPublicAddress(address))
  return isInside ? 'not_public' : undefined
}
