// Makes dist/ from src/: tsc for the library, esbuild for the `nexus` command. The new directory is made beside the
// old one and swapped in whole, so nothing stale stays and nobody sees half a build.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { inputHash, sourceFiles } from './build-stamp.mjs'
import { readSources } from './bundle-plugins.mjs'
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

/**
 * The command starts fastest from few files: everything it may need goes into dist/cli, what a command loads on demand
 * stays in chunks of its own, and packages stay outside.
 */
async function bundleCommand(target) {
  const bin = readFileSync(join(target, 'cli/bin.cjs'))
  rmSync(join(target, 'cli'), { recursive: true })
  const { build } = await import('esbuild')
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/cli/main.ts'],
    outdir: join(target, 'cli'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    charset: 'utf8',
    logLevel: 'warning',
    plugins: [readSources],
  })
  writeFileSync(join(target, 'cli/bin.cjs'), bin)
  chmodSync(join(target, 'cli/bin.cjs'), 0o755)
}

async function main() {
  const stamp = inputHash()
  const fresh = mkdtempSync(join(ROOT, '.dist-'))
  const old = `${fresh}-old`
  try {
    chmodSync(fresh, 0o755)
    compile(fresh)
    copyOtherFiles(fresh)
    await bundleCommand(fresh)
    writeFileSync(join(fresh, '.stamp'), stamp)
    renameIfThere(DIST, old)
    renameSync(fresh, DIST)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
    rmSync(old, { recursive: true, force: true })
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
