#!/usr/bin/env node
// CommonJS and plain syntax on purpose: this file must start on any Node, to say which one is needed, and starts fastest.
// The build puts the version in, and makes look.cjs, start.cjs and main.cjs of main.ts.
import type * as Fs from 'node:fs'
import type * as Vm from 'node:vm'
import type * as Main from './main.ts'
const { version, build } = require('../../package.json') as { version: string; build?: string }
const args = process.argv.slice(2)
const OLDEST_MAJOR = 24
/** Of `nexus skills`; they start from the smaller bundle. */
const LOOKING: readonly string[] = ['list', 'show']
/** What asks for help. */
const HELP: readonly string[] = ['help', '--help', '-h']

if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  print(`${version}\n`)
} else if (Number.parseInt(process.versions.node, 10) < OLDEST_MAJOR) {
  process.stderr.write(`Nexus needs Node ${OLDEST_MAJOR} or newer; this is ${process.version} (${process.execPath}).\n`)
  process.stderr.write(`Install it, for example: npm install -g node@${OLDEST_MAJOR}, or from https://nodejs.org\n`)
  process.exitCode = 1
} else {
  start().catch((error: unknown) => {
    process.stderr.write(`error INTERNAL: Nexus could not start; is it installed completely?\n${String(error)}\n`)
    process.exitCode = 1
  })
}

/** Straight to the file: `process.stdout` alone costs a sixth of the start of Node. */
function print(text: string): void {
  try {
    ;(require('node:fs') as typeof Fs).writeSync(1, text)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    // A pipe that is full: the stream knows how to wait. A reader that went away wanted no more.
    if (code === 'EAGAIN') process.stdout.write(text)
    else if (code !== 'EPIPE') {
      process.stderr.write(`error: the output could not be written: ${message}\n`)
      process.exitCode = 1
    }
  }
}

async function start(): Promise<void> {
  // Run from source there is no bundle, and nothing to keep.
  const kind = kindOf(args)
  const isShort = LOOKING.includes(kind)
  // Printing is a good part of a short command, and there are two ways to print.
  const form = isShort && args.includes('--json') ? '-json' : ''
  const bundle =
    build === undefined ? undefined : openBundle(`${build}-${process.version}-${process.arch}-${kind}${form}`)
  const { main } = (bundle ? bundle.load(bundleFor(kind)) : require('./main.ts')) as typeof Main
  process.exitCode = await main(args, version)
  // What failed has not run the functions that count.
  if (!isShort || process.exitCode === 0) bundle?.keep()
}

/** Commands with much in common share what is kept. Where the guess is wrong the answer is the same, only later. */
function kindOf([first = 'help', second = '']: readonly string[]): string {
  if (HELP.includes(first) || args.some((arg) => arg === '--help' || arg === '-h')) return 'help'
  if (first === 'skills' && (second === 'check' || LOOKING.includes(second))) return second
  return first === 'prompt' || first === 'config' ? first : 'other'
}

function bundleFor(kind: string): string {
  if (LOOKING.includes(kind)) return 'look'
  return kind === 'help' || kind === 'other' ? 'start' : 'main'
}

/**
 * Loads files of the bundle with what V8 made of them in an earlier run of such a command: also the functions that only a run compiles,
 * which Node's own cache leaves out. It lies beside the bundle, and counts only when nobody else could have written it: V8 runs what it says.
 */
