// Makes dist/ from src/: tsc for the library, esbuild for the `nexus` command. The new directory is made beside the
// old one and swapped in whole, so nothing stale stays and nobody sees half a build.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { inputHash, sourceFiles } from './build-stamp.mjs'
import { bundleCommand } from './bundle-command.mjs'
import { ROOT } from './setup/process.mjs'

const DIST = join(ROOT, 'dist')
const TYPESCRIPT = /\.[cm]?tsx?$/

/** Types and one file per source file, for those who import the library. */
function compile(target) {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', target], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the types have errors (see above)')
}

/** Everything below src/ that is not TypeScript is needed where it lies, such as SQL. */
function copyOtherFiles(target) {
  for (const file of sourceFiles().filter((path) => !TYPESCRIPT.test(path))) {
    const copy = join(target, relative('src', file))
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(join(ROOT, file), copy)
  }
}

async function main() {
  const stamp = inputHash()
  const fresh = mkdtempSync(join(ROOT, '.dist-'))
  const old = `${fresh}-old`
  try {
    chmodSync(fresh, 0o755)
    compile(fresh)
    copyOtherFiles(fresh)
    await bundleCommand(join(fresh, 'cli'))
    writeFileSync(join(fresh, '.stamp'), stamp)
    renameIfThere(DIST, old)
    renameSync(fresh, DIST)
    warmUp()
  } finally {
    rmSync(fresh, { recursive: true, force: true })
    rmSync(old, { recursive: true, force: true })
  }
}

const WARM_UP = `skills:
  disabled_skills: [none] # flow and block, plain and quoted, comments
  entries: { none: { enabled: true, env: { "A": 'b' }, config: { c: 1.5 } } }
agents:
  - id: main
    tools: { profile: full, deny: ["x"] }
limits: { maxIterations: 50 }
`

/** The first run keeps what V8 makes of the command in dist/.cache; let that be a run that uses most of it. */
function warmUp() {
  const home = mkdtempSync(join(tmpdir(), 'nexus-build-'))
  try {
    const env = { ...process.env, HOME: home, NEXUS_HOME: join(home, '.nexus') }
    // With a configuration, so that what reads YAML and checks it is kept too.
    mkdirSync(join(home, '.nexus'))
    writeFileSync(join(home, '.nexus/nexus.yaml'), WARM_UP)
    const { status, stderr } = spawnSync(process.execPath, [join(DIST, 'cli/bin.cjs'), 'skills', 'list', '--json'], {
      cwd: home,
      env,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`the command that was built does not run\n${stderr}`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function renameIfThere(from, to) {
  try {
    renameSync(from, to)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

try {
  await main()
} catch (error) {
  process.stderr.write(`build failed: ${error.message}\n`)
  process.exitCode = 1
}
