import { readFile } from 'node:fs/promises'

/** As whom the server runs. PostgreSQL refuses to run as root, so root hands it to an unprivileged account. */
export interface RunAs {
  readonly uid: number
  readonly gid: number
  /** Options for `spawn`; empty when the account does not change. */
  readonly spawn: { readonly uid?: number; readonly gid?: number }
  readonly changed: boolean
}

const ACCOUNTS = ['postgres', 'nobody']

export const runAs = async (): Promise<RunAs> => {
  const uid = process.getuid?.() ?? -1
  const gid = process.getgid?.() ?? -1
  if (uid !== 0) return { uid, gid, spawn: {}, changed: false }
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const account of ACCOUNTS) {
    const fields = lines.find(([name]) => name === account)
    if (fields) {
      const ids = { uid: Number(fields[2]), gid: Number(fields[3]) }
      return { ...ids, spawn: ids, changed: true }
    }
  }
  throw new Error(`PostgreSQL cannot run as root, and none of the accounts ${ACCOUNTS.join(', ')} exists`)
}
