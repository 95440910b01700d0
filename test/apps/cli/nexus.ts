import assert from 'node:assert/strict'
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../source-tree.ts'

const BIN = join(ROOT, 'dist/cli/bin.cjs')
const WORKSPACE = fileURLToPath(new URL('../../fixtures/cli/workspace', import.meta.url))

const { isBuildFresh } = (await import(join(ROOT, 'scripts/build-stamp.mjs'))) as { isBuildFresh: () => boolean }
assert.ok(isBuildFresh(), 'dist/ is not made from src/ as it is now: npm run build')

export interface Ran {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface StartOptions {
  readonly cwd?: string
  readonly env?: Record<string, string>
  /** A descriptor that takes the place of the pipe. */
  readonly stdout?: 'pipe' | number
  readonly stdin?: 'ignore' | 'pipe'
}

/** A place for one test: a copy of the fixture workspace and an empty Nexus home, both removed afterwards. */
export class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-cli-')))
  readonly workspace = join(this.root, 'workspace')
  readonly home = join(this.root, 'home')
  /** On PATH, with `nexus` in it. */
  readonly bin = join(this.root, 'bin')

  constructor(t: { after: (fn: () => void) => void }) {
    cpSync(WORKSPACE, this.workspace, { recursive: true })
    mkdirSync(this.bin)
    symlinkSync(BIN, join(this.bin, 'nexus'))
    t.after(() => rmSync(this.root, { recursive: true, force: true, maxRetries: 5 }))
  }

  /** Starts the command as it is installed, with nothing of this process' environment but PATH. */
  start(args: readonly string[], more: StartOptions = {}): ChildProcess {
    const [program = '', ...rest] = this.line(args)
    return spawn(program, rest, this.options(more))
  }

  /** The words that start it. */
  line(args: readonly string[]): string[] {
    return [process.execPath, BIN, ...args]
  }

  /** Where and with what it is started. */
  options({ cwd = this.workspace, env = {}, stdout = 'pipe', stdin = 'ignore' }: StartOptions = {}): SpawnOptions {
    return {
      cwd,
      env: { PATH: `${this.bin}:${process.env['PATH'] ?? ''}`, HOME: this.root, NEXUS_HOME: this.home, ...env },
      stdio: [stdin, stdout, 'pipe'],
    }
  }

  async run(args: readonly string[], more: StartOptions = {}): Promise<Ran> {
    return ended(this.start(args, more))
  }
}

/** Everything a process wrote, when it is gone. */
export function ended(child: ChildProcess): Promise<Ran> {
  return new Promise((resolve, reject) => {
    let stdout = ''
    let stderr = ''
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      // Node's warning about the option that starts the bundle.
      if (stderr.includes('USE_MAIN_CONTEXT_DEFAULT_LOADER')) reject(new Error(stderr))
      else resolve({ code, signal, stdout, stderr })
    })
  })
}
