/** A host directory and its mirror, without a sandbox: what a command would do is done to `inside` by hand. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Records, recordsOf } from '../../../src/machine/changes/index.ts'
import type { Owner } from '../../../src/machine/files/index.ts'
import { leftBy } from '../../../src/machine/sandbox/local/left.ts'
import { Mirror } from '../../../src/machine/sandbox/mirror/mirror.ts'
import type { MirrorLimits } from '../../../src/machine/sandbox/mirror/scan.ts'
import { openDirectory } from './local-rig.ts'

export interface Rig {
  readonly host: string
  /** Where the command works. */
  readonly inside: string
  readonly mirror: {
    pull(...args: Parameters<Mirror['pull']>): Promise<void>
    /** Returns the notes. */
    push(signal?: AbortSignal): Promise<readonly string[]>
    readonly isUsable: boolean
    readonly bound: readonly string[]
  }
  /** The sets of the host. */
  readonly records: Records
}

const MINUTE_MS = 60_000

export function openMirror(
  context: Pick<TestContext, 'after'>,
  limits: Partial<MirrorLimits> = {},
  owner?: Owner,
): Rig {
  const parent = openDirectory()
  const [host, inside] = [join(parent, 'host'), join(parent, 'inside')]
  mkdirSync(host)
  mkdirSync(inside)
  context.after(() => execFileSync('rm', ['-rf', parent]))
  const all = { maxFiles: 1000, maxBytes: 1_000_000, ...limits }
  const records = recordsOf(join(parent, 'state'), host)
  const mirror = new Mirror({
    workspace: host,
    directory: inside,
    owner,
    places: { paths: [], writable: [] },
    limits: all,
    records,
    changes: { keepDays: 14, maxBytes: 64 * 1024 * 1024 },
  })
  const push = async (signal = AbortSignal.timeout(MINUTE_MS)): Promise<readonly string[]> =>
    leftBy(await mirror.push({ signal, maker: { tool: 'test' } })).notes
  return {
    host,
    inside,
    records,
    mirror: {
      pull: (...args) => mirror.pull(...args),
      push,
      get isUsable() {
        return mirror.isUsable
      },
      get bound() {
        return mirror.bound
      },
    },
  }
}

/** A tree as data: path → content, `-> target` for links, `/` for directories. */
export function picture(directory: string, at = ''): Record<string, string> {
  const entries = readdirSync(join(directory, at), { withFileTypes: true })
  return Object.assign(
    {},
    ...entries.map((entry) => {
      const path = join(at, entry.name)
      if (entry.isDirectory()) return { [path]: '/', ...picture(directory, path) }
      if (entry.isSymbolicLink()) return { [path]: `-> ${readlinkSync(join(directory, path))}` }
      return { [path]: entry.isFile() ? readFileSync(join(directory, path), 'utf8') : '?' }
    }),
  ) as Record<string, string>
}
