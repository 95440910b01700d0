/** Copies what the sandbox needs of this repository, so that it can be run from another place or by another user. */
import {
  chmodSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')
const PARTS = [
  'package.json',
  'src',
  'skills',
  'test/machine/files',
  'test/hostile',
  'test/machine/sandbox',
  'test/fixtures/sandbox',
  'test/source-tree.ts',
  'scripts/test-cache.mjs',
]
const PACKAGES = [
  '@anthropic-ai/sandbox-runtime', 'yaml', 'json5', 'valibot', 'fast-check', 'pure-rand',
  // ajv and its own.
  'ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse', 'require-from-string', 'diff',
] // oxfmt-ignore

/** Returns the copy's own node, for users who cannot enter the place of ours. */
export function copyCheckout(to: string): string {
  for (const part of [...PARTS, ...PACKAGES.map((name) => `node_modules/${name}`)]) {
    if (!existsSync(join(ROOT, part))) continue
    mkdirSync(dirname(join(to, part)), { recursive: true })
    cpSync(join(ROOT, part), join(to, part), { recursive: true, filter: (path) => !path.endsWith('/srt-win') })
  }
  const node = join(to, 'bin/node')
  mkdirSync(dirname(node))
  try {
    linkSync(process.execPath, node)
  } catch {
    // Another file system, or a file that is not ours to link: a copy does as well.
    copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE)
    chmodSync(node, 0o755)
  }
  return node
}

/** Turns every .ts file of a copy into the .js file that a build makes of it. */
export function compileCheckout(checkout: string): void {
  for (const file of globSync('{src,test}/**/*.ts', { cwd: checkout })) {
    const path = join(checkout, file)
    const text = stripTypeScriptTypes(readFileSync(path, 'utf8'))
    writeFileSync(path.replace(/\.ts$/, '.js'), text.replaceAll(/(['"]\.{1,2}\/[^'"\n]*)\.ts(?=['"])/g, '$1.js'))
    rmSync(path)
  }
}
