/** Which addresses on the internet a webhook may be sent to: those that are nobody's inside. */
import { BlockList, isIP } from 'node:net'

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
