// `npm start` and `npm test` come through here. It runs on Node 18 or newer with nothing installed, does what is
// missing (npm packages, the pinned Node, Debian packages, the build) and then hands over. With all in place it adds
// well under a second.
import { delimiter, join } from 'node:path'
import { isBuildFresh } from './build-stamp.mjs'
import { missingCommands, installCommands } from './setup/debian.mjs'
import { withLock } from './setup/lock.mjs'
import { installPackages, packagesMatchLock } from './setup/npm-packages.mjs'
import { installPinnedNode, pinnedNode } from './setup/pinned-node.mjs'
import { passThrough, ROOT, runQuietly, say } from './setup/process.mjs'

const USAGE = `node scripts/bootstrap.mjs install        sets up what is missing
node scripts/bootstrap.mjs build          … but no Debian packages: what npm pack needs
node scripts/bootstrap.mjs start [args…]  … then runs the demo: nexus demo [args…]
node scripts/bootstrap.mjs test [args…]   … then runs all checks; with arguments only \`node --test [args…]\`
`

const DEBIAN = { what: 'Debian packages', isDone: () => missingCommands().length === 0, run: installCommands }

/** Each step says whether it is done (quick, without side effects) and how to do it. */
const STEPS = [
  { what: 'npm packages', isDone: packagesMatchLock, run: installPackages },
  { what: 'the pinned Node', isDone: () => pinnedNode() !== undefined, run: installPinnedNode },
  DEBIAN,
  { what: 'the build', isDone: isBuildFresh, run: build },
]

async function build() {
  await runQuietly(nodeToUse(), [join(ROOT, 'scripts/build.mjs')], { env: environment() })
}

/** The pinned Node, or this one when it is new enough and the pinned one cannot be had here. */
function nodeToUse() {
  return pinnedNode() ?? process.execPath
}

/** The environment of what we start: commands of our packages, the pinned Node among them, come first. */
function environment() {
  return { ...process.env, PATH: [join(ROOT, 'node_modules/.bin'), process.env.PATH ?? ''].join(delimiter) }
}

async function setUp(steps) {
  if (steps.every((step) => step.isDone())) return
  await withLock(join(ROOT, '.bootstrap.lock'), async () => {
    for (const step of steps) {
      if (step.isDone()) continue
      const startedAt = Date.now()
      const outcome = await step.run()
      if (outcome !== 'skipped') say(`${step.what}: done in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
    }
  })
}

async function main(command, args) {
  if (!['install', 'build', 'start', 'test'].includes(command)) {
    process.stderr.write(USAGE)
    return 2
  }
  await setUp(command === 'build' ? STEPS.filter((step) => step !== DEBIAN) : STEPS)
  const env = environment()
  if (command === 'start') return passThrough(nodeToUse(), [join(ROOT, 'dist/cli/bin.cjs'), 'demo', ...args], { env })
  if (command === 'test')
    return passThrough(nodeToUse(), [join(ROOT, 'scripts/check.mjs'), ...args], { env, cwd: ROOT })
  return 0
}

try {
  process.exitCode = await main(process.argv[2], process.argv.slice(3))
} catch (error) {
  process.stderr.write(`setup failed: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
