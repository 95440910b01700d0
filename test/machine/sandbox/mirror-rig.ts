/** A host directory and its mirror, without a sandbox: what a command would do is done to `inside` by hand. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Mirror } from '../../../src/machine/sandbox/mirror/mirror.ts'
import type { MirrorLimits } from '../../../src/machine/sandbox/mirror/scan.ts'
import { openDirectory } from './local-rig.ts'

export interface Rig {
  readonly host: string
  /** Where the command works. */
  readonly inside: string
  readonly mirror: Mirror
}

export function openMirror(context: Pick<TestContext, 'after'>, limits: Partial<MirrorLimits> = {}): Rig {
  const parent = openDirectory()
  const [host, inside] = [join(parent, 'host'), join(parent, 'inside')]
  mkdirSync(host)
  mkdirSync(inside)
  context.after(() => execFileSync('rm', ['-rf', parent]))
  const all = { maxFiles: 1000, maxBytes: 1_000_000, ...limits }
  return {
    host,
    inside,
    mirror: new Mirror({
      workspace: host,
      directory: inside,
      owner: undefined,
      places: { paths: [], writable: [] },
      limits: all,
    }),
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
