/**
 * Links that let one person do one thing, without a login: what a link is for and about is in it, signed.
 *
 * Nothing of a link is random, so that a message which is sent twice is the same message. Whoever has the link has
 * what it allows; it is bound to revisions, and ends.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import { parseRing } from './sealing.ts'

/** Their numbers are in links already sent: new ones come at the end. */
const purposes = ['reply', 'opt_out'] as const
export type LinkPurpose = (typeof purposes)[number]

export interface LinkClaims {
  readonly tenantId: string
  readonly meetingId: string
  readonly participantId: string
  readonly participantRevision: number
  readonly meetingRevision: number
  /** The first moment at which the link is worth nothing any more. */
  readonly expiresAt: Date
}

export type LinkReading =
  | { readonly type: 'valid'; readonly claims: LinkClaims }
  /** It was ours, but its time is over. */
  | { readonly type: 'expired'; readonly claims: LinkClaims }
  /** Not ours, changed, made with a key that is gone, or for another purpose. Which one is nobody's business. */
  | { readonly type: 'invalid' }

export interface LinkSigner {
  /** A token for a path segment: base64url, about 150 characters. Claims that cannot be written are a defect. */
  sign(purpose: LinkPurpose, claims: LinkClaims): string
  /** Never throws, whatever the token is. */
  verify(purpose: LinkPurpose, token: string, now: Date): LinkReading
}

const VERSION = 1
const MAC_BYTES = 32
const CLAIMS_BYTES = 3 * 16 + 4 + 4 + 6
/** No token is nearly as long; what is longer is not even decoded. */
const TOKEN_CHARS_MAX = 600
const KEY_ID_BYTES_MAX = 255

/**
 * Signs with HMAC-SHA-256. The keys are derived from those of the sealing ring, one per purpose: the first one signs,
 * every one verifies, so that they are rotated together. Layout: version, purpose, length of the key id, key id,
 * claims, tag.
 */
export const linkSigner = (ring: string): LinkSigner => {
  const keys = parseRing(ring).map(({ id, bytes }) => ({ id: Buffer.from(id, 'utf8'), bytes }))
  const [current] = keys
  if (!current) throw new Error('the sealing ring holds no key')
  if (keys.some(({ id }) => id.length > KEY_ID_BYTES_MAX))
    throw new Error('the id of a sealing key is too long')

  // Every part but the tag has a length that is told by what comes before it, so no two contents share their bytes.
  const headOf = (purpose: LinkPurpose, id: Buffer): Buffer =>
    Buffer.concat([Buffer.from([VERSION, purposes.indexOf(purpose), id.length]), id])
  const tagOf = (purpose: LinkPurpose, key: Uint8Array, signed: Uint8Array): Buffer =>
    createHmac('sha256', derivedKey(purpose, key)).update(signed).digest()

  return {
    sign: (purpose, claims) => {
      const signed = Buffer.concat([headOf(purpose, current.id), bytesOf(claims)])
      return Buffer.concat([signed, tagOf(purpose, current.bytes, signed)]).toString('base64url')
    },
    verify: (purpose, token, now) => {
      if (token.length > TOKEN_CHARS_MAX) return { type: 'invalid' }
      const bytes = Buffer.from(token, 'base64url')
      // Decoding forgives padding, foreign characters and spare bits: only one spelling is ours.
      if (bytes.toString('base64url') !== token) return { type: 'invalid' }
      for (const key of keys) {
        const head = headOf(purpose, key.id)
        const signed = bytes.subarray(0, head.length + CLAIMS_BYTES)
        const tag = bytes.subarray(signed.length)
        if (tag.length !== MAC_BYTES || !signed.subarray(0, head.length).equals(head)) continue
        if (!timingSafeEqual(tag, tagOf(purpose, key.bytes, signed))) continue
        const claims = claimsOf(signed.subarray(head.length))
        return { type: now < claims.expiresAt ? 'valid' : 'expired', claims }
      }
      return { type: 'invalid' }
    },
  }
}

const derivedKey = (purpose: LinkPurpose, key: Uint8Array): Buffer =>
  Buffer.from(hkdfSync('sha256', key, '', `aftercommit link ${purpose}`, MAC_BYTES))

const bytesOf = (claims: LinkClaims): Buffer => {
  const numbers = Buffer.alloc(4 + 4 + 6)
  numbers.writeUInt32BE(claims.participantRevision, 0)
  numbers.writeUInt32BE(claims.meetingRevision, 4)
  numbers.writeUIntBE(claims.expiresAt.getTime(), 8, 6)
  const ids = [claims.tenantId, claims.meetingId, claims.participantId].map(uuidBytes)
  return Buffer.concat([...ids, numbers])
}

const claimsOf = (bytes: Buffer): LinkClaims => ({
  tenantId: uuidText(bytes.subarray(0, 16)),
  meetingId: uuidText(bytes.subarray(16, 32)),
  participantId: uuidText(bytes.subarray(32, 48)),
  participantRevision: bytes.readUInt32BE(48),
  meetingRevision: bytes.readUInt32BE(52),
  expiresAt: new Date(bytes.readUIntBE(56, 6)),
})

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const uuidBytes = (id: string): Buffer => {
  if (!UUID.test(id)) throw new RangeError('a link is about things named by a UUID in lower case')
  return Buffer.from(id.replaceAll('-', ''), 'hex')
}

const uuidText = (bytes: Buffer): string =>
  bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
