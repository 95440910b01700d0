// Bundles the `nexus` command into dist/cli. Start-up time is what counts here, and it goes with the bytes and files that
// Node must read: `look.cjs`, `start.cjs` and `main.cjs` are each one file with what such a command needs; everything else is loaded when it is used.
//   bin.cjs       answers --version and turns old versions of Node away
//   look.cjs      the command line, and `skills list`: no more than looking takes
//   later.cjs     what look.cjs needs for files that are not plain
//   config.cjs    what look.cjs needs when there is a nexus.yaml
//   start.cjs     the command line, its help and its mistakes, and no command
//   main.cjs      the command line, and other commands that start often: check, prompt, config
//   <part>.js     what other commands add, with the chunks they share; they have their own copies of the rooms
//   vendor/*.cjs  packages that a command may need
// Two copies of a room are safe because rooms keep no state in modules and errors are known by a mark, not by their class.
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { build as esbuild } from 'esbuild'
import { lazyModules } from './bundle-lazy.mjs'
import { readSources } from './bundle-plugins.mjs'
import { ROOT } from './setup/process.mjs'

const SRC = join(ROOT, 'src')
/** What of the dynamically imported modules lies in each. */
const INSIDE = {
  look: /^(?:local\/index|cli\/commands\/skills\/list)\.ts$/,
  start: /^cli\/(?:help|arguments\/mistakes)\.ts$/,
  main: /^(?:local\/index)\.ts$|^(?:config|format|gate|catalog|sources)\/|^cli\/(?:help|open|commands\/(?:skills\/check|prompt|config))\.ts$/,
}
/** What look.cjs leaves to later.cjs: functions that few skills need. */
const LATER = [
  'src/cli/failure.ts',
  'src/cli/show/install.ts',
  'src/cli/show/variables.ts',
  'src/format/parse.ts',
  'src/kernel/nearest.ts',
]
/** What look.cjs loads from files of their own: when there is a nexus.yaml. */
const APART = {
  config: ['src/config/layers/build-layers.ts', 'src/local/entries.ts', 'src/local/policies.ts'],
}
/** Bundled, so that one file is read instead of many. All other packages stay outside. */
const BUNDLED = ['valibot']
const NODE = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24',
  charset: 'utf8',
  logLevel: 'warning',
  // Else a pattern with \p{…} becomes `new RegExp`, which is made anew wherever it stands.
  supported: { 'regexp-unicode-property-escapes': true },
}
const SMALL = { minifySyntax: true, minifyWhitespace: true }

/** Replaces what tsc made in `directory` by the bundle. */
export async function bundleCommand(directory) {
  rmSync(directory, { recursive: true })
  const parts = new Map()
  const results = [
    await bundleStart(directory, 'look', parts),
    await bundleStart(directory, 'start', parts),
    await bundleStart(directory, 'main', parts),
    await esbuild({
      ...NODE,
      entryPoints: Object.fromEntries(parts),
      outdir: directory,
      format: 'esm',
      splitting: true,
      ...SMALL,
      metafile: true,
      plugins: [outsidePackages, lazyModules('esm'), readSources('esm')],
    }),
  ]
  for (const [name, files] of Object.entries({ later: LATER, ...APART }))
    results.push(await bundleFiles(directory, name, { files, parts }))
  results.push(...(await lazyModules.bundlePackages(directory)))
  await bundleBin(directory)
  if (process.env.META) writeFileSync(process.env.META, JSON.stringify(results[0].metafile))
  writeFileSync(join(directory, 'LICENSES.txt'), licences(results))
}

function bundleStart(directory, name, parts) {
  return bundleCjs(directory, name, {
    entryPoints: ['src/cli/main.ts'],
    plugins: [
      ...(name === 'look' ? [fewCommands] : []),
      lazyModules('cjs', name === 'look' ? LATER : []),
      collectParts(INSIDE[name], parts),
      outsidePackages,
      readSources('cjs', name === 'main' ? undefined : INSIDE[name]),
    ],
  })
}

/** look.cjs knows its own commands only. */
const fewCommands = {
  name: 'few-commands',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^\.\/table\.ts$/ }, () => ({ path: join(SRC, 'cli/commands/skills/table.ts') }))
  },
}

