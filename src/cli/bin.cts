#!/usr/bin/env node
// CommonJS and plain syntax: this file must run on any Node, to say which one is needed.
import cache = require('./compile-cache.cts')
import manifest = require('../../package.json')

type Main = (args: readonly string[], version: string) => Promise<number>

const OLDEST_NODE = 24
const args = process.argv.slice(2)

if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  console.log(manifest.version)
} else if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  console.error(`Nexus needs Node ${OLDEST_NODE} or newer; this is ${process.version} (${process.execPath}).`)
  console.error(`Install it, for example: npm install -g node@${OLDEST_NODE}, or from https://nodejs.org`)
  process.exitCode = 1
} else {
  cache.enable(process.cwd)
  // The build puts the bundle of main.ts beside this file.
  const { main } = require(`${__dirname}/main.cjs`) as { main: Main }
  void main(args, manifest.version).then((code) => (process.exitCode = code))
}
