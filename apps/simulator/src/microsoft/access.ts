import type { Person } from '../contract.ts'
import type { Answer, Call } from '../exchange.ts'
import type { AccessToken, World } from '../state.ts'
import { accessDenied, badToken, invalidUser, mailboxNotEnabled, refusal } from './errors.ts'

const tokenOf = (world: World, call: Call): AccessToken | undefined => {
  const token = world.accessTokens.get(call.bearer ?? '')
  return token?.provider === 'microsoft' && token.expiresAt > call.at ? token : undefined
}

/** The mailbox a path names: `/users/{address}`, or the caller's own for `/me`. */
export const mailboxAddressOf = (world: World, call: Call): string | undefined =>
  call.params.user?.toLowerCase() ?? tokenOf(world, call)?.address

/**
 * Runs `act` with the mailbox's owner. A delegated token opens its own mailbox only; an application token
 * opens every mailbox but has no `/me`.
 */
export const onMailbox = (world: World, call: Call, act: (person: Person) => Answer): Answer => {
  const token = tokenOf(world, call)
  if (!token) return badToken(call)
  const address = mailboxAddressOf(world, call)
  if (address === undefined) {
    return refusal(call, 400, 'BadRequest', '/me request is only valid with delegated authentication flow.')
  }
  const person = world.people.get(address)
  if (person?.provider !== 'microsoft') return invalidUser(call, address)
  if (token.address !== undefined && token.address !== address) return accessDenied(call)
  if (person.readable === 'no_mailbox') return mailboxNotEnabled(call)
  return act(person)
}

/** The same for its events, which a grant for free/busy alone does not cover. */
export const onEvents = (world: World, call: Call, act: (person: Person) => Answer): Answer =>
  onMailbox(world, call, (person) =>
    person.granted === 'calendar' || tokenOf(world, call)?.address === undefined
      ? act(person)
      : accessDenied(call),
  )
