import type { Router } from 'express'
import { z } from 'zod'
import { refuse, taking } from '../taking.ts'
import type { World } from '../state.ts'
import { MailboxSettings, MailReply } from './contract.ts'
import { mailboxOf } from './mailboxes.ts'
import { sendReply } from './replies.ts'

export const addMailboxRoutes = (router: Router, world: World): void => {
  const named = (address: unknown) => mailboxOf(world, z.string().parse(address))
  router.get('/mailboxes/:address', ({ params }, response) => void response.json(named(params.address)))
  router.put(
    '/mailboxes/:address',
    taking(MailboxSettings, ({ accepts }, { params }, response) => {
      named(params.address).accepts = accepts
      response.status(204).end()
    }),
  )
  router.get('/mailboxes/:address/links', ({ params }, response) => {
    const { received } = named(params.address)
    response.json(received.flatMap(({ messageId, links }) => links.map((url) => ({ messageId, url }))))
  })
  router.post(
    '/mailboxes/:address/reply',
    taking(MailReply, async (reply, { params }, response) => {
      const mailbox = named(params.address)
      const original = mailbox.received.find(({ messageId }) => messageId === reply.inReplyTo)
      if (!original) {
        refuse(response, 404, 'There is no such mail in this mailbox.')
        return
      }
      const answer = await sendReply(mailbox, original, reply)
      if (answer) response.json(answer)
      else refuse(response, 502, 'The URL could not be reached.')
    }),
  )
}
