/** What a dispatcher writes into its log: names and codes of what happened, never whom it was about. */
import type { EngineEvent } from '@aftercommit/outbox/engine'
import { errorFields, type Log } from '@aftercommit/platform/log'

export const reportTo =
  (log: Log) =>
  (event: EngineEvent): void => {
    switch (event.type) {
      case 'claimed':
        return
      case 'settled': {
        const { action, outcomeType: outcome, code, failureClass, attempts } = event
        const write = outcome === 'dead' ? log.error : log.info
        return write('settled', { action, outcome, code, failureClass, attempts })
      }
      case 'stale':
        return log.warn('stale', { action: event.action, step: event.step })
      case 'lease_lost':
        return log.warn('lease lost', { action: event.action, started: event.started })
      case 'handed_back':
        return log.info('handed back', { action: event.action })
      case 'order_mended':
        return log.error('rows out of order were mended', { rows: event.rows })
      case 'error':
        return log.error('engine error', { where: event.where, ...errorFields(event.error) })
    }
  }
