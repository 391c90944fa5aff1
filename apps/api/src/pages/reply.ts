/**
 * The pages on which people without an account answer. Their right to do so is the signed link they were sent. To open a
 * page changes nothing, for scanners of mail open everything; only a form that is sent does.
 */
import { errorFields } from '@aftercommit/platform/log'
import type { LinkClaims, LinkReading } from '@aftercommit/platform/links'
import {
  html,
  normaliseReply,
  type RecordReplyResult,
  type ReplyRefusal,
} from '@aftercommit/scheduling/outreach'
import { formatInstant, type Interval, type TimeZone } from '@aftercommit/time'
import express, { Router, type ErrorRequestHandler, type Request, type RequestHandler } from 'express'
import { factsOf } from '../request.ts'
import { isUnavailable } from '../unavailable.ts'
import type { ReplyPageDeps } from './deps.ts'
import { faultOf, readFields, readSent, type Sent } from './fields.ts'
import { sendPage, type Page } from './layout.ts'
import { filledFrom, replyFormPage, withMoreRows } from './reply-form.ts'
import {
  brokenWords,
  contactRefusedWords,
  deadLinkWords,
  notTakingPartWords,
  refusalWords,
  unavailableWords,
  unreadableWords,
  type Words,
} from './words.ts'

const BODY_MAX = '64kb'
const FIELDS_MAX = 1_000
const MINUTE_MS = 60_000

/**
 * Mounted at the root, before whatever asks for a key. The opt-out link is also what List-Unsubscribe names: a mail
 * program posts to it by itself (RFC 8058).
 */
export const replyPages = (deps: ReplyPageDeps): Router => {
  const router = Router()
  const form = express.urlencoded({ extended: false, limit: BODY_MAX, parameterLimit: FIELDS_MAX })
  router
    .route('/reply/:token')
    .all(noted('/reply/{token}'))
    .get(async ({ params }, response) => sendPage(response, await openReply(deps, params.token)))
    .post(form, async ({ params, body }: FormRequest, response) =>
      sendPage(response, await sendReply(deps, params.token, body)),
    )
  router
    .route('/opt-out/:token')
    .all(noted('/opt-out/{token}'))
    .get(({ params }, response) => sendPage(response, openOptOut(deps, params.token)))
    .post(async ({ params }, response) => sendPage(response, await optOut(deps, params.token)))
  router.use(failurePage)
  return router
}

type FormRequest = Request<{ token: string }, unknown, unknown>

/** The template, never the path: who reads a token in a log could answer in somebody's name. */
const noted =
  (route: string): RequestHandler =>
  (_request, response, next) => {
    factsOf(response).route = route
    next()
  }

/** No link has expired by then: whether one is ours does not depend on the time. */
const BEGINNING = new Date(0)

/** By the database's time, as everything else. A link that is not ours is not worth a question to the database. */
const readReplyLink = async (deps: ReplyPageDeps, token: string): Promise<LinkReading> => {
  const link = deps.links.verify('reply', token, BEGINNING)
  if (link.type !== 'valid') return link
  return (await deps.now()) < link.claims.expiresAt ? link : { type: 'expired', claims: link.claims }
}

const openReply = async (deps: ReplyPageDeps, token: string): Promise<Page> => {
  const link = await readReplyLink(deps, token)
  if (link.type !== 'valid') return plainPage(deadLinkWords[link.type])
  const form = await deps.readReplyForm(link.claims)
  return form.type === 'open' ? replyFormPage(form, filledFrom(form), []) : refusalPage(form)
}

const sendReply = async (deps: ReplyPageDeps, token: string, body: unknown): Promise<Page> => {
  const link = await readReplyLink(deps, token)
  if (link.type !== 'valid') return plainPage(deadLinkWords[link.type])
  const sent = readSent(body)
  if (!sent) return plainPage(unreadableWords)
  return sent.answer === 'times'
    ? sendTimes(deps, link.claims, sent)
    : resultPage(await deps.recordReply(link.claims, { type: sent.answer }))
}

