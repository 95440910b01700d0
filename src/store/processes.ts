/** processes: which process a lease belongs to, so that one that ended on this machine is known at once. */
import { readFileSync } from 'node:fs'
import { isOwnerGone, ownerToken } from '../machine/files/index.ts'

/** Names this process among those of all machines; undefined where the system does not number its starts. */
export function processName(): string | undefined {
  const boot = bootId()
  return boot && `${boot} ${ownerToken()}`
}

/** True for the process of a lease that ran on this machine, since its start, and ended. */
export function isProcessGone(name: string): boolean {
  const [boot, token = ''] = name.split(' ')
  return boot === bootId() && isOwnerGone(token)
}

function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return undefined
  }
}
