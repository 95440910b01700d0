import { closeSync, constants, openSync, readdirSync, readFileSync } from 'node:fs'

/** Descriptors of a program above its three streams. */
export interface Covered {
  /** The rest of `stdio` of `spawn`. */
  readonly stdio: readonly (number | 'ignore')[]
  close(): void
}

/**
 * Node closes its own descriptors in a program, and those up to 15 that Nexus was started with. Others, such as of a shell with
 * `200<file`, would reach the program: it gets /dev/null in their place.
 */
export function coverInherited(): Covered {
  const inherited = inheritedDescriptors()
  const last = Math.max(2, ...inherited)
  if (last === 2) return { stdio: [], close: () => undefined }
  const nothing = openSync('/dev/null', constants.O_RDONLY)
  const stdio = Array.from({ length: last - 2 }, (_, index) => (inherited.includes(index + 3) ? nothing : 'ignore'))
  return { stdio, close: () => closeSync(nothing) }
}

/** Above the three streams; none on systems without /proc. */
function inheritedDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .filter((fd) => fd > 2 && isInheritable(fd))
  } catch {
    return []
  }
}

function isInheritable(fd: number): boolean {
  try {
    const [, flags = '0'] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8')) ?? []
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch {
    // It was the one that read the directory.
    return false
  }
}

const CLOSE_ON_EXEC = 0o2000000
