import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { linkSigner, type LinkClaims } from './links.ts'
import { newSealingKey } from './sealing.ts'

const oldKey = newSealingKey('2026')
const newKey = newSealingKey('2027')
const signer = linkSigner(newKey)
const now = new Date('2027-03-20T10:00Z')

const claimsWith = (more: Partial<LinkClaims> = {}): LinkClaims => ({
  tenantId: randomUUID(),
  meetingId: randomUUID(),
  participantId: randomUUID(),
  participantRevision: 3,
  meetingRevision: 7,
  expiresAt: new Date('2027-03-24T12:00:00.123Z'),
  ...more,
})

test('a link says what it was made for, until its time is over', () => {
  const claims = claimsWith()
  const token = signer.sign('reply', claims)
  expect(token).toMatch(/^[A-Za-z0-9_-]{100,200}$/)
  expect(signer.verify('reply', token, now)).toEqual({ type: 'valid', claims })
  expect(signer.verify('reply', token, new Date(claims.expiresAt.getTime() - 1)).type).toBe('valid')
  expect(signer.verify('reply', token, claims.expiresAt)).toEqual({ type: 'expired', claims })
})

test('the same claims make the same link', () => {
  const claims = claimsWith()
  expect(linkSigner(newKey).sign('reply', claims)).toBe(signer.sign('reply', { ...claims }))
  expect(signer.sign('reply', claimsWith({ ...claims, meetingRevision: 8 }))).not.toBe(
    signer.sign('reply', claims),
  )
})

test('a link is worth nothing for another purpose', () => {
  const token = signer.sign('reply', claimsWith())
  expect(signer.verify('opt_out', token, now)).toEqual({ type: 'invalid' })
})

test('every flipped bit makes it invalid, also the ones that base64url does not use', () => {
  const token = signer.sign('reply', claimsWith())
  const bytes = Buffer.from(token, 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    expect(signer.verify('reply', changed.toString('base64url'), now)).toEqual({ type: 'invalid' })
  }
  for (let index = 0; index < token.length; index += 1) {
    const other = token[index] === 'A' ? 'B' : 'A'
    const changed = `${token.slice(0, index)}${other}${token.slice(index + 1)}`
    expect(signer.verify('reply', changed, now)).toEqual({ type: 'invalid' })
  }
  for (const changed of [
    `${token}=`,
    ` ${token}`,
    `${token}A`,
    token.slice(0, -1),
    token.slice(4),
    '',
    '.',
  ]) {
    expect(signer.verify('reply', changed, now)).toEqual({ type: 'invalid' })
  }
})

test('an older key of the ring still opens its links, and one that was taken out does not', () => {
  const claims = claimsWith()
  const token = linkSigner(oldKey).sign('reply', claims)
  expect(linkSigner(`${newKey},${oldKey}`).verify('reply', token, now)).toEqual({ type: 'valid', claims })
  expect(signer.verify('reply', token, now)).toEqual({ type: 'invalid' })
  // Another key under a name that is known.
  expect(linkSigner(newSealingKey('2026')).verify('reply', token, now)).toEqual({ type: 'invalid' })
})

test('any claims survive, and any text that is not a link is invalid', () => {
  const uint = fc.integer({ min: 0, max: 2 ** 32 - 1 })
  const uuid = fc.uuid()
  fc.assert(
    fc.property(uuid, uuid, uuid, uint, uint, fc.integer({ min: 0, max: 2 ** 43 }), (...parts) => {
      const [tenantId, meetingId, participantId, participantRevision, meetingRevision, expiresMs] = parts
      const expiresAt = new Date(expiresMs)
      const claims = { tenantId, meetingId, participantId, participantRevision, meetingRevision, expiresAt }
      expect(signer.verify('reply', signer.sign('reply', claims), new Date(0))).toMatchObject({ claims })
    }),
  )
  fc.assert(
    fc.property(fc.oneof(fc.string({ maxLength: 300 }), fc.base64String({ maxLength: 300 })), (text) => {
      expect(signer.verify('reply', text, now)).toEqual({ type: 'invalid' })
    }),
  )
})

test('claims that cannot be written are a defect', () => {
  expect(() => signer.sign('reply', claimsWith({ meetingId: 'x' }))).toThrow('UUID')
  expect(() => signer.sign('reply', claimsWith({ meetingRevision: -1 }))).toThrow('out of range')
  expect(() => linkSigner('')).toThrow('holds no key')
})
