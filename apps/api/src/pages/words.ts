/** What the pages say, in English. */
import type { Disclosed, ReplyRefusal, Unclear } from '@aftercommit/scheduling/outreach'
import type { FaultType } from './fields.ts'

export const faultWords = {
  zone_missing: 'Choose your time zone: without it nobody knows when your times are.',
  zone_unknown: 'Choose a time zone from the list.',
  nothing_stated: 'Give at least one time at which you can, or say below that you cannot take part.',
  too_many_windows: 'These are more times than can be taken. Please join some of them.',
  date_missing: 'Choose the day of this time.',
  not_a_date: 'Choose a day from the list.',
  from_missing: 'Say from when you can, or choose any time that day.',
  to_missing: 'Say until when you can, or choose any time that day.',
  not_a_time: 'Write the time like 09:30.',
  ends_not_after_start: 'The end must come after the beginning. Past midnight, use one line for each day.',
  time_skipped: 'Clocks are set forward that night and skip this time. Choose an earlier or a later one.',
  time_twice: 'Clocks are set back that night and show this time twice. Say which of the two you mean.',
  outside_window: 'This is not within the time in which the meeting can be, which is shown above.',
  too_short: 'This is shorter than the meeting.',
} as const satisfies Record<FaultType, string>

export const unclearWords = {
  zone: 'In which time zone are your times?',
  date: 'Which day do you mean?',
  time: 'From what time to what time can you?',
  only_excluded: 'You wrote when you cannot. When can you?',
  outside_window: 'You named a day on which the meeting cannot be. Is there another one?',
  nothing_understood: 'We found no day and no time in it.',
} as const satisfies Record<Unclear, string>

export interface Words {
  readonly status: number
  readonly title: string
  readonly text: string
}

export const refusalWords = {
  outdated: {
    status: 410,
    title: 'This link is out of date',
    text: 'Something about the meeting changed after it was sent. If your answer is still wanted, a newer message has the link to use.',
  },
  closed: {
    status: 409,
    title: 'A time has been found',
    text: 'Answers are not taken any more, and the one you may have given cannot be changed here.',
  },
  lapsed: {
    status: 410,
    title: 'It is too late to answer',
    text: 'The time in which answers were taken is over.',
  },
  cancelled: { status: 410, title: 'The meeting was cancelled', text: 'You need not do anything.' },
  not_needed: {
    status: 410,
    title: 'Your answer is not needed any more',
    text: 'The meeting goes on without you. You need not do anything.',
  },
  not_found: {
    status: 404,
    title: 'This link leads nowhere',
    text: 'Please check that it is complete: some programs break long links in two.',
  },
} as const satisfies Record<ReplyRefusal['type'], Words>

export const deadLinkWords = {
  invalid: refusalWords.not_found,
  expired: {
    status: 410,
    title: 'This link has expired',
    text: 'The time in which it could be used is over.',
  },
} as const satisfies Record<string, Words>

export const notTakingPartWords: Words = {
  status: 200,
  title: 'Your answer was recorded',
  text: 'You will not take part in this meeting. Should you be able to after all, open the link in our message once more.',
}
export const contactRefusedWords: Words = {
  status: 200,
  title: 'We will not write to you again',
  text: 'Your wish was recorded, for this meeting and every other one.',
}
export const unreadableWords: Words = {
  status: 400,
  title: 'This could not be read',
  text: 'Nothing was recorded. Please go back and send the form once more.',
}
export const brokenWords: Words = {
  status: 500,
  title: 'Something went wrong',
  text: 'It is not your fault, and it is not certain that your answer was recorded. Please try again later.',
}
export const unavailableWords: Words = { ...brokenWords, status: 503 }

export const asker = ({ organizer }: Disclosed): string => organizer ?? 'The organizer of a meeting'

export const duration = ({ durationMinutes }: Disclosed): string => {
  const hours = Math.floor(durationMinutes / 60)
  const minutes = durationMinutes % 60
  return [
    ...(hours > 0 ? [hours === 1 ? '1 hour' : `${hours} hours`] : []),
    ...(minutes > 0 ? [`${minutes} minutes`] : []),
  ].join(' and ')
}
