import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** The kernel ends a killed group within milliseconds. */
const GROUP_END_MS = 1_000
const GROUP_POLL_MS = 5

/** Kills all processes of the group; false when there is none. */
export function killGroup(group: number | undefined): boolean {
  if (group === undefined) return false
  try {
    return process.kill(-group, 'SIGKILL')
  } catch {
    // ESRCH: the group has ended.
    return false
  }
}

/** Kills the group and waits until none of it runs; not for ever, since a process may hang in the kernel. */
export async function endGroup(group: number | undefined): Promise<void> {
  if (group === undefined || !killGroup(group)) return
  const endsAt = performance.now() + GROUP_END_MS
  while (isGroupRunning(group) && performance.now() < endsAt) await delay(GROUP_POLL_MS)
}

/** One that has ended and waits to be collected by its parent does not count. Always false on systems without /proc. */
function isGroupRunning(group: number): boolean {
  if (!existsSync('/proc/self')) return false
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      // Behind the name of the program, which may contain anything.
      const [state, , itsGroup] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return Number(itsGroup) === group && state !== 'Z'
    } catch {
      // It has ended.
      return false
    }
  })
}
