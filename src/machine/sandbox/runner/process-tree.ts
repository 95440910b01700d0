/** process-tree: finds the command itself below bubblewrap and the seccomp helper. Linux, from /proc only. */
import { readdirSync, readFileSync } from 'node:fs'

/** Ids of the direct children; empty when the process is gone. */
export function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

/** All descendants, parents before their children. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])
}

/** The command's own bash, below the shell that the helper started. Undefined before it runs and after it is gone. */
export function findCommand(bwrapPid: number): number | undefined {
  const helper = descendantsOf(bwrapPid).findLast((pid) => read(`/proc/${pid}/comm`).trim() === 'apply-seccomp')
  const shell = helper === undefined ? undefined : childrenOf(helper)[0]
  return shell === undefined ? undefined : childrenOf(shell)[0]
}

/** Ids of the processes besides this one whose file of that name in /proc holds `text`; those of other users only where /proc shows them. */
export function processesWith(file: 'cmdline' | 'environ', text: string): number[] {
  return processes().filter((pid) => pid !== process.pid && read(`/proc/${pid}/${file}`).includes(text))
}

function processes(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    // There is no /proc on this system.
    return []
  }
}

/** Sends a signal; false when the process is already gone. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    // ESRCH: it ended between our look and the signal, which is what we wanted.
    return false
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    // The process is gone; there is nothing to read.
    return ''
  }
}
