/** Who is named as the one to put something right, and who that is. */
export const ownerMeanings = {
  organizer: 'Whose calendar the event is written in.',
  calendar_owner: 'Whose calendar cannot be read or written: only they can grant it anew.',
  client_integration: "Whoever runs the receiver of the client's webhooks.",
  operations: 'Whoever operates this service.',
} as const satisfies Record<string, string>

/** Whoever asked for the meeting is asked for what is missing. */
export const exceptionOwnerMeanings = {
  requester: 'Whoever asked for the meeting: nobody else could know.',
} as const satisfies Record<string, string>
