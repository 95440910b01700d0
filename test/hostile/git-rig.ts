/** A repository on the host in which commands work, for attacks through git. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { recordsOf, type Records } from '../../src/machine/changes/index.ts'
import { Tree } from '../../src/machine/files/index.ts'
import type { LocalOptions } from '../../src/machine/sandbox/index.ts'
import { openRig, type Rig, STATE_DIR } from '../machine/sandbox/local-rig.ts'

export interface Repository extends Rig {
  readonly records: Records
  readonly host: Tree
  /** As the user on the host. */
  git(...args: readonly string[]): string
  has(path: string): boolean
  read(path: string): string
  /** Writes a file on the host. */
  write(path: string, text: string, mode?: number): void
}

/** Whom git in a command works for. */
export const AS = 'export GIT_AUTHOR_NAME=u GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=u GIT_COMMITTER_EMAIL=e;'

/** Files of the first commit by path. */
export async function openRepository(
  context: TestContext,
  files: Readonly<Record<string, string>> = { a: 'one\n', b: 'one\n' },
  options: Partial<LocalOptions> = {},
): Promise<Repository> {
  const rig = await openRig(context, options)
  const host = new Tree(rig.workspace)
  context.after(() => host.close())
  const git = (...args: readonly string[]): string => {
    const settings = '-c safe.directory=* -c user.name=u -c user.email=e -c advice.detachedHead=false'.split(' ')
    return execFileSync('git', [...settings, '-C', rig.workspace, ...args], { encoding: 'utf8', stdio: 'pipe' })
  }
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(rig.workspace, path)), { recursive: true })
    writeFileSync(join(rig.workspace, path), text, { mode })
  }
  git('init', '-q', '-b', 'main')
  for (const [path, text] of Object.entries(files)) write(path, text)
  git('add', '.')
  git('commit', '-qm', 'one')
  return {
    ...rig,
    host,
    records: recordsOf(STATE_DIR, rig.workspace),
    git,
    write,
    has: (path) => existsSync(join(rig.workspace, path)),
    read: (path) => readFileSync(join(rig.workspace, path), 'utf8'),
  }
}
