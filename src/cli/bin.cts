#!/usr/bin/env node
// CommonJS and plain syntax on purpose: this file must start on any Node, to say which one is needed, and starts fastest.
// The build puts the version in, and makes look.cjs and main.cjs of main.ts.
import type * as Fs from 'node:fs'
import type * as Vm from 'node:vm'
import type * as Main from './main.ts'
const { version, build } = require('../../package.json') as { version: string; build?: string }
const args = process.argv.slice(2)
const OLDEST_MAJOR = 24
/** Of `nexus skills`; they start from the smaller bundle. */
const LOOKING: readonly string[] = ['list', 'show']

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
  const { main, save } = load()
  process.exitCode = await main(args, version)
  save?.()
}

/**
 * The bundle, with what V8 made of it in an earlier run of such a command: also the functions that only a run compiles, which Node's
 * own cache leaves out. It lies beside the bundle: whoever could write there could as well change that.
 */
function load(): { readonly main: typeof Main.main; readonly save?: () => void } {
  // Run from source: there is nothing to keep.
  if (build === undefined) return require('./main.ts') as typeof Main
  const fs = require('node:fs') as typeof Fs
  const vm = require('node:vm') as typeof Vm
  const kind = kindOf(args)
  const filename = `${__dirname}/${LOOKING.includes(kind) ? 'look' : 'main'}.cjs`
  const directory = `${__dirname}/../.cache`
  const kept = `${directory}/${build}-${process.version}-${process.arch}-${kind}.bin`
  const cachedData = read(fs, kept)
  const script = new vm.Script(
    `(function (exports, require, module, __filename, __dirname) {${fs.readFileSync(filename, 'latin1')}\n})`,
    {
      filename,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      ...(cachedData && { cachedData }),
    },
  )
  const module = { exports: {} as typeof Main }
  const define = script.runInThisContext() as (...names: unknown[]) => void
  define(module.exports, require, module, filename, __dirname)
  const { main } = module.exports
  if (cachedData && script.cachedDataRejected !== true) return { main }
  return { main, save: () => keep(fs, { directory, kept, data: script.createCachedData() }) }
}

/** Commands with much in common share what is kept. */
function kindOf([first = '', second = '']: readonly string[]): string {
  if (first === 'skills' && LOOKING.includes(second)) return second
  if (first === 'skills' && second === 'check') return second
  return first === 'prompt' || first === 'config' ? first : 'other'
}

function read(fs: typeof Fs, path: string): Buffer | undefined {
  try {
    return fs.readFileSync(path)
  } catch {
    // Not there yet, or not for us: V8 compiles.
    return undefined
  }
}

/** Whole or not at all: another process may read it at the same time. */
function keep(fs: typeof Fs, { directory, kept, data }: { directory: string; kept: string; data: Buffer }): void {
  const draft = `${kept}.${process.pid}`
  try {
    fs.mkdirSync(directory, { recursive: true })
    fs.writeFileSync(draft, data, { flag: 'wx', flush: true })
    fs.renameSync(draft, kept)
  } catch (error) {
    // Installed where this user may not write, or the disk is full: the next run compiles again.
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') fs.rmSync(draft, { force: true })
  }
}