const sendTimes = async (deps: ReplyPageDeps, claims: LinkClaims, sent: Sent): Promise<Page> => {
  const form = await deps.readReplyForm(claims)
  if (form.type !== 'open') return refusalPage(form)
  if (sent.wants === 'more_rows') return replyFormPage(form, withMoreRows(sent), [])
  const { zone, windows, rowOfWindow, faults } = readFields(sent)
  if (zone === undefined || faults.length > 0) return replyFormPage(form, sent, faults)
  const { window, durationMinutes } = form.disclosed
  const checked = normaliseReply({ windows }, window, durationMinutes * MINUTE_MS, zone)
  const result =
    checked.type === 'unclear'
      ? checked
      : await deps.recordReply(claims, {
          type: 'times',
          zone,
          windows,
          // What was not shown was not confirmed: another draft may have come in since.
          ...(form.draft?.id === sent.draftId && { confirmsDraftId: sent.draftId }),
        })
  return result.type === 'unclear'
    ? replyFormPage(
        form,
        sent,
        result.problems.map((problem) => faultOf(problem, rowOfWindow)),
      )
    : resultPage(result)
}

const resultPage = (result: RecordReplyResult): Page => {
  switch (result.type) {
    case 'stated':
      return {
        status: 200,
        title: 'Your times were recorded',
        content: html`<h1>Thank you, your times were recorded</h1>
          <p>You can at these times, in the time zone ${result.zone}:</p>
          <ul>
            ${result.free.map((stretch) => html`<li>${spanOf(stretch, result.zone)}</li>`)}
          </ul>
          <p>You may change them until one is booked: open the link in our message once more.</p>`,
      }
    case 'not_taking_part':
      return plainPage(notTakingPartWords)
    case 'contact_refused':
      return plainPage(contactRefusedWords)
    // Times that are unclear are asked again before this; whatever else is sent says nothing that could be.
    case 'unclear':
      return plainPage(unreadableWords)
    case 'outdated':
    case 'closed':
    case 'lapsed':
    case 'cancelled':
    case 'not_needed':
    case 'not_found':
      return refusalPage(result)
  }
}

const spanOf = ({ start, end }: Interval, zone: TimeZone): string => {
  const moment = (at: Date): string => formatInstant(at, zone, "EEEE d MMMM yyyy, HH:mm ('UTC'xxx)")
  return `${moment(start)} to ${moment(end)}`
}

const openOptOut = (deps: ReplyPageDeps, token: string): Page => {
  const link = deps.links.verify('opt_out', token, BEGINNING)
  if (link.type === 'invalid') return plainPage(deadLinkWords.invalid)
  return {
    status: 200,
    title: 'Do not write to me again',
    content: html`<h1>Do not write to me again</h1>
      <p>We will not ask you for your time any more: not for this meeting, and not for any other one.</p>
      <form method="post">
        <button type="submit" class="main">Never write to me again</button>
      </form>`,
  }
}

/** A wish to be left alone does not expire. */
const optOut = async (deps: ReplyPageDeps, token: string): Promise<Page> => {
  const link = deps.links.verify('opt_out', token, BEGINNING)
  if (link.type === 'invalid') return plainPage(deadLinkWords.invalid)
  return resultPage(await deps.recordReply(link.claims, { type: 'contact_refused' }))
}

const plainPage = ({ status, title, text }: Words): Page => ({
  status,
  title,
  content: html`<h1>${title}</h1>
    <p>${text}</p>`,
})

const refusalPage = ({ type }: ReplyRefusal): Page => plainPage(refusalWords[type])

const RETRY_AFTER_S = '5'

/** A person gets a page, also when it is our fault; that is logged, like for every other route. */
const failurePage: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error)
    return
  }
  const status: unknown = error instanceof Error ? Reflect.get(error, 'status') : undefined
  if (typeof status === 'number' && status >= 400 && status < 500) {
    sendPage(response, plainPage({ ...unreadableWords, status }))
    return
  }
  factsOf(response).log.error('request failed', errorFields(error))
  if (isUnavailable(error)) response.set('retry-after', RETRY_AFTER_S)
  sendPage(response, plainPage(isUnavailable(error) ? unavailableWords : brokenWords))
}
