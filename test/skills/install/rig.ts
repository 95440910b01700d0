/** Places of one test: scopes on an empty Nexus home, and sources of skills that are installed there. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type Applied,
  applyPlan,
  type Locator,
  lockOf,
  openSource,
  planOf,
  type Scope,
  scopeOf,
} from '../../../src/skills/install/index.ts'

const alone = <T>(_: string, work: () => Promise<T>): Promise<T> => work()

export class Ground {
  readonly root: string
  readonly nexusHome: string
  /** That of the directory `workspace`. */
  readonly scope: Scope
  readonly options = { alone, now: new Date(0) }

  constructor(t: { after: (fn: () => void) => void }) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-install-')))
    t.after(() => rmSync(this.root, { recursive: true, force: true, maxRetries: 5 }))
    this.nexusHome = join(this.root, 'home')
    this.scope = this.place('workspace')
  }

  place(name: string): Scope {
    const directory = join(this.root, name)
    mkdirSync(directory, { recursive: true })
    return scopeOf({
      ...{ kind: 'workspace', directory, nexusHome: this.nexusHome },
      stateDirectory: join(this.nexusHome, 'state'),
    })
  }

  /** Writes a file below the root, and returns its path. */
  write(path: string, content: string | Uint8Array, mode = 0o644): string {
    const file = join(this.root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content, { mode })
    return file
  }

  access(scope = this.scope) {
    return { scope, home: this.root }
  }

  /** Installs every skill of a source. */
  async install(
    locator: Locator,
    more: { clients?: readonly string[]; scope?: Scope; from?: string } = {},
  ): Promise<Applied> {
    const { scope = this.scope, ...options } = more
    await using source = await openSource(locator, this.access(scope))
    const packages = await source.read(source.candidates)
    const wanted = packages.map((each) => ({ package: each, source: source.lockedAs(each) }))
    return await applyPlan(scope, await planOf(scope, wanted, lockOf(scope)), { ...this.options, ...options })
  }

  /** Installs from a folder below the root. */
  async folder(name: string, more: { clients?: readonly string[]; scope?: Scope } = {}): Promise<Applied> {
    const path = join(this.root, name)
    return this.install({ type: 'directory', path }, { ...more, from: path })
  }
}
