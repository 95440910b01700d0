// Is dist/ made from what src/ says now? The answer is a hash over everything that goes into a build.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './setup/process.mjs'

const STAMP = 'dist/.stamp'
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
const INPUTS = [...SETTINGS, 'scripts/build.mjs']

/** True when dist/ is there and up to date. */
export function isBuildFresh() {
  const stamp = join(ROOT, STAMP)
  if (!existsSync(stamp) || !existsSync(join(ROOT, 'dist/cli/bin.cjs'))) return false
  return readFileSync(stamp, 'utf8') === inputHash()
}

/** Hash of the sources and settings of a build. Reads a few hundred small files: some 20 ms. */
export function inputHash() {
  const hash = createHash('sha256')
  for (const file of [...INPUTS, ...sourceFiles()]) {
    hash.update(`${file}\0`).update(
      createHash('sha256')
        .update(readFileSync(join(ROOT, file)))
        .digest(),
    )
  }
  return hash.digest('hex')
}

/** All files below src/, relative to the root, sorted. */
export function sourceFiles() {
  const files = []
  const visit = (directory) => {
    for (const entry of readdirSync(join(ROOT, directory), { withFileTypes: true })) {
      const path = `${directory}/${entry.name}`
      if (entry.isDirectory()) visit(path)
      else if (entry.isFile()) files.push(path)
    }
  }
  visit('src')
  return files.sort()
}
