// All checks, one line per stage: format, lint, types, then the tests with the runner's own report.
// With arguments only `node --test` runs, with these: npm test -- test/skills/gate/gate.test.ts --test-name-pattern bins
import { spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { passThrough, ROOT } from './setup/process.mjs'

const CODE = ['src', 'test', 'scripts', 'bench', 'examples'].filter((directory) => existsSync(join(ROOT, directory)))
const STAGES = [
  { name: 'format', fix: 'npm run format', command: ['oxfmt', '--list-different'] },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings', ...CODE] },
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
]
/** A test that hangs is ended and named; far above what any test needs. */
const TEST_TIMEOUT_MS = 240_000
/** One process more than the two cores of our machines: many tests wait for a server, a lease or a time limit. */
const TEST_OPTIONS = [
  `--import=${pathToFileURL(join(ROOT, 'scripts/test-cache.mjs'))}`,
  '--test-reporter=spec',
  '--test-concurrency=3',
  `--test-timeout=${TEST_TIMEOUT_MS}`,
]

/** Runs one stage, prints its line and, when it failed, what it said. */
function passes({ name, fix, command: [tool, ...args] }) {
  const startedAt = Date.now()
  const { status, stdout, stderr } = spawnSync(join(ROOT, 'node_modules/.bin', tool), args, {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1)
  console.log(`${status === 0 ? '✓' : '✖'} ${name} (${seconds} s)`)
  if (status !== 0) console.log(`${stdout}${stderr}${fix === undefined ? '' : `To repair: ${fix}\n`}`)
  return status === 0
}

/** This run decides about a change: a sandbox that does not work fails it (test/machine/sandbox/required.ts). */
const TEST_ENV = { TESTS_REQUIRE_SANDBOX: '1', ...process.env }

function runTests(args) {
  return passThrough(process.execPath, ['--test', ...TEST_OPTIONS, ...args], { cwd: ROOT, env: TEST_ENV })
}

/** Every test file but the long ones: those are for `npm run test:long` (20 rounds) and `npm run soak` (200). */
function testFiles() {
  return globSync('test/**/*.test.ts', { cwd: ROOT, exclude: (path) => path === 'soak' || path === 'fixtures' }).sort()
}

const given = process.argv.slice(2)
const namesFiles = given.some((argument) => !argument.startsWith('-') && /[/*]|\.ts$/.test(argument))
const failed = given.length > 0 ? [] : STAGES.filter((stage) => !passes(stage)).map((stage) => stage.name)
const testsCode = await runTests(namesFiles ? given : [...given, ...testFiles()])
if (failed.length > 0) console.log(`\n✖ failed before the tests: ${failed.join(', ')} (see the top of this output)`)
process.exitCode = testsCode === 0 && failed.length > 0 ? 1 : testsCode
