import type { Templates } from '../../message.ts'
import { approvalRequest } from './approval-request.ts'
import { clarification } from './clarification.ts'
import { confirmReading } from './confirm-reading.ts'
import { invitation } from './invitation.ts'
import { reminder } from './reminder.ts'
import { withdrawn } from './withdrawn.ts'

export const en: Templates = {
  invitation,
  reminder,
  confirm_reading: confirmReading,
  clarification,
  approval_request: approvalRequest,
  withdrawn,
}
