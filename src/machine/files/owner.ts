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

function pidNamespace(): number {
  return statSync('/proc/self/ns/pid', { throwIfNoEntry: false })?.ino ?? 0
}

/** Start of a process in clock ticks since boot; 0 when there is none. */
function startTimeOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name of the program, which may contain anything.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  } catch {
    // The process is gone.
    return 0
  }
}
