/** roots: the certificates that this machine trusts, with those of the user. */
import { readFileSync } from 'node:fs'
import type { SecureContext } from 'node:tls'

export interface Roots {
  readonly context: SecureContext
  /** PEM: what programs of this machine trust, which is the user's file where one is named. */
  readonly pem: string
}

/** The roots of Node and of the system, and those in `files`. Throws the error of the system where one cannot be read. */
export async function trustedRoots(files: readonly string[]): Promise<Roots> {
  const { createSecureContext, getCACertificates } = await import('node:tls')
  const own = files.map((file) => `${readFileSync(file, 'utf8')}\n`).join('')
  const system = [...new Set(getCACertificates('system'))]
  const all = getCACertificates('default')
  const pem = own === '' ? (system.length > 0 ? system : all).join('\n') : own
  return {
    context: createSecureContext({ ca: [...new Set([...all, ...system])].concat(own === '' ? [] : [own]) }),
    pem,
  }
}
