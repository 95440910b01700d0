#!/usr/bin/env node
// CommonJS and plain syntax on purpose: this file must start on any Node, to say which one is needed, and starts fastest.
const { version } = require('../../package.json') as { version: string }
const args = process.argv.slice(2)
const OLDEST_MAJOR = 24

if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.write(`${version}\n`)
} else if (Number.parseInt(process.versions.node, 10) < OLDEST_MAJOR) {
  process.stderr.write(`Nexus needs Node ${OLDEST_MAJOR} or newer; this is ${process.version} (${process.execPath}).\n`)
  process.stderr.write(`Install it, for example: npm install -g node@${OLDEST_MAJOR}, or from https://nodejs.org\n`)
  process.exitCode = 1
} else {
  import('./main.ts')
    .then((cli) => cli.main(args, version))
    .then((code) => {
      process.exitCode = code
    })
    .catch((error: unknown) => {
      process.stderr.write(`error INTERNAL: Nexus could not start; is it installed completely?\n${String(error)}\n`)
      process.exitCode = 1
    })
}
