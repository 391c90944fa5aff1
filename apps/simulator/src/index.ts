export { simulatorControl } from './client.ts'
export type { SimulatorControl } from './client.ts'
export type {
  BusyBlock,
  EventAct,
  EventView,
  Fault,
  FaultAct,
  FaultSpec,
  LedgerEntry,
  Person,
  RequestEntry,
  WebhookInbox,
} from './contract.ts'
export type { Mailbox, MailReply, ReceivedMail } from './mail/contract.ts'
export { startSimulator } from './server.ts'
export type { Simulator, SimulatorOptions } from './server.ts'
