/** A connection as the owner of a run's database. It is outside what is tried, so it waits out what befalls the server. */
import pg from 'pg'

export interface Owner {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>
}

const TRIES_MAX = 60
const AGAIN_MS = 250

export interface OpenOwner extends Owner {
  close(): Promise<void>
}

export const openOwner = (url: string): OpenOwner => {
  const pool = new pg.Pool({ connectionString: url, max: 3, application_name: 'aftercommit chaos' })
  // Whoever asks hears of it; a connection that nobody uses may go with its server.
  pool.on('error', () => undefined)
  return {
    query: async (text, values) => {
      for (let tries = 1; ; tries++) {
        try {
          return await pool.query(text, values)
        } catch (error) {
          if (tries === TRIES_MAX || !isAway(error)) throw error
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
        }
      }
    },
    close: () => pool.end(),
  }
}

/** PostgreSQL's own codes have five characters; those of classes 08 and 57P, and all of a socket, say that it is away. */
const isAway = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const code: unknown = Reflect.get(error, 'code')
  return typeof code !== 'string' || /^(08|57P|E[A-Z])/.test(code)
}
