/**
 * compile-cache: starts the bundle with what V8 compiled in an earlier run of the same command. V8 runs what the cache contains without
 * a check, so only this user may be able to write it.
 */
import { existsSync, readFileSync, realpathSync, statSync, utimesSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import { constants, Script } from 'node:vm'
import { type KeptPlace, keptPlace, readKept, writeKept } from '../../machine/files/index.ts'

/** Entries that make a directory a workspace, where commands of skills may write. Source: config/workspace.ts. */
const MARKERS = ['nexus.yaml', '.nexus', '.git']

/** One file per command; the largest has about 3 MB. */
const MOST_FILES = 24
const MOST_BYTES = 16_000_000

/** Bytes of code that a run has beyond those of the kept one before its file is written again. */
const MUCH_MORE = 100_000
/** To ask V8 for those bytes takes a sixth of the start of Node, so it is asked no more often for one file. */
const ASK_AGAIN_MS = 24 * 3_600_000

interface Bundle {
  main(argv: readonly string[], version: string): Promise<number>
  findCommand(argv: readonly string[]): { readonly name: string } | undefined
}

// Here and in what this file imports there is no newer syntax: it must start on an old Node to say which one is needed.

/** The name by which the bundle asks for the packages that only MCP and the server need: other commands do not read them. */
const SDK = './sdk.cjs'

/**
 * Runs the bundle. Node's own cache has only what V8 compiles while a file is loaded; this one is made when the process ends, so it has
 * the functions that the command called: half of its start.
 */
export function requireCompiled(file: string, args: readonly string[]): Bundle {
  const given = wordsOf(args)
  let sdk: unknown
  const requireWithSdk = (id: string): unknown =>
    id === SDK ? sdk || (sdk = run(join(dirname(file), SDK), [['sdk']], { keptAs: () => ['sdk'] })) : require(id)
  silence('vm.USE_MAIN_CONTEXT_DEFAULT_LOADER ')
  const keptAs = (bundle: unknown): readonly string[] | undefined =>
    given.length === 0 ? [] : wordsIn((bundle as Bundle).findCommand(args))
  // A command has one word or two; what follows it may be any word.
  return run(file, [given, given.slice(0, 1)], { keptAs, require: requireWithSdk }) as Bundle
}

interface Running {
  /** The words of the file that is kept; undefined where none is. */
  readonly keptAs: (exported: unknown) => readonly string[] | undefined
  readonly require?: (id: string) => unknown
}

/** The exports of a file of the build. `known`: words of kept files, of which the first that is there is used. */
function run(
  file: string,
  known: readonly (readonly string[])[],
  { keptAs, require: from = require }: Running,
): unknown {
  const source = readFileSync(file, 'latin1')
  const { directory } = compiledPlace()
  const pathFor = (words: readonly string[]): string =>
    join(directory || '', [...words, source.slice(-65, -1), process.version, process.arch].join('-'))
  let kept: Buffer | undefined
  for (const words of directory === undefined ? [] : known) kept = kept || readKept(pathFor(words), MOST_BYTES)
  // Behind the number of bytes of code that the kept run had.
  const cachedData = kept && kept.subarray(8)
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${source}})`, {
    ...{ filename: file, cachedData, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER },
  })
  const module = { exports: {} }
  const start = script.runInThisContext() as (...given: unknown[]) => void
  start(module.exports, from, module, file, dirname(file))
  const words = keptAs(module.exports)
  if (directory !== undefined && words !== undefined)
    process.once('exit', (code) => {
      const isPart = code !== 0 || (words.length > 0 && process.argv.some((word) => word === '--help' || word === '-h'))
      keep(pathFor(words), script, { isPart, kept: script.cachedDataRejected === false ? kept : undefined })
    })
  return module.exports
}

interface Run {
  /** It ended early, with help or a refusal: a later run has more. */
  readonly isPart: boolean
  /** The file that it used. */
  readonly kept: Buffer | undefined
}

/** Writes the file of a command, unless the kept one has as much. Its time says when that was asked last; long ago, for a part. */
function keep(path: string, script: Script, { isPart, kept }: Run): void {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (kept && stats && Date.now() - stats.mtimeMs < ASK_AGAIN_MS) return
  const bytes = process.getBuiltinModule('node:v8').getHeapCodeStatistics().bytecode_and_metadata_size
  const isMore = !kept || bytes > kept.readDoubleLE() + MUCH_MORE
  if (isMore) {
    const head = Buffer.alloc(8)
    head.writeDoubleLE(bytes)
    writeKept(path, [head, script.createCachedData()], MOST_FILES)
  }
  const at = isPart ? 1 : Date.now() / 1_000
  try {
    if (isMore || !isPart) utimesSync(path, at, at)
  } catch {
    // It could not be written.
  }
}

function wordsIn(command: { readonly name: string } | undefined): readonly string[] | undefined {
  return command && wordsOf(command.name.split(' '))
}

/** Keeps one warning of Node from the terminal. Node gives it for each use of the option, and users can change nothing about it. */
function silence(beginning: string): void {
  const emit = process.emitWarning as (...given: unknown[]) => void
  process.emitWarning = (...given: unknown[]): void => {
    if (!String(given[0]).startsWith(beginning)) emit.apply(process, given)
  }
}

/** The words that can be the name of a command; none for help. */
function wordsOf(args: readonly string[]): readonly string[] {
  return args.slice(0, 2).filter((word) => /^[a-z]{1,20}$/.test(word))
}

/** Where compiled code is kept, or why it is not. In any doubt each start compiles. */
export function compiledPlace(): KeptPlace {
  if (process.env.NODE_DISABLE_COMPILE_CACHE === '1') return { why: 'NODE_DISABLE_COMPILE_CACHE is set' }
  try {
    const given = nexusHome()
    const home = join(realpathSync.native(dirname(given)), basename(given))
    const workspace = workspaceAround(home, { cwd: realpathSync.native(process.cwd()), ownHome })
    return workspace === undefined ? keptPlace(home, 'compile') : { why: `commands could change files in ${workspace}` }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}

/** The same directory as in config/home.ts, without the rarer forms. */
function nexusHome(): string {
  const { NEXUS_HOME, HOME } = process.env
  const home = NEXUS_HOME || join(HOME || '', '.nexus')
  if (!isAbsolute(home)) throw new Error('the path of the Nexus home is not absolute')
  return home
}

/**
 * The directory around a Nexus home that is the working directory or can be a workspace. A `.git` in the user's own home, or above it,
 * does not count: others write nothing there, and commands cannot change a Nexus home. Source: config/workspace.ts.
 */
export function workspaceAround(
  home: string,
  { cwd, ownHome }: { readonly cwd: string; readonly ownHome: () => string },
): string | undefined {
  for (let inside = home, around = dirname(home); ; inside = around, around = dirname(around)) {
    const isMarked = MARKERS.some((name) => join(around, name) !== home && existsSync(join(around, name)))
    if (inside === cwd || isMarked) {
      const found = inside === cwd ? inside : around
      const own = ownHome()
      return isInside(own, home) && isInside(found, own) ? undefined : found
    }
    if (inside === around) return undefined
  }
}

/** The home that the system knows, whatever HOME is. */
function ownHome(): string {
  return realpathSync.native(process.getBuiltinModule('node:os').userInfo().homedir)
}

function isInside(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}
