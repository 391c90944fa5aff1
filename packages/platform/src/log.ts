import winston from 'winston'

/** What a log line may carry: scalars that its writer chose by name. Objects of the domain do not fit. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

export interface Log {
  readonly info: (message: string, fields?: LogFields) => void
  readonly warn: (message: string, fields?: LogFields) => void
  readonly error: (message: string, fields?: LogFields) => void
}

/** JSON lines, by default on standard output. */
export const createLog = (
  service: string,
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent' = 'info',
  stream: NodeJS.WritableStream = process.stdout,
): Log => {
  const logger = winston.createLogger({
    ...(level === 'silent' ? { silent: true } : { level }),
    defaultMeta: { service },
    format: winston.format.combine(winston.format.timestamp(), winston.format.json()),
    // winston declares its transports as interfaces beside the class that it asks for; they are instances of it.
    // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment
    transports: [new winston.transports.Stream({ stream })],
  })
  const write =
    (severity: 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void =>
      void logger.log(severity, message, fields)
  return { info: write('info'), warn: write('warn'), error: write('error') }
}

/** The same log, every line of which also carries `fields`. */
export const withFields = (log: Log, fields: LogFields): Log => ({
  info: (message, more) => log.info(message, { ...fields, ...more }),
  warn: (message, more) => log.warn(message, { ...fields, ...more }),
  error: (message, more) => log.error(message, { ...fields, ...more }),
})

/**
 * An error as a log may show it: its kind, its code and where it arose. Not its message, which may quote a value, a
 * row or a provider's words.
 */
export const errorFields = (error: unknown): LogFields => {
  if (!(error instanceof Error)) return { error: typeof error }
  const code: unknown = Reflect.get(error, 'code')
  const frames = error.stack
    ?.split('\n')
    .filter((line) => line.trimStart().startsWith('at '))
    .slice(0, 8)
    .map((line) => line.trim())
    .join(' | ')
  const cause = error.cause instanceof Error ? error.cause.name : undefined
  return {
    error: error.name,
    ...(typeof code === 'string' && { code }),
    ...(cause !== undefined && { cause }),
    ...(frames !== undefined && { frames }),
  }
}
