import { readFileSync, statSync } from 'node:fs'

/** Names this process for good, as part of a file name: pid namespace, pid and start time. Without /proc only its pid. */
export function ownerToken(): string {
  return `${pidNamespace()}-${process.pid}-${startTimeOf(process.pid)}`
}

/** True when the process of a token is gone. One of another pid namespace, such as another container, counts as living. */
export function isOwnerGone(token: string): boolean {
  const [namespace, pid, start] = token.split('-').map(Number)
  return namespace === pidNamespace() && startTimeOf(pid ?? -1) !== start
}

/** The fields of /proc/<pid>/stat from the state on, after the name of the program; empty when there is no such process. */
function processStat(pid: number): string[] {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8').trim()
  } catch {
    // The process is gone.
    return []
  }
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function pidNamespace(): number {
  return statSync('/proc/self/ns/pid', { throwIfNoEntry: false })?.ino ?? 0
}

/** Start of a process in clock ticks since boot; 0 when there is none. */
function startTimeOf(pid: number): number {
  return Number(processStat(pid)[19] ?? 0)
}