/** One file with whole modules, of which look.cjs loads what it needs. */
function bundleFiles(directory, name, { files, parts }) {
  return bundleCjs(directory, name, {
    stdin: { contents: files.map((file) => `export * from './${file}'`).join('\n'), resolveDir: ROOT },
    plugins: [lazyModules('cjs'), collectParts(/^config\//, parts), outsidePackages, readSources('cjs')],
  })
}

/** A file that bin.cjs loads. */
async function bundleCjs(directory, name, what) {
  const result = await esbuild({
    ...NODE,
    // Read as Latin-1, which V8 takes as it is.
    charset: 'ascii',
    outfile: join(directory, `${name}.cjs`),
    format: 'cjs',
    ...SMALL,
    metafile: true,
    ...what,
  })
  importThroughBin(join(directory, `${name}.cjs`))
  return result
}

/** What V8 kept cannot import by itself; bin.cjs does it for all files that it loads. */
function importThroughBin(file) {
  const text = readFileSync(file, 'utf8')
  // esbuild leaves patterns as they are; in strings it escapes.
  const [foreign] = /.{0,40}[^\0-\x7f]/.exec(text) ?? []
  if (foreign !== undefined) throw new Error(`${file}: write this in ASCII, it is read as Latin-1: ${foreign}`)
  writeFileSync(file, text.replaceAll(/\bimport\("/g, 'nexusImport("'))
}

/** Turns dynamic imports of what is not `inside` into files of their own, and says which. */
function collectParts(inside, parts) {
  return {
    name: 'collect-parts',
    setup(esbuild) {
      esbuild.onResolve({ filter: /^\..*\.ts$/ }, ({ kind, path, resolveDir }) => {
        const file = relative(SRC, resolve(resolveDir, path)).replaceAll('\\', '/')
        if (kind !== 'dynamic-import' || inside.test(file)) return undefined
        const [apart] = Object.entries(APART).find(([, files]) => files.includes(`src/${file}`)) ?? []
        if (inside === INSIDE.look && apart !== undefined) return { path: `./${apart}.cjs`, external: true }
        const name = file.replace(/\.ts$/, '').replaceAll('/', '-')
        parts.set(name, `src/${file}`)
        return { path: `./${name}.js`, external: true }
      })
    },
  }
}

const outsidePackages = {
  name: 'outside-packages',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === 'entry-point' || BUNDLED.includes(path) || lazyModules.isLazy(path)) return undefined
      return { path, external: true }
    })
  },
}

/** The first file must be read by any Node, so that it can say which one is needed. */
async function bundleBin(directory) {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const outfile = join(directory, 'bin.cjs')
  // V8 knows what it compiled by its length alone; this is the content.
  const build = digestOf(
    readdirSync(directory, { recursive: true }).filter((name) => name.endsWith('.cjs')),
    directory,
  )
  await esbuild({
    ...NODE,
    entryPoints: ['src/cli/bin.cts'],
    outfile,
    format: 'cjs',
    target: 'node12',
    // Read and compiled at every start.
    minify: true,
    supported: { ...NODE.supported, 'dynamic-import': true },
    plugins: [
      {
        name: 'bin',
        setup(esbuild) {
          esbuild.onResolve({ filter: /main\.ts$/ }, () => ({ path: './main.cjs', external: true }))
          esbuild.onLoad({ filter: /package\.json$/ }, () => ({
            contents: JSON.stringify({ version, build }),
            loader: 'json',
          }))
        },
      },
    ],
  })
  chmodSync(outfile, 0o755)
}

function digestOf(files, directory) {
  const hash = createHash('sha256')
  for (const file of files.sort()) hash.update(readFileSync(join(directory, file)))
  return hash.digest('hex').slice(0, 16)
}

/** The licences of the packages whose code is in the bundle. */
function licences(results) {
  const directories = new Set()
  for (const { metafile } of results)
    for (const input of Object.keys(metafile.inputs)) {
      const found = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)
      if (found) directories.add(found[0])
    }
  return [...directories]
    .sort()
    .map((directory) => {
      const { name, version, license } = JSON.parse(readFileSync(join(ROOT, directory, 'package.json'), 'utf8'))
      const file = ['LICENSE', 'LICENSE.md', 'license']
        .map((each) => join(ROOT, directory, each))
        .find((each) => existsSync(each))
      return `${name} ${version} (${license})\n\n${file ? readFileSync(file, 'utf8').trim() : ''}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}
