import { readFileSync } from 'node:fs'
import { errorCode } from '../kernel/index.ts'

/** Field 22 of /proc/<pid>/stat, counted after the command name, which may hold spaces and brackets. */
const START_TIME_FIELD = 22 - 3

/** This process as text that no other process will ever equal: process id, start time and boot id, `-` where unknown. */
export function currentOwner(): string {
  return `${process.pid}@${startTimeOf(process.pid) ?? '-'}@${bootId() ?? '-'}`
}

/**
 * Whether the process that `currentOwner` described still runs on this machine. A reused process id and a reboot are
 * seen where /proc exists; text in another form counts as gone.
 */
export function isOwnerAlive(owner: string): boolean {
  const [pidText = '', startTime = '-', boot = '-'] = owner.split('@')
  if (!/^[1-9]\d{0,9}$/.test(pidText) || boot !== (bootId() ?? '-')) return false
  const pid = Number(pidText)
  if (startTime !== '-') return startTimeOf(pid) === startTime
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, under another user.
    return errorCode(error) === 'EPERM'
  }
}

function startTimeOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TIME_FIELD]
}

function bootId(): string | undefined {
  return readText('/proc/sys/kernel/random/boot_id')?.trim()
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // No /proc on this platform, or no such process.
    return undefined
  }
}
