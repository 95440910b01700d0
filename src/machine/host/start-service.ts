import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { coverInherited } from './descriptors.ts'

/** A program of ours that goes on after this process. */
export interface ServiceRequest {
  /** The program by its absolute path, and its arguments. */
  readonly command: readonly string[]
  readonly cwd: string
  /** Gets what it writes, behind what is there. Its directory is made. */
  readonly log: string
}

/** Starts it with the variables of this process. Resolves with its exit code, should it end before this process does. */
export function start({ command, cwd, log }: ServiceRequest): Promise<number | undefined> {
  const [path = '', ...args] = command
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 })
  const output = openSync(log, 'a', 0o600)
  const covered = coverInherited()
  try {
    const child = spawn(path, args, { cwd, stdio: ['ignore', output, output, ...covered.stdio], detached: true })
    child.unref()
    return new Promise((resolve) => {
      child.on('error', () => resolve(undefined))
      child.on('exit', (code) => resolve(code ?? undefined))
    })
  } finally {
    covered.close()
    closeSync(output)
  }
}
