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
/** Packages that become part of the command: many small files, needed with every nexus.yaml or call of a tool. Others are loaded when used. */
const BUNDLED = ['ajv', 'get-east-asian-width', 'json5', 'valibot', 'yaml']
/** Packages that only MCP and the server need: many small files, too. They are in a file of their own, which no other command reads. */
const SDK = /^(?:@modelcontextprotocol\/|zod(?:\/|$))/

/** Types and one file per source file, for those who import the library. */
function compile(target) {
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', target], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('the types have errors (see above)')
}

/** Puts the packages of the SDK out of a bundle; `paths` gets the modules that it imports of them. */
function withoutSdk(paths) {
  return {
    name: 'sdk',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: SDK }, ({ path }) => {
        paths.add(path)
        return { path, namespace: 'sdk' }
      })
      onResolve({ filter: /^\.\/sdk\.cjs$/ }, ({ path }) => ({ path, external: true }))
      onLoad({ filter: /.*/, namespace: 'sdk' }, ({ path }) => ({
        contents: `module.exports = require('./sdk.cjs')[${JSON.stringify(path)}]`,
      }))
    },
  }
}

/** The command: bin.cjs, main.cjs with everything that it loads, and sdk.cjs. */
async function bundle(directory) {
  const { dependencies, peerDependencies } = readManifest('.')
  const names = Object.keys({ ...dependencies, ...peerDependencies })
  const options = {
    absWorkingDir: ROOT,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    external: names.filter((name) => !BUNDLED.includes(name) && !SDK.test(name)),
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    minify: true,
    // Else each use of a pattern with \p{…} compiles it again.
    supported: { 'regexp-unicode-property-escapes': true },
    logLevel: 'warning',
    metafile: true,
  }
  const paths = new Set()
  const main = await build({
    ...options,
    entryPoints: ['src/apps/cli/bin.cts', 'src/apps/cli/main.ts'],
    outdir: directory,
    outExtension: { '.js': '.cjs' },
    // As ES modules, which start in half the time of the CommonJS that Node would take.
    alias: { yaml: join(ROOT, 'node_modules/yaml/browser/index.js') },
    plugins: [withoutSdk(paths)],
  })
  const contents = [...paths].map((path) => {
    const name = JSON.stringify(path)
    return `Object.defineProperty(exports, ${name}, { get: () => require(${name}) })`
  })
  const sdk = await build({
    ...options,
    stdin: { contents: contents.join('\n'), resolveDir: ROOT },
    outfile: join(directory, 'sdk.cjs'),
  })
  chmodSync(join(directory, 'bin.cjs'), 0o755)
  // By its last line, bin.cjs finds the compiled code of exactly these bytes.
  for (const name of ['main.cjs', 'sdk.cjs']) {
    const file = join(directory, name)
    appendFileSync(file, `//${createHash('sha256').update(readFileSync(file)).digest('hex')}\n`)
  }
  const packages = [main, sdk].flatMap(({ metafile }) =>
    Object.keys(metafile.inputs).flatMap((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
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
