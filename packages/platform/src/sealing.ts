import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Encrypts a secret for storage. `context` names the place it belongs to; elsewhere it can't be opened. */
export type Seal = (secret: string, context: string) => Uint8Array
/** Opens what `Seal` made. Throws when key, context or content differ. */
export type Unseal = (sealed: Uint8Array, context: string) => string

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const KEY_BYTES = 32

/**
 * AES-256-GCM with a ring of keys: the first one seals, every one opens, so that keys can be rotated without a stop.
 * `ring` reads `id:base64,id:base64…`, each key 32 bytes. Layout: version, length of the key id, key id, nonce, tag,
 * ciphertext.
 */
export const sealingOf = (ring: string): { seal: Seal; unseal: Unseal } => {
  const keys = parseRing(ring)
  const [current] = keys
  if (!current) throw new Error('the sealing ring holds no key')
  const keyById = new Map(keys.map((key) => [key.id, key.bytes]))

  const seal: Seal = (secret, context) => {
    const nonce = randomBytes(NONCE_BYTES)
    const id = Buffer.from(current.id, 'utf8')
    const header = Buffer.concat([Buffer.from([VERSION, id.length]), id])
    const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce).setAAD(aad(header, context))
    const body = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([header, nonce, cipher.getAuthTag(), body])
  }

  const unseal: Unseal = (sealed, context) => {
    const bytes = Buffer.from(sealed)
    const headerEnd = 2 + (bytes[1] ?? 0)
    const header = bytes.subarray(0, headerEnd)
    const key = keyById.get(header.subarray(2).toString('utf8'))
    if (bytes[0] !== VERSION || !key) throw new Error('sealed with a key or version that is not in the ring')
    const nonce = bytes.subarray(headerEnd, headerEnd + NONCE_BYTES)
    const tag = bytes.subarray(headerEnd + NONCE_BYTES, headerEnd + NONCE_BYTES + TAG_BYTES)
    const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(aad(header, context)).setAuthTag(tag)
    const body = bytes.subarray(headerEnd + NONCE_BYTES + TAG_BYTES)
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  }
  return { seal, unseal }
}

const aad = (header: Buffer, context: string): Buffer => Buffer.concat([header, Buffer.from(context, 'utf8')])

/** The keys of a ring, the current one first. For what derives keys of its own from them, like links. */
export const parseRing = (ring: string): readonly { id: string; bytes: Buffer }[] =>
  ring
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [id = '', encoded = ''] = part.split(':')
      const bytes = Buffer.from(encoded, 'base64')
      if (id === '' || bytes.length !== KEY_BYTES) {
        throw new Error('a sealing key reads `id:base64`, with 32 bytes behind the base64')
      }
      return { id, bytes }
    })

export const newSealingKey = (id: string): string => `${id}:${randomBytes(KEY_BYTES).toString('base64')}`
