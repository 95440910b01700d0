// All checks, one line per stage: format, lint with types, then the tests with the runner's own report.
// With arguments only `node --test` runs, with these: npm test -- test/skills/gate/gate.test.ts --test-name-pattern bins
import { execFile } from 'node:child_process'
import { closeSync, existsSync, globSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { passThrough, ROOT } from './setup/process.mjs'

const CODE = ['src', 'test', 'scripts', 'bench', 'examples'].filter((directory) => existsSync(join(ROOT, directory)))
const STAGES = [
  { name: 'format', fix: 'npm run format', command: ['oxfmt', '--list-different'] },
  { name: 'lint and types', command: ['oxlint', '--type-aware', '--type-check', '--deny-warnings', ...CODE] },
]
/** A test that hangs is ended and named; far above what any test needs. */
const TEST_TIMEOUT_MS = 240_000
/** One process more than the two cores of our machines: many tests wait for a server, a lease or a time limit. */
const TEST_OPTIONS = [
  `--import=${pathToFileURL(join(ROOT, 'scripts/test-cache.mjs'))}`,
  '--test-reporter=spec',
  '--disable-warning=ExperimentalWarning',
  '--test-concurrency=3',
  `--test-timeout=${TEST_TIMEOUT_MS}`,
]

/** Runs one stage, prints its line and, when it failed, what it said. Resolves to its name when it failed. */
function failureOf({ name, fix, command: [tool, ...args] }) {
  const startedAt = Date.now()
  return new Promise((resolve) => {
    const options = { cwd: ROOT, maxBuffer: 64_000_000 }
    execFile(join(ROOT, 'node_modules/.bin', tool), args, options, (error, stdout, stderr) => {
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1)
      console.log(`${error === null ? '✓' : '✖'} ${name} (${seconds} s)`)
      if (error !== null) console.log(`${stdout}${stderr}${fix === undefined ? '' : `To repair: ${fix}\n`}`)
      resolve(error === null ? undefined : name)
    })
  })
}

/**
 * Modules whose tests share one process per line, since loading the module anew for each file took 40 % of their time.
 * They change nothing that another file could notice, and start few programs: each start costs more in a large process.
 */
const SHARED = [
  ['kernel', 'yaml', 'authorize', 'config', 'skills/{format,gate,catalog,diagnose,load}'],
  ['agents', 'runtime', 'public', 'testing'],
  ['local', 'machine/{files,skill-files,net,programs,host,egress}', 'apps/{rpc,client}'],
]

/** This run decides about a change: a sandbox that does not work fails it (test/machine/sandbox/required.ts). */
const TEST_ENV = { TESTS_REQUIRE_SANDBOX: '1', ...process.env }

function runTests(args, stdio = 'inherit') {
  return passThrough(process.execPath, ['--test', ...TEST_OPTIONS, ...args], { cwd: ROOT, env: TEST_ENV, stdio })
}

/** Prints their report as one piece when the last of them has ended. */
async function runInOneProcess(args) {
  const directory = mkdtempSync(join(tmpdir(), 'nexus-tests-'))
  const report = join(directory, 'report')
  const descriptor = openSync(report, 'w')
  try {
    return await runTests(['--test-isolation=none', ...args], ['ignore', descriptor, descriptor])
  } finally {
    closeSync(descriptor)
    process.stdout.write(readFileSync(report))
    rmSync(directory, { recursive: true })
  }
}

function testFiles(pattern) {
  return globSync(pattern, { cwd: ROOT, exclude: (path) => path === 'soak' || path === 'fixtures' }).sort()
}

/** Every test file but the long ones: those are for `npm run test:long` (20 rounds) and `npm run soak` (200). */
async function runAllTests(options) {
  const groups = SHARED.map((paths) => paths.flatMap((path) => testFiles(`test/${path}/**/*.test.ts`)))
  const others = testFiles('test/**/*.test.ts').filter((file) => !groups.flat().includes(file))
  const shared = async () => {
    const codes = []
    for (const files of groups) codes.push(await runInOneProcess([...options, ...files]))
    return codes
  }
  const codes = await Promise.all([shared(), runTests([...options, ...others])])
  return Math.max(...codes.flat())
}

const given = process.argv.slice(2)
const namesFiles = given.some((argument) => !argument.startsWith('-') && /[/*]|\.ts$/.test(argument))
const failed = (await Promise.all((given.length > 0 ? [] : STAGES).map(failureOf))).filter((name) => name !== undefined)
const testsCode = await (namesFiles ? runTests(given) : runAllTests(given))
if (failed.length > 0) console.log(`\n✖ failed before the tests: ${failed.join(', ')} (see the top of this output)`)
process.exitCode = testsCode === 0 && failed.length > 0 ? 1 : testsCode
