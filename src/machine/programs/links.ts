/** links: follows a path step by step, and keeps every link on the way: inside a sandbox each has to be there too. */
import { lstatSync, readlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export interface Link {
  readonly path: string
  /** The text of the link. */
  readonly target: string
}

/** The end of a path and the links that lead there, in order. */
export interface Way {
  readonly real: string
  readonly links: readonly Link[]
}

/** Most links of one way, as the kernel has it. */
const MOST = 40

/** Undefined where nothing is, or links go round in circles. */
export function follow(path: string): Way | undefined {
  const links: Link[] = []
  let at = '/'
  let rest = path.split('/').filter(Boolean)
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = name === '..' ? dirname(at) : join(at, name)
    const found = lstatOf(next)
    if (found === undefined) return undefined
    if (!found.isSymbolicLink()) {
      at = next
      continue
    }
    const target = readlinkSync(next)
    links.push({ path: next, target })
    if (links.length > MOST) return undefined
    rest = [...resolve(at, target).split('/').filter(Boolean), ...rest]
    at = '/'
  }
  return {
    real: at,
    links: links.filter((link, index) => links.findIndex(({ path: at }) => at === link.path) === index),
  }
}

function lstatOf(path: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // A directory on the way is closed to us, or is none.
    return undefined
  }
}

/** True when `path` is `directory` or lies below it; both absolute and normal. */
export function isIn(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)
}
