import assert from 'node:assert/strict'
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../source-tree.ts'

const BIN = join(ROOT, 'dist/cli/bin.cjs')
const WORKSPACE = fileURLToPath(new URL('../../fixtures/cli/workspace', import.meta.url))

const { isBuildFresh } = (await import(join(ROOT, 'scripts/build-stamp.mjs'))) as { isBuildFresh: () => boolean }
assert.ok(isBuildFresh(), 'dist/ is not made from src/ as it is now: npm run build')

/** Compiled code of this build: without it each first start of a command in a new home compiles the bundle again, for 0.15 s. */
const COMPILED = join(ROOT, 'node_modules/.cache/nexus-tests')
const [BUILD, SDK] = ['main', 'sdk'].map((name) =>
  [readFileSync(join(ROOT, `dist/cli/${name}.cjs`), 'latin1').slice(-65, -1), process.version, process.arch].join('-'),
) as [string, string]

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

  readonly #compiles: boolean

  /** `compiles`: each command of this place begins without compiled code, as the first one of a user. */
  constructor(t: { after: (fn: () => void) => void }, { compiles = false } = {}) {
    this.#compiles = compiles
    cpSync(WORKSPACE, this.workspace, { recursive: true })
    mkdirSync(this.bin)
    symlinkSync(BIN, join(this.bin, 'nexus'))
    t.after(() => rmSync(this.root, { recursive: true, force: true, maxRetries: 5 }))
  }

  /** Starts the command as it is installed, with nothing of this process' environment but PATH. */
  start(args: readonly string[], more: StartOptions = {}): ChildProcess {
    const line = more.env?.['NEXUS_HOME'] === undefined ? this.line(args) : [process.execPath, BIN, ...args]
    const [program = '', ...rest] = line
    return spawn(program, rest, this.options(more)).once('exit', () => this.#keepCompiled())
  }

  /** The words that start it. */
  line(args: readonly string[]): string[] {
    this.#giveCompiled(args)
    return [process.execPath, BIN, ...args]
  }

  /** Puts the compiled code of the command, under the name that it reads, where an earlier start would have left it. */
  #giveCompiled(args: readonly string[]): void {
    const words = args.slice(0, 2).filter((word) => /^[a-z]{1,20}$/.test(word))
    const names = [2, 1].map((length) => [...words.slice(0, length), BUILD].join('-'))
    const name = names.find((each) => existsSync(join(COMPILED, each)))
    const sdk = ['mcp', 'serve'].includes(words[0] ?? '') ? [`sdk-${SDK}`] : []
    for (const each of name === undefined || this.#compiles ? [] : [name, ...sdk])
      copyMissing(COMPILED, join(this.home, 'cache/compile'), each)
  }

  #keepCompiled(): void {
    const directory = join(this.home, 'cache/compile')
    if (this.#compiles || !existsSync(directory)) return
    for (const name of readdirSync(directory))
      if (name.endsWith(BUILD) || name.endsWith(SDK)) copyMissing(directory, COMPILED, name)
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

function copyMissing(from: string, to: string, name: string): void {
  const part = join(to, `${name}.${process.pid}`)
  const sizeIn = (directory: string): number => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0
  try {
    // A later run may have kept more.
    if (sizeIn(from) <= sizeIn(to)) return
    // Tests run as other users too, and may read what is kept here; a home is closed.
    const isShared = to === COMPILED
    mkdirSync(to, { recursive: true, mode: isShared ? 0o755 : 0o700 })
    copyFileSync(join(from, name), part)
    chmodSync(part, isShared ? 0o644 : 0o600)
    renameSync(part, join(to, name))
    if (isShared)
      for (const old of readdirSync(to))
        if (!old.includes(BUILD) && !old.includes(SDK)) rmSync(join(to, old), { force: true })
  } catch {
    // Closed to this user: the start is slower.
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
