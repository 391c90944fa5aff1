import { describe, expect, test } from '@jest/globals'
import { evidenceExpiresAt, evidenceSources, freshMsBySource } from './evidence.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

describe('what was learned', () => {
  const learnedAt = new Date('2027-03-20T08:00Z')

  test('from a calendar is fresh for minutes, and from a person for days', () => {
    expect(freshMsBySource).toEqual({
      google: 15 * minuteMs,
      microsoft: 15 * minuteMs,
      reply_page: 14 * dayMs,
      mail: 14 * dayMs,
      outreach: 14 * dayMs,
    })
  })

  test.each(evidenceSources)('from %s is relied on for its time', (source) => {
    const expiresAt = evidenceExpiresAt(source, learnedAt)
    expect(expiresAt.getTime() - learnedAt.getTime()).toBe(freshMsBySource[source])
  })
})
