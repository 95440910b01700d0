/** Systems that refuse calls of Node's file system. With NO_LINKS=1 this process makes no links, as where only an administrator may. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** From now on a call fails, from the nth on. The returned function ends that. */
export function refuse(name: 'symlinkSync' | 'unlinkSync', code: string, from = 1): () => void {
  const real = fs[name] as (...args: unknown[]) => void
  const set = (to: typeof real): void => {
    Object.assign(fs, { [name]: to })
    syncBuiltinESMExports()
  }
  let count = 0
  set((...args) => {
    if (++count >= from) throw Object.assign(new Error(`${code}: ${name}`), { code })
    real(...args)
  })
  return () => set(real)
}

export const refuseLinks = (): (() => void) => refuse('symlinkSync', 'EPERM')

if (process.env['NO_LINKS'] === '1') refuseLinks()
