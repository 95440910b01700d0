import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { exportsOf, ROOT } from './source-tree.ts'

/** What users can import. A change of this file is a change for them: it belongs into CHANGELOG.md. */
const SNAPSHOT = join(import.meta.dirname, 'public-api.snapshot.json')
const UPDATE = 'npm run api:update'

type Entry = string | { readonly types: string; readonly default: string }
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: Record<string, Entry> }

/** The entries of package.json with the source file behind each. */
const ENTRIES = Object.entries(exports).flatMap(([name, target]) =>
  typeof target === 'string'
    ? []
    : [{ name, target, source: target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts') }],
)

const namesNow = (): Record<string, { values: readonly string[]; types: readonly string[] }> =>
  Object.fromEntries(ENTRIES.map(({ name, source }) => [name, exportsOf(source)]))

if (process.argv.includes('--update')) {
  writeFileSync(SNAPSHOT, `${JSON.stringify(namesNow(), null, 2)}\n`)
  console.log(`${SNAPSHOT} written`)
} else {
  test('every entry names the types and the code of the same module', () => {
    assert.equal(ENTRIES.length, 5)
    for (const { target } of ENTRIES) assert.equal(target.types, target.default.replace(/\.js$/, '.d.ts'))
  })

  test(`the exported names are those of the snapshot (after a wanted change: ${UPDATE})`, () => {
    assert.deepEqual(namesNow(), JSON.parse(readFileSync(SNAPSHOT, 'utf8')))
  })

  for (const { name, source } of ENTRIES) {
    test(`${name} has at run time exactly the values that its source names`, async () => {
      const module = (await import(join(ROOT, source))) as Record<string, unknown>
      assert.deepEqual(Object.keys(module).sort(), exportsOf(source).values)
    })
  }
}
