import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { build, type Metafile } from 'esbuild'
import { ROOT } from './source-tree.ts'

/** What the library entry may import besides our own files. Everything else is loaded when it is used. */
const ALLOWED_PACKAGES = ['json5', 'yaml']
const MOST_PACKAGES = 15
/** Each of these costs every program that imports the library 10 to 80 ms, used or not. */
const HEAVY_BUILTINS = ['child_process', 'http', 'http2', 'https', 'net', 'sqlite', 'tls', 'worker_threads']
const HEAVY_PACKAGES = ['@ai-sdk/', '@anthropic-ai/', 'ai', 'ajv', 'valibot', 'zod']

/** The parts of the entry that load together with it: esbuild reads the imports, so this is what Node will do. */
async function staticGraph(entry: string): Promise<{ files: string[]; external: string[] }> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outdir: 'unused',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    logLevel: 'silent',
  })
  const files = new Set<string>()
  const external = new Set<string>()
  const visit = (file: string): void => {
    if (files.has(file)) return
    files.add(file)
    for (const item of (metafile as Metafile).inputs[file]?.imports ?? []) {
      if (item.kind === 'dynamic-import') continue
      if (item.external === true) external.add(item.path)
      else visit(item.path)
    }
  }
  visit(entry)
  return { files: [...files], external: [...external] }
}

const packageName = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

test('the walk from the light entry reaches the pipeline', async () => {
  const { files } = await staticGraph('src/public/index.ts')
  for (const file of [
    'src/runtime/create-runtime.ts',
    'src/kernel/index.ts',
    'src/skills/format/index.ts',
    'src/authorize/index.ts',
  ]) {
    assert.ok(files.includes(file), `${file} is not reached`)
  }
})

test('the light entry imports only the YAML parsers and light parts of Node', async () => {
  const { external } = await staticGraph('src/public/index.ts')
  const builtins = external
    .filter((specifier) => specifier.startsWith('node:'))
    .map((specifier) => specifier.slice('node:'.length))
  assert.deepEqual(
    builtins.filter((name) => HEAVY_BUILTINS.includes(name.split('/')[0] ?? '')),
    [],
  )
  const packages = external.filter((specifier) => !specifier.startsWith('node:')).map(packageName)
  assert.deepEqual(
    packages.filter((name) => !ALLOWED_PACKAGES.includes(name)),
    [],
  )
})

test('the door of net/ loads nothing of the network; its first request does', async () => {
  const { files, external } = await staticGraph('src/machine/net/index.ts')
  assert.ok(files.includes('src/machine/net/index.ts'))
  assert.deepEqual(
    external.filter((specifier) => specifier !== 'node:crypto' && /^node:(?!path|fs)/.test(specifier)),
    [],
  )
})

/** Prints what really gets loaded: files through a resolve hook, builtins through `process.moduleLoadList`. */
const PROBE = `
import { registerHooks } from 'node:module'
const urls = new Set()
registerHooks({ load(url, context, next) { urls.add(url); return next(url, context) } })
const before = new Set(process.moduleLoadList)
await import(process.argv[1])
const builtins = process.moduleLoadList.filter((name) => !before.has(name) && name.startsWith('NativeModule '))
console.log(JSON.stringify({ urls: [...urls], builtins: builtins.map((name) => name.slice('NativeModule '.length)) }))
`

test('importing the library in a fresh process loads at most 15 packages and none of the heavy ones', () => {
  const entry = new URL('../src/public/index.ts', import.meta.url).href
  const answer = spawnSync(process.execPath, ['--input-type=module', '-e', PROBE, entry], { encoding: 'utf8' })
  assert.equal(answer.status, 0, answer.stderr)
  const { urls, builtins } = JSON.parse(answer.stdout) as { urls: string[]; builtins: string[] }
  const inPackages = urls.flatMap((url) => url.split('/node_modules/').slice(1).slice(-1)).map(packageName)
  const packages = [...new Set(inPackages)].sort()
  assert.ok(
    urls.some((url) => url.endsWith(join('src', 'kernel', 'index.ts'))),
    'the probe sees our own files',
  )
  assert.ok(packages.length <= MOST_PACKAGES, `${packages.length} packages: ${packages.join(', ')}`)
  assert.deepEqual(
    packages.filter((name) => HEAVY_PACKAGES.includes(name) || HEAVY_PACKAGES.includes(`${name.split('/')[0]}/`)),
    [],
  )
  assert.deepEqual(
    builtins.filter((name) => HEAVY_BUILTINS.includes(name)),
    [],
  )
})
