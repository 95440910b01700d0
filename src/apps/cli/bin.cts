#!/usr/bin/env node
// CommonJS and plain syntax: this file must run on any Node, to say which one is needed.
const { version } = require('../../../package.json') as { version: string }

type Cache = typeof import('./compile-cache.ts')

const { accessSync, constants, readFileSync, writeSync } = require('node:fs') as typeof import('node:fs')
const { basename, resolve } = require('node:path') as typeof import('node:path')

const OLDEST_NODE = 24
const args = process.argv.slice(2)

if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  showVersion()
} else if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  const installed = installedNode()
  if (installed === undefined) refuse()
  else startWith(installed)
} else {
  const { requireCompiled } = require('./compile-cache.ts') as Cache
  try {
    // The build puts the bundle of main.ts beside this file.
    const { main } = requireCompiled(`${__dirname}/main.cjs`, args)
    void main(args, version).then((code) => (process.exitCode = code))
  } catch (error) {
    console.error(`Nexus cannot start, probably because its installation is incomplete: ${String(error)}`)
    console.error('Install it again, for example: npm install nexus-skills')
    process.exitCode = 1
  }
}

/** Node's stream, a tenth of its start, is for a pipe that is full and does not wait. */
function showVersion(): void {
  try {
    writeSync(1, `${version}\n`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN')
      process.stdout.on('error', () => (process.exitCode = 1)).write(`${version}\n`)
    else process.exitCode = 1
  }
}

function refuse(): void {
  const isInProject = __dirname.startsWith(process.cwd())
  const install = `npm install ${isInProject ? '' : '-g '}node@${OLDEST_NODE}`
  const use = isInProject ? '   (then npx nexus uses it)' : ''
  console.error(
    `Nexus did not start: it needs Node ${OLDEST_NODE} or newer, and this is ${process.version} (${process.execPath}).`,
  )
  console.error(`  fix: ${install}${use}`)
  process.exitCode = 1
}

/** The program of the npm package `node` beside this package in a `node_modules`, or in it; never one of the working directory. */
function installedNode(): string | undefined {
  for (const modules of ['../../..', '../../node_modules']) {
    const above = resolve(__dirname, modules)
    // A checkout has other directories beside it, which may be another account's.
    if (basename(above) !== 'node_modules') continue
    const directory = `${above}/node`
    try {
      const manifest = JSON.parse(readFileSync(`${directory}/package.json`, 'utf8')) as {
        name: string
        version: string
      }
      if (manifest.name !== 'node' || Number.parseInt(manifest.version, 10) < OLDEST_NODE) continue
      accessSync(`${directory}/bin/node`, constants.X_OK)
      return `${directory}/bin/node`
    } catch {
      // Not installed, or its install script did not run.
    }
  }
  return undefined
}

/** Runs this command with that Node, and ends as it ends. */
function startWith(node: string): void {
  const { spawn } = require('node:child_process') as typeof import('node:child_process')
  const { constants: osConstants } = require('node:os') as typeof import('node:os')
  const { isatty } = require('node:tty') as typeof import('node:tty')
  const child = spawn(node, [__filename, ...args], { stdio: 'inherit' })
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal)
  // Ctrl-C of a terminal reaches both processes.
  process.on('SIGINT', isatty(0) ? () => undefined : pass)
  process.on('SIGTERM', pass).on('SIGHUP', pass)
  child.on('error', refuse)
  child.on('exit', (code, signal) => {
    process.exitCode = code === null ? 128 + osConstants.signals[signal as NodeJS.Signals] : code
  })
}
