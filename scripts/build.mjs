// Makes dist/ from src/: tsc for the library, esbuild for the `nexus` command. The new directory is made beside the
// old one and swapped in whole, so nothing stale stays and nobody sees half a build.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { inputHash } from './build-stamp.mjs'
import { ROOT } from './setup/process.mjs'

const DIST = join(ROOT, 'dist')
/** Packages that become part of the command: many small files, needed with every nexus.yaml or by every MCP client. Others are loaded when used. */
const BUNDLED = [
  ...['@modelcontextprotocol/core', '@modelcontextprotocol/node', '@modelcontextprotocol/server', 'zod'],
  ...['get-east-asian-width', 'json5', 'valibot', 'yaml'],
]

/** Types and one file per source file, for those who import the library. */
function compile(target) {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', target], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the types have errors (see above)')
}

/** The command: bin.cjs, and main.cjs with everything that it loads. */
async function bundle(directory) {
  const { dependencies, peerDependencies } = readManifest('.')
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/apps/cli/bin.cts', 'src/apps/cli/main.ts'],
    outdir: directory,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    // As ES modules, which start in half the time of the CommonJS that Node would take.
    alias: { yaml: join(ROOT, 'node_modules/yaml/browser/index.js') },
    external: Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !BUNDLED.includes(name)),
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    minify: true,
    // Else each use of a pattern with \p{…} compiles it again.
    supported: { 'regexp-unicode-property-escapes': true },
    logLevel: 'warning',
    metafile: true,
  })
  chmodSync(join(directory, 'bin.cjs'), 0o755)
  // By its last line, bin.cjs finds the compiled code of exactly these bytes.
  const main = join(directory, 'main.cjs')
  appendFileSync(main, `//${createHash('sha256').update(readFileSync(main)).digest('hex')}\n`)
  const packages = Object.keys(metafile.inputs).flatMap(
    (file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
  )
  const licences = [...new Set(packages)].sort().map(licenceOf)
  writeFileSync(join(directory, 'LICENSES.txt'), licences.join(`\n${'-'.repeat(80)}\n\n`))
}

function licenceOf(directory) {
  const { name, version, license } = readManifest(directory)
  const [file] = globSync(join(ROOT, directory, '{LICENSE,LICENSE.md,license}'))
  return `${name} ${version} (${license})\n\n${readFileSync(file, 'utf8').trim()}\n`
}

function readManifest(directory) {
  return JSON.parse(readFileSync(join(ROOT, directory, 'package.json'), 'utf8'))
}

async function main() {
  const stamp = inputHash()
  const fresh = mkdtempSync(join(ROOT, '.dist-'))
  const old = `${fresh}-old`
  try {
    chmodSync(fresh, 0o755)
    compile(fresh)
    await bundle(join(fresh, 'cli'))
    writeFileSync(join(fresh, '.stamp'), stamp)
    if (existsSync(DIST)) renameSync(DIST, old)
    renameSync(fresh, DIST)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
    rmSync(old, { recursive: true, force: true })
  }
}

try {
  await main()
} catch (error) {
  process.stderr.write(`build failed: ${error.message}\n`)
  process.exitCode = 1
}
