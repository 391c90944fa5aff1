/** The command line of `npm start`. */
import { parseArgs } from 'node:util'

export type Arguments =
  | { readonly type: 'run'; readonly once: boolean; readonly json: string | undefined }
  | { readonly type: 'help' }
  /** Said to whoever typed it, in one sentence. */
  | { readonly type: 'unusable'; readonly reason: string }

export const USAGE = `Usage: npm start -- [--once] [--json FILE]

Runs the whole product on this machine and books a meeting while things go wrong.

  --once        stop when the story is over; exits 0 only if every check passed
  --json FILE   also write the whole trace to FILE, such as .data/trace.json
  --help        print this

  DATABASE_URL      a PostgreSQL of yours, as its owner; left out, one is started here
  AFTERCOMMIT_DATA  where database, key and logs stay between starts; left out, .data
`

const options = {
  once: { type: 'boolean' },
  json: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

export const readArguments = (args: readonly string[]): Arguments => {
  // Not strict: what is wrong is said in our words, and nothing is thrown.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  let once = false
  let json: string | undefined
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') return unusable(`there is no argument ${token.value}`)
    switch (token.name) {
      case 'help':
        return { type: 'help' }
      case 'once':
        if (token.value !== undefined) return unusable('--once takes no value')
        once = true
        break
      case 'json':
        // What looks like the next option is no file that anybody meant.
        if (token.value === undefined || token.value === '' || token.value.startsWith('-')) {
          return unusable('--json needs the name of a file')
        }
        json = token.value
        break
      default:
        return unusable(`there is no option ${token.rawName}`)
    }
  }
  return { type: 'run', once, json }
}

const unusable = (reason: string): Arguments => ({ type: 'unusable', reason })
