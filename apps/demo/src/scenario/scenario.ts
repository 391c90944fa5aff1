/** The words in which a scenario is written. A scenario is data: what it does and what it must come to stand in one file. */
import type { EventAct, FaultAct, LedgerEntry, Person } from '@aftercommit/simulator'

/** A person of the cast, by name. */
export type Who = string

export interface CastMember {
  readonly address: string
  readonly timeZone: string
  /** Where this person's calendar is; absent for a mailbox and nothing else. */
  readonly provider?: 'google' | 'microsoft'
  /** They have let us in to their calendar. */
  readonly connected?: boolean
  readonly busy?: readonly { readonly start: string; readonly end: string }[]
  readonly readable?: Person['readable']
  /** False: both providers refuse this address as an attendee. */
  readonly invitable?: boolean
  readonly onlineMeetings?: Person['onlineMeetings']
  readonly workingHours?: { readonly startsAt: string; readonly endsAt: string; readonly days: number[] }
}

/** A meeting as it is asked for; people by name. */
export interface Asked {
  readonly purpose: string
  readonly durationMinutes: number
  readonly timeZone: string
  readonly window: { readonly from: string; readonly to: string }
  readonly bookBy: string
  readonly organizer: Who
  readonly approval: 'automatic' | 'organizer'
  readonly required: readonly Who[]
  readonly optional?: readonly Who[]
  /** Who was named in advance to take whose place. */
  readonly substitutes?: Readonly<Record<Who, readonly Who[]>>
  readonly conference?: boolean
  /** The authority to write to people whose calendars do not tell. */
  readonly outreach?: {
    readonly messagesMax?: number
    readonly spacingHours?: number
    readonly quietHours?: { readonly startsAt: string; readonly endsAt: string }
  }
  readonly instruction?: string
}

/** Something that goes wrong in the world. It is expected to happen: a scenario whose fault never fires has failed. */
export interface Fault {
  /** What it is, as the story tells it. */
  readonly id: string
  readonly provider: 'google' | 'microsoft' | 'mail'
  readonly operation: string
  /** Whose calendar or mailbox. */
  readonly who: Who
  readonly skip?: number
  readonly times?: number
  readonly act: FaultAct
  /** It waits for its own step. */
  readonly later?: boolean
  /** Told when it fires. */
  readonly harmlessBecause: string
}

/** One line of the reply page. */
export interface StatedTime {
  readonly date: string
  readonly from: string
  readonly to: string
  /** Which of two, where the clock shows a time twice. */
  readonly fromFold?: 'earlier' | 'later'
  readonly toFold?: 'earlier' | 'later'
}

/** A way out of a repair; people by name. */
export type Choice =
  | {
      readonly type:
        | 'search_again'
        | 'ask_in_words'
        | 'keep_one'
        | 'look_again'
        | 'restore_event'
        | 'accept_change'
        | 'cancel_meeting'
    }
  /** The person stays, under the address of this member of the cast. */
  | { readonly type: 'correct_address'; readonly who: Who; readonly to: Who }
  /** The first substitute that the meeting named. */
  | { readonly type: 'substitute_person'; readonly who: Who }

export type MeetingStateName =
  | 'gathering'
  | 'awaiting_approval'
  | 'booking'
  | 'write_uncertain'
  | 'verifying'
  | 'confirmed'
  | 'no_overlap'
  | 'lapsed'
  | 'in_repair'
  | 'cancelled'

/** `meeting` is the label of a meeting; left out, it is the only one. */
interface OfMeeting {
  readonly meeting?: string
}

