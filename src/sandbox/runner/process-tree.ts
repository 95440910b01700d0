/** process-tree: finds the command itself below bubblewrap and the seccomp helper. Linux, from /proc only. */
import { readdirSync, readFileSync, statSync } from 'node:fs'

/** Ids of the direct children; empty when the process is gone. */
export function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

/** All descendants, parents before their children. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])
}

/** The process that the helper started: the command's own bash. Undefined before it runs and after it is gone. */
export function findCommand(bwrapPid: number): number | undefined {
  const helper = descendantsOf(bwrapPid).findLast((pid) => read(`/proc/${pid}/comm`).trim() === 'apply-seccomp')
  return helper === undefined ? undefined : childrenOf(helper)[0]
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

/** Names this process for good, as part of a file name: pid namespace, pid and start time. */
export function ownerToken(): string {
  return `${pidNamespace()}-${process.pid}-${startTimeOf(process.pid)}`
}

/** True when the process of a token is gone. One of another pid namespace, such as another container, counts as living. */
export function isOwnerGone(token: string): boolean {
  const [namespace, pid, start] = token.split('-').map(Number)
  return namespace === pidNamespace() && startTimeOf(pid ?? -1) !== start
}

function pidNamespace(): number {
  return statSync('/proc/self/ns/pid', { throwIfNoEntry: false })?.ino ?? 0
}

/** Start of a process in clock ticks since boot; -1 when there is none. */
function startTimeOf(pid: number): number {
  return Number(statOf(pid)[19] ?? -1)
}

/** The fields of /proc/<pid>/stat from the state on, after the name of the program; empty when there is no such process. */
function statOf(pid: number): string[] {
  const stat = read(`/proc/${pid}/stat`)
  return stat === '' ? [] : stat.slice(stat.lastIndexOf(')') + 2).split(' ')
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
