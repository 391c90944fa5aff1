/** What is known of the fate of a message to a person. "accepted" is a mail server's word. Pure. */
export const contactOutcomes = ['accepted', 'maybe_sent', 'refused', 'bounced'] as const
export type ContactOutcome = (typeof contactOutcomes)[number]
