/** What scheduling's routes take. */
import { Address, MeetingId, ProposalId, type IntentDraft } from '@aftercommit/scheduling'
import { z } from 'zod'
import { named } from '../named.ts'

export const OneMeeting = z.strictObject({
  meetingId: MeetingId.meta({
    description: 'The id that opening the meeting answered.',
    examples: ['3f2b8c1d-6a4e-4f0b-9d27-8e5c1a7b9f03'],
  }),
})

export const Approve = named(
  'Approve',
  z.strictObject({
    proposalId: ProposalId.meta({
      description: 'The proposal that the approver has seen: `proposal.id` of the meeting.',
      examples: ['0f4a1c2e-93b7-4d55-8a61-2b7c9d3e5f10'],
    }),
    approver: z
      .strictObject({ address: Address })
      .meta({ description: 'Who approves; must be who the meeting names.' }),
  }),
)
export const Connect = named(
  'ConnectCalendar',
  z.strictObject({
    provider: z
      .enum(['google', 'microsoft'])
      .meta({ description: 'Who keeps this calendar.', examples: ['google'] }),
    address: Address,
    refreshToken: z
      .string()
      .min(1)
      .max(8_192)
      .meta({
        description:
          'What the provider gave your OAuth client when this person let it in. Sealed at once, never given out.',
        examples: ['the refresh token'],
      }),
  }),
)
export const Endpoint = named(
  'AddWebhookEndpoint',
  z.strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .meta({
        description:
          'Where messages go: https, without user and password, and it must lead to a public address. Over plain http they go only to origins of its own machine that the server is told by WEBHOOK_ALLOW_LOOPBACK.',
        examples: ['https://client.example/hook'],
      }),
    secret: z
      .string()
      .max(500)
      .regex(/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/, 'must be whsec_ and at least 24 bytes of base64')
      .meta({
        description:
          'What messages are signed with, in the form of Standard Webhooks. Make it at random, and keep it where you verify.',
        examples: [`whsec_${'A'.repeat(32)}`],
      }),
  }),
)

const DAY_MS = 86_400_000
const WORKING_HOURS = { startsAt: '09:00', endsAt: '17:00', days: [1, 2, 3, 4, 5] }

/**
 * A meeting in the working week after next. It can be sent as it stands, and therefore names no calendar: in whose the
 * event is written is still to be told, and people are asked by mail.
 */
export const meetingExample = (now: Date): z.input<typeof IntentDraft> => {
  const dayAfter = (days: number): string =>
    new Date(now.getTime() + days * DAY_MS).toISOString().slice(0, 10)
  // Sunday is 0, so this many days lie between today and a Monday that is at least a week away.
  const untilMonday = 15 - (now.getUTCDay() || 7)
  const person = { role: 'required', timeZone: 'Europe/Berlin', workingHours: WORKING_HOURS } as const
  return {
    purpose: 'Contract review',
    durationMinutes: 60,
    timeZone: 'Europe/Berlin',
    window: { from: `${dayAfter(untilMonday)}T00:00`, to: `${dayAfter(untilMonday + 5)}T00:00` },
    bookBy: `${dayAfter(untilMonday - 1)}T12:00:00Z`,
    organizer: { address: 'ada@example.com' },
    participants: [
      { displayName: 'Ada Lovelace', address: 'ada@example.com', ...person },
      { displayName: 'Ben Carter', address: 'ben@example.com', ...person },
    ],
    approval: { type: 'organizer' },
    outreach: { messagesMax: 3, spacingHours: 24, quietHours: { startsAt: '20:00', endsAt: '08:00' } },
  }
}
