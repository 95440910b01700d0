#!/usr/bin/env node
// CommonJS and plain syntax: this file must run on any Node, to say which one is needed.
const { version } = require('../../package.json') as { version: string }

type Cache = typeof import('./compile-cache.ts')

const OLDEST_NODE = 24
const args = process.argv.slice(2)

if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.on('error', () => (process.exitCode = 1)).write(`${version}\n`)
} else if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  const isInProject = __dirname.startsWith(process.cwd())
  const install = `npm install ${isInProject ? '' : '-g '}node@${OLDEST_NODE}`
  const use = isInProject ? '   (then npx nexus uses it)' : ''
  console.error(
    `Nexus did not start: it needs Node ${OLDEST_NODE} or newer, and this is ${process.version} (${process.execPath}).`,
  )
  console.error(`  fix: ${install}${use}`)
  process.exitCode = 1
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
