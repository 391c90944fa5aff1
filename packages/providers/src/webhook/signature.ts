/** Standard Webhooks signatures, scheme v1 (Standard Webhooks specification, "Signature scheme"). */
import { createHmac } from 'node:crypto'

export interface SignedContent {
  readonly id: string
  readonly timestamp: Date
  readonly body: string
  /** `whsec_` and base64. */
  readonly secret: string
}

/** The three headers by which a receiver knows the sender, the message, and that it is no replay. */
export const signedHeaders = ({ id, timestamp, body, secret }: SignedContent): Record<string, string> => {
  const seconds = Math.floor(timestamp.getTime() / 1000).toString()
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` }
}

const SECRET = /^whsec_(?<key>[A-Za-z0-9+/]+={0,2})$/

/** A malformed secret is a defect of whoever stored it; signing with half of one would only look like signing. */
const keyOf = (secret: string): Buffer => {
  const key = SECRET.exec(secret)?.groups?.key
  if (key === undefined) throw new TypeError('a webhook secret is whsec_ followed by base64')
  return Buffer.from(key, 'base64')
}
