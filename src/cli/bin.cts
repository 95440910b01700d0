#!/usr/bin/env node
// CommonJS and plain syntax on purpose: this file must start on any Node, to say which one is needed, and starts fastest.
// The build puts the version in and makes main.cjs of main.ts.
import type * as Fs from 'node:fs'
import type * as Module from 'node:module'
import type * as Main from './main.ts'
const { version } = require('../../package.json') as { version: string }
const args = process.argv.slice(2)
const OLDEST_MAJOR = 24

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
  // What V8 made of main.cjs is kept beside it: whoever could write there could as well change main.cjs. Saves a third of the start.
  ;(require('node:module') as typeof Module).enableCompileCache(`${__dirname}/../.cache`)
  const { main } = require('./main.ts') as typeof Main
  process.exitCode = await main(args, version)
}
