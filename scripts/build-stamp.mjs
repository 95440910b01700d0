// Is dist/ made from what src/ says now? The answer is a hash over everything that goes into a build.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './setup/process.mjs'

const STAMP = 'dist/.stamp'
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.mjs']

/** True when dist/ is there and up to date. */
export function isBuildFresh() {
  const stamp = join(ROOT, STAMP)
  if (!existsSync(stamp) || !existsSync(join(ROOT, 'dist/cli/bin.cjs'))) return false
  return readFileSync(stamp, 'utf8') === inputHash()
}

/** Hash of the sources and settings of a build. Reads a few hundred small files: some 20 ms. */
export function inputHash() {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true })
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .filter((file) => statSync(join(ROOT, file)).isFile())
  const hash = createHash('sha256')
  for (const file of [...SETTINGS, ...sources.sort()]) {
    const bytes = readFileSync(join(ROOT, file))
    hash.update(`${file}\0${bytes.length}\0`).update(bytes)
  }
  return hash.digest('hex')
}
