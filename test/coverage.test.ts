import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import { internalsOf, readSource, ROOT } from './source-tree.ts'

/** How many features each of the designs has; ids are `N1` … `N16` and so on. */
const FEATURES = { N: 16, X: 16, P: 9, M: 7, C: 13, B: 14 }
const IDS = Object.entries(FEATURES).flatMap(([letter, count]) =>
  Array.from({ length: count }, (_, index) => `${letter}${index + 1}`),
)

const ROW = /^\| ([A-Z]\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm
const LINK = /\]\(([^)#\s]+)[^)]*\)/g
const NOTHING = '–'

const links = (cell: string): string[] => [...cell.matchAll(LINK)].map(([, path]) => path ?? '')
const rows = [...readSource('docs/coverage.md').matchAll(ROW)].map(
  ([, id = '', title = '', status = '', page = '', proof = '']) => ({
    id,
    title: title.trim(),
    status: status.trim(),
    page: page.trim(),
    proof: proof.trim(),
  }),
)

test('docs/coverage.md has every feature exactly once, in order', () => {
  assert.deepEqual(
    rows.map(({ id }) => id),
    IDS,
  )
})

test('a feature is done, begun or later', () => {
  assert.deepEqual(
    rows
      .filter(({ status }) => !['done', 'begun', 'later'].includes(status))
      .map(({ id, status }) => `${id}: ${status}`),
    [],
  )
})

test('a feature that is done or begun names a page and a test that exist', () => {
  const faults = rows
    .filter(({ status }) => status !== 'later')
    .flatMap(({ id, page, proof }) => {
      const missing = [...links(page), ...links(proof)].filter((path) => !existsSync(join(ROOT, 'docs', path)))
      const faultsOfRow = missing.map((path) => `${id}: ${path} does not exist`)
      if (links(page).length === 0) faultsOfRow.push(`${id}: no page`)
      if (!links(proof).some((path) => path.endsWith('.test.ts'))) faultsOfRow.push(`${id}: no test`)
      return faultsOfRow
    })
  assert.deepEqual(faults, [])
})

test('a feature that is done has a test that goes through the entries of the package, or runs the command', () => {
  const unproven = rows
    .filter(({ status }) => status === 'done')
    .filter(({ proof }) => {
      const tests = links(proof).map((path) => posix.join('docs', path))
      return !tests.some((file) => file.endsWith('.test.ts') && internalsOf(file).length === 0)
    })
  assert.deepEqual(
    unproven.map(({ id }) => id),
    [],
  )
})

test('what a test reaches of the source is seen through its rigs, and types do not count', () => {
  assert.deepEqual(internalsOf('test/public/features.test.ts'), [])
  assert.deepEqual(internalsOf('test/apps/cli/commands.test.ts'), [])
  assert.ok(internalsOf('test/skills/gate/gate.test.ts').includes('src/skills/gate/index.ts'))
  assert.ok(
    internalsOf('test/machine/sandbox/command.test.ts').includes('src/machine/sandbox/index.ts'),
    'through local-rig.ts',
  )
})

test('a later feature claims nothing', () => {
  const claims = rows.filter(({ status, page, proof }) => status === 'later' && (page !== NOTHING || proof !== NOTHING))
  assert.deepEqual(
    claims.map(({ id }) => id),
    [],
  )
})
