/** The cast, as the simulated world, the API and a meeting know it. */
import { randomBytes } from 'node:crypto'
import type { SimulatorControl } from '@aftercommit/simulator'
import type { Client } from './client.ts'
import type { Asked, CastMember, Choice, Scenario, Who } from './scenario.ts'

export interface Cast {
  member(who: Who): CastMember
  nameOf(address: string): Who | undefined
  /** A meeting's intent as the API takes it. */
  intentOf(asked: Asked): Record<string, unknown>
  choiceOf(choice: Choice, participantIdOf: (who: Who) => string): Record<string, unknown>
  /** The person signs in elsewhere, and with that takes back what was granted to us. */
  revoke(who: Who): Promise<void>
  /** The grant by which programs of this person act for them. */
  grantOf(who: Who): string
}

/** Puts everybody into the simulated world, and connects the calendars of those who let us in. */
export const assemble = async (
  { cast }: Pick<Scenario, 'cast'>,
  client: Client,
  control: SimulatorControl,
): Promise<Cast> => {
  const grants = new Map(Object.keys(cast).map((who) => [who, randomBytes(24).toString('base64url')]))
  const connections = new Map<Who, string>()
  const member = (who: Who): CastMember => {
    const found = cast[who]
    if (!found) throw new Error(`the scenario speaks of ${who}, who is not in its cast`)
    return found
  }
  const grantOf = (who: Who): string => grants.get(who) ?? ''
  const put = async (who: Who, refreshToken: string | null): Promise<void> => {
    const { provider, connected: _, workingHours: _hours, busy = [], ...person } = member(who)
    if (provider) await control.putPeople([{ ...person, provider, refreshToken, busy: [...busy] }])
  }
  for (const [who, { provider, connected, address }] of Object.entries(cast)) {
    await put(who, grantOf(who))
    if (provider && connected) {
      const body = { provider, address, refreshToken: grantOf(who) }
      connections.set(who, await client.create('/v1/calendar-connections', body))
    }
  }
  const identityOf = (who: Who) => {
    const calendarConnectionId = connections.get(who)
    return {
      address: member(who).address,
      ...(calendarConnectionId !== undefined && { calendarConnectionId }),
    }
  }
  const personOf = (who: Who) => {
    const { timeZone, workingHours } = member(who)
    return { displayName: who, timeZone, ...identityOf(who), ...(workingHours && { workingHours }) }
  }
  return {
    member,
    grantOf,
    nameOf: (address) => Object.entries(cast).find(([, person]) => person.address === address)?.[0],
    intentOf: ({ organizer, approval, required, optional = [], substitutes = {}, ...asked }) => ({
      ...asked,
      organizer: identityOf(organizer),
      approval: { type: approval },
      participants: [
        ...required.map((who) => ({ who, role: 'required' })),
        ...optional.map((who) => ({ who, role: 'optional' })),
      ].map(({ who, role }) => ({
        ...personOf(who),
        role,
        ...(substitutes[who] && { substitutes: substitutes[who].map(personOf) }),
      })),
    }),
    choiceOf: (choice, participantIdOf) => choiceOf(choice, participantIdOf, identityOf),
    revoke: (who) => put(who, null),
  }
}

const choiceOf = (
  choice: Choice,
  participantIdOf: (who: Who) => string,
  identityOf: (who: Who) => Record<string, unknown>,
): Record<string, unknown> => {
  switch (choice.type) {
    case 'correct_address':
      return { type: choice.type, participantId: participantIdOf(choice.who), ...identityOf(choice.to) }
    case 'substitute_person':
      return { type: choice.type, participantId: participantIdOf(choice.who) }
    case 'search_again':
    case 'ask_in_words':
    case 'keep_one':
    case 'look_again':
    case 'restore_event':
    case 'accept_change':
    case 'cancel_meeting':
      return choice
  }
}
