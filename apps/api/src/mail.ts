/** Reads a body that is a mail. What arrives is parsed before any transaction is open: it may be long, and strange. */
import type { ParsedMail } from '@aftercommit/providers/email/inbound'
import express, { type RequestHandler } from 'express'
import { ProblemError } from './problem.ts'

export const MAIL_MEDIA_TYPE = 'message/rfc822'
const MAIL_MAX = '10mb'

export const readMail = (): RequestHandler[] => [
  (request, _response, next) => {
    if (!request.is(MAIL_MEDIA_TYPE)) {
      throw new ProblemError(
        'unsupported-media-type',
        { detail: `This address takes ${MAIL_MEDIA_TYPE}: one mail, as its server received it.` },
        { accept: MAIL_MEDIA_TYPE },
      )
    }
    next()
  },
  express.raw({ type: MAIL_MEDIA_TYPE, limit: MAIL_MAX }),
  async (request, _response, next) => {
    const raw: unknown = request.body
    // Loaded when the first mail comes: a process that gets none should not carry a parser.
    const { parseInboundMail } = await import('@aftercommit/providers/email/inbound')
    const mail: ParsedMail = await parseInboundMail(Buffer.isBuffer(raw) ? raw : Buffer.alloc(0))
    if (mail.type === 'malformed') {
      const rule = `must be one mail as RFC 5322 writes it (${mail.code})`
      throw new ProblemError('malformed-input', { errors: [{ in: 'body', pointer: '', rule }] })
    }
    request.body = mail
    next()
  },
]
