/** Each step in a sentence. */
import type { Step } from './scenario.ts'

export const sentenceFor = (step: Step): string => {
  const meeting = step.meeting === undefined ? 'the meeting' : `“${step.meeting}”`
  switch (step.type) {
    case 'open_meeting':
      return `The client asks for ${meeting}.`
    case 'wait_for':
      return `Time passes until ${meeting} is ${step.state.replaceAll('_', ' ')}${step.code === undefined ? '' : ` (${step.code})`}.`
    case 'pass_time':
      return `${step.hours} hours pass.`
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
      return `${step.who} does something by hand at the provider: ${step.act.type.replaceAll('_', ' ')}.`
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