function openBundle(key: string): { readonly load: (name: string) => unknown; readonly keep: () => void } {
  // `require` takes longer, also for what is loaded.
  const fs = process.getBuiltinModule('node:fs')
  const { Script } = process.getBuiltinModule('node:vm')
  const directory = `${__dirname}/../.cache`
  const isSafe = isOurs(fs, directory)
  const loaded = new Map<string, unknown>()
  const unkept: { readonly path: string; readonly script: Vm.Script }[] = []

  const load = (name: string): unknown => {
    if (loaded.has(name)) return loaded.get(name)
    const filename = `${__dirname}/${name}.cjs`
    const path = `${directory}/${key}-${name.replace('/', '-')}.bin`
    const cachedData = isSafe ? read(fs, path) : undefined
    const source = `(function (exports, require, module, __filename, __dirname, nexusImport) {${fs.readFileSync(filename, 'latin1')}\n})`
    const script = new Script(source, { filename, ...(cachedData && { cachedData }) })
    if (!cachedData || script.cachedDataRejected) unkept.push({ path, script })
    const module = { exports: {} }
    loaded.set(name, module.exports)
    const define = script.runInThisContext() as (...given: unknown[]) => void
    define(module.exports, requireFrom, module, filename, __dirname, importFrom)
    loaded.set(name, module.exports)
    return module.exports
  }
  const requireFrom = (id: string): unknown => {
    if (isOwn(id)) return load(nameOf(id))
    if (!loaded.has(id)) loaded.set(id, process.getBuiltinModule(id) ?? require(id))
    return loaded.get(id)
  }
  const importFrom = async (id: string): Promise<unknown> => {
    if (isOwn(id)) return load(nameOf(id))
    if (isSafe) process.getBuiltinModule('node:module').enableCompileCache(directory)
    return import(id)
  }
  const keep = (): void => {
    if (isSafe) for (const { path, script } of unkept) write(fs, path, () => script.createCachedData())
  }
  return { load, keep }
}

/** The files of the bundle that are loaded here; all others are loaded by Node. */
function isOwn(id: string): boolean {
  return id.startsWith('./') && id.endsWith('.cjs')
}

function nameOf(id: string): string {
  return id.slice('./'.length, -'.cjs'.length)
}

/** Writable for its owner alone, who is the system, this user, or whoever owns this file. Where there are no users it is ours. */
function isClosed(fs: typeof Fs, stats: Fs.Stats): boolean {
  if (process.getuid === undefined) return true
  const isKnown = stats.uid === 0 || stats.uid === process.getuid() || stats.uid === fs.statSync(__filename).uid
  return isKnown && (stats.mode & 0o022) === 0
}

/** True for a directory that is closed to others; it is made when it is not there. */
function isOurs(fs: typeof Fs, directory: string): boolean {
  try {
    const stats = fs.lstatSync(directory, { throwIfNoEntry: false })
    if (stats) return stats.isDirectory() && isClosed(fs, stats)
    fs.mkdirSync(directory, { mode: 0o755 })
    return true
  } catch {
    // Installed where this user may not write: every start compiles.
    return false
  }
}

/** V8 looks at the beginning only, and ends the process over damage further on: so everything is kept twice, and must be equal. */
function read(fs: typeof Fs, path: string): Buffer | undefined {
  let fd: number | undefined
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0))
    const stats = fs.fstatSync(fd)
    if (!stats.isFile() || !isClosed(fs, stats)) return undefined
    const bytes = fs.readFileSync(fd)
    const half = bytes.length / 2
    const data = bytes.subarray(0, half)
    return Number.isInteger(half) && data.equals(bytes.subarray(half)) ? data : undefined
  } catch {
    // Not there yet, or not for us: V8 compiles.
    return undefined
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}

/** Whole or not at all: another process may read it at the same time. Nothing is made of what cannot be written. */
function write(fs: typeof Fs, path: string, make: () => Buffer): void {
  const draft = `${path}.${process.pid}-${Date.now()}`
  let fd: number | undefined
  try {
    fd = fs.openSync(draft, 'wx', 0o644)
    const data = make()
    fs.writeFileSync(fd, Buffer.concat([data, data]), { flush: true })
    fs.renameSync(draft, path)
  } catch {
    // No right to write here, or the disk is full: the next run compiles again.
    if (fd !== undefined) fs.rmSync(draft, { force: true })
  } finally {
    if (fd !== undefined) fs.closeSync(fd)
  }
}
