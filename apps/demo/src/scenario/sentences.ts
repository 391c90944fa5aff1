/** Each step in a sentence. */
import type { EventAct } from '@aftercommit/simulator'
import type { Step } from './scenario.ts'

export const sentenceFor = (step: Step): string => {
  const meeting = step.meeting === undefined ? 'the meeting' : `“${step.meeting}”`
  switch (step.type) {
    case 'open_meeting':
      return `The client asks for ${meeting}.`
    case 'wait_for':
      return `Time passes until ${meeting} is ${step.state.replaceAll('_', ' ')}${step.code === undefined ? '' : ` (${step.code})`}.`
    case 'pass_time':
      return step.hours === 1 ? 'An hour passes.' : `${step.hours} hours pass.`
    case 'approve':
      return step.answer === 'slot_held'
        ? `The organizer approves the time of ${meeting}, and is told that somebody is promised elsewhere by now.`
        : `The organizer approves the time of ${meeting}${step.thenKill === true ? ', and a dispatcher is killed (SIGKILL) right after the commit' : ''}.`
    case 'reply_on_page': {
      const times = step.times.map(({ date, from, to }) => `${date} ${from}–${to}`).join(', ')
      const end = step.answers === 'asked_again' ? '; the page asks again' : ''
      return `${step.who} opens the mail, follows its link and tells: ${times} by the clock of ${step.zone}${end}.`
    }
    case 'refuse_on_page':
      return `${step.who} opens the mail, follows its link and says: I cannot take part.`
    case 'fill_time':
      return `Behind our back ${step.who} becomes busy from ${step.start} to ${step.end}.`
    case 'act_on_event':
      return `By hand, at the provider: ${actSentence(step.who, step.act)}.`
    case 'copy_event':
      return 'Another program of the organizer’s copies the event, with all that it carries.'
    case 'revoke_consent':
      return `${step.who} takes back the consent.`
    case 'arrange':
      return `From now on: ${step.fault}.`
    case 'let_go':
      return `What was held goes on: ${step.fault}.`
    case 'reschedule':
      return (step.answers?.length ?? 1) > 1
        ? `${step.answers?.length ?? 1} requests at once to move ${meeting}.`
        : `The organizer wants ${meeting} moved.`
    case 'cancel':
      return `The organizer cancels ${meeting}.`
    case 'resolve_repair':
      return `The organizer chooses a way out of the repair: ${step.choice.type.replaceAll('_', ' ')}.`
    case 'freeze_dispatcher':
      return 'A dispatcher is frozen (SIGSTOP) in the middle of a call, until another has done its work.'
  }
}

const answers: Readonly<Record<Extract<EventAct, { type: 'respond' }>['response'], string>> = {
  needs_action: 'takes their answer back',
  accepted: 'accepts',
  tentative: 'accepts with reservation',
  declined: 'declines',
}

const actSentence = (who: string, act: EventAct): string => {
  switch (act.type) {
    case 'respond':
      return `${who} ${answers[act.response]}`
    case 'move':
      return `${who} moves the event to ${act.start}`
    case 'make_all_day':
      return `${who} makes it an event of whole days, from ${act.start} until before ${act.end}`
    case 'delete':
      return `${who} deletes the event`
    case 'restore':
      return `${who} takes the event out of the bin again`
    case 'rename':
      return `${who} gives the event another title`
    case 'set_location':
      return `${who} ${act.location === null ? 'takes the place away' : 'gives the event another place'}`
    case 'set_visibility':
      return `${who} makes the event ${act.visibility}`
    case 'add_attendee':
      return `${who} invites somebody else`
    case 'remove_attendee':
      return `${who} takes somebody off the list`
  }
}
