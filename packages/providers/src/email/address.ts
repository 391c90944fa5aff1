/** Addresses and message ids as they go over the wire, and whether something is one. */
import { domainToASCII } from 'node:url'

/** RFC 5321, 4.5.3.1: 64 octets before the @, and a path of 256 with its brackets. */
const LOCAL_BYTES_MAX = 64
const ADDRESS_BYTES_MAX = 254
/** Before anything is made of it: strangers write some of them. */
const ADDRESS_CHARS_MAX = 320
/** An id cannot be broken over two lines, and a line may have 998 octets (RFC 5322, 2.1.1). */
const ID_CHARS_MAX = 900

// A quoted local part may hold all that is left out here. Nobody's mailbox needs one, and each is a way to smuggle.
const LOCAL_PART = /^[^\s"(),:;<>@[\\\]\p{Cc}]+$/u
const DOMAIN = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/
const MESSAGE_ID = /^<[!-;=?A-~]+@[!-;=?A-~]+>$/

/**
 * An address as SMTP takes it: the domain in ASCII (IDNA), the part before the @ as it is. Undefined for what is no
 * address.
 */
export const wireAddress = (address: string): string | undefined => {
  if (address.length > ADDRESS_CHARS_MAX) return undefined
  const at = address.lastIndexOf('@')
  const local = address.slice(0, Math.max(at, 0)).normalize('NFC')
  const domain = domainToASCII(address.slice(at + 1)).toLowerCase()
  const wire = `${local}@${domain}`
  const isAddress =
    LOCAL_PART.test(local) &&
    DOMAIN.test(domain) &&
    Buffer.byteLength(local) <= LOCAL_BYTES_MAX &&
    Buffer.byteLength(wire) <= ADDRESS_BYTES_MAX
  return isAddress ? wire : undefined
}

export const isMessageId = (id: string): boolean => id.length <= ID_CHARS_MAX && MESSAGE_ID.test(id)