export type Step = OfMeeting &
  (
    | { readonly type: 'open_meeting' }
    /** Time passes from one thing that is due to the next, until the meeting is in this state. */
    | {
        readonly type: 'wait_for'
        readonly state: MeetingStateName
        /** Of a repair. */
        readonly code?: string
        /** Who the repair must name. */
        readonly names?: readonly Who[]
        /** By when at the latest; left out, within ten minutes. */
        readonly withinHours?: number
      }
    /** So much time passes, and what falls due in it happens when it is due. */
    | { readonly type: 'pass_time'; readonly hours: number }
    /** The organizer approves the proposal that stands; left out, that is accepted. */
    | {
        readonly type: 'approve'
        readonly answer?: 'accepted' | 'slot_held'
        /** SIGKILL for a dispatcher in the moment of the answer, and another one in its place. Real processes only. */
        readonly thenKill?: boolean
      }
    /** Opens the newest mail to this person and sends the form that its link leads to. */
    | {
        readonly type: 'reply_on_page'
        readonly who: Who
        readonly zone: string
        readonly times: readonly StatedTime[]
        /** What the page answers; left out, that the times were recorded. */
        readonly answers?: 'recorded' | 'asked_again'
      }
    | { readonly type: 'refuse_on_page'; readonly who: Who }
    /** Somebody's calendar fills up behind our back. */
    | { readonly type: 'fill_time'; readonly who: Who; readonly start: string; readonly end: string }
    /** Somebody does something to the live event by hand, in their own calendar program. */
    | { readonly type: 'act_on_event'; readonly who: Who; readonly act: EventAct }
    /** A program of the organizer's copies the event, with everything that it carries. */
    | { readonly type: 'copy_event' }
    | { readonly type: 'revoke_consent'; readonly who: Who }
    /** A fault that does not lie in wait from the beginning. */
    | { readonly type: 'arrange'; readonly fault: string }
    /** What this fault holds goes on. */
    | { readonly type: 'let_go'; readonly fault: string }
    /** Several requests to move the meeting in the same moment; the answers in any order. */
    | {
        readonly type: 'reschedule'
        readonly window: Asked['window']
        readonly bookBy: string
        readonly answers?: readonly number[]
      }
    | { readonly type: 'cancel' }
    /** The organizer chooses a way out of the repair that is open. */
    | { readonly type: 'resolve_repair'; readonly choice: Choice }
    /**
     * SIGSTOP for the dispatcher whose call this fault holds, until another has done its work, and SIGCONT. Real processes
     * only.
     */
    | { readonly type: 'freeze_dispatcher'; readonly fault: string }
  )

/** What the provider's ledger must show, all calendars together. */
export interface LedgerCounts {
  /** Events that were made, changed and cancelled through the providers' APIs. */
  readonly created: number
  readonly patched: number
  readonly cancelled: number
  /** What people did to events by hand. */
  readonly byHand: number
  readonly mails: number
}

export interface Expected {
  readonly state: MeetingStateName
  /** Of the repair that is open at the end. */
  readonly repair?: { readonly code: string; readonly owner: string }
  /** The event that stands, and nothing beside it; null: none stands. */
  readonly event: {
    readonly start: string
    readonly end: string
    /** Exactly these beside the organizer. */
    readonly invited: readonly Who[]
  } | null
  /** What the client's own system was told, in this order; the same message never twice. */
  readonly told: readonly string[]
}

export interface Scenario {
  readonly name: string
  readonly title: string
  /** What it shows, in one sentence. */
  readonly shows: string
  /** The moment at which it begins, by the database's clock. */
  readonly beginsAt: string
  readonly cast: Readonly<Record<Who, CastMember>>
  /** By label. */
  readonly meetings: Readonly<Record<string, Asked>>
  readonly faults?: readonly Fault[]
  /** How long a call may take; short where the scenario waits for one to be given up. */
  readonly callTimeoutMs?: number
  readonly steps: readonly Step[]
  readonly expects: {
    /** By label. */
    readonly meetings: Readonly<Record<string, Expected>>
    readonly ledger: LedgerCounts
    /** Rows that died. Each of them must have been somebody's repair. */
    readonly dead: number
  }
}

/** Signals need somebody to send them to. */
export const needsProcesses = ({ steps }: Scenario): boolean =>
  steps.some(
    (step) => step.type === 'freeze_dispatcher' || (step.type === 'approve' && step.thenKill === true),
  )

export const countsOf = (ledger: readonly LedgerEntry[]): LedgerCounts => {
  const count = (effect: LedgerEntry['effect'], by?: LedgerEntry['by']): number =>
    ledger.filter((entry) => entry.effect === effect && (by === undefined || entry.by === by)).length
  return {
    created: count('event_created', 'api'),
    patched: count('event_patched', 'api'),
    cancelled: count('event_cancelled', 'api'),
    byHand: ledger.filter(({ by, effect }) => by === 'person' && effect.startsWith('event_')).length,
    mails: count('mail_received'),
  }
}
