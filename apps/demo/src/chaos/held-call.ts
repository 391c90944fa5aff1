/** A call of one meeting's organizer that the provider holds, so that something can be done in the middle of it. */
import type { SimulatorControl } from '@aftercommit/simulator'
import type { MeetingPlan } from './plan.ts'

export const meetingBeside = (fault: string): MeetingPlan => ({
  purpose: `Chaos ${fault}`,
  organizer: 'google',
  fate: 'keep',
  pauseMs: 0,
})

export const hold = async (
  control: SimulatorControl,
  id: string,
  operation: string,
  address: string,
  times = 1,
): Promise<void> => {
  await control.addFault({
    id,
    provider: 'google',
    operation,
    address,
    times,
    act: { type: 'hold', when: 'after_effect' },
  })
}

const FIRES_WITHIN_MS = 8_000
const LOOK_EVERY_MS = 50

/** Whether somebody comes to be held by the fault. Not for sure: trouble of another kind may have met the call first. */
export const fires = async (control: SimulatorControl, fault: string): Promise<boolean> => {
  for (const giveUpAt = Date.now() + FIRES_WITHIN_MS; Date.now() < giveUpAt;) {
    const faults = await control.readFaults()
    if (faults.some(({ id, fired }) => id === fault && fired.length > 0)) return true
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  return false
}
