import { z } from 'zod'

/** Entity tags as RFC 9110 writes them, 8.8.3: a weak one may be named, but never equals in `If-Match`. */
const TAG = '(?:W/)?"[\\x21\\x23-\\x7e]*"'
const TAGS = new RegExp(`^\\s*(?:\\*|${TAG}(?:\\s*,\\s*${TAG})*)\\s*$`)

/** `If-Match` or `If-None-Match`: `*`, or a list of tags. */
export const EntityTags = z
  .string()
  .regex(TAGS, 'must be * or a list of entity tags in double quotes')
  .max(1_000)

export const etagOf = (version: string): string => `"${version}"`

/** Strong comparison, for `If-Match`. */
export const matchesStrongly = (header: string, etag: string): boolean =>
  header.trim() === '*' || tagsIn(header).includes(etag)

/** Weak comparison, for `If-None-Match`. A malformed header matches nothing, and the whole answer is sent. */
export const matchesWeakly = (header: string, etag: string): boolean =>
  header.trim() === '*' || tagsIn(header).some((tag) => tag.replace(/^W\//, '') === etag)

const tagsIn = (header: string): readonly string[] => header.match(new RegExp(TAG, 'g')) ?? []
