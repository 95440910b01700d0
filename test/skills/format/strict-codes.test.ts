import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { FORMAT_CODES, PROFILES, STRICT_CODES, WRITE_CODES } from '../../../src/skills/format/index.ts'

const PAGE = readFileSync(new URL('../../../docs/format.md', import.meta.url), 'utf8')

test('docs/format.md lists every strict finding with its severities, and no other', () => {
  const rows = [...PAGE.matchAll(/^\| `([a-z-]+)` \| (\S+) \| (\S+) \| (\S+) \|$/gm)]
  assert.deepEqual(
    rows.map(([, ...row]) => row),
    Object.entries(STRICT_CODES).map(([code, row]) => [
      code,
      ...PROFILES.map((profile) => (row[profile] === 'off' ? '–' : row[profile])),
    ]),
  )
})

test('no strict finding has the code of another one', () => {
  const all = [...Object.keys(FORMAT_CODES), ...Object.keys(STRICT_CODES), ...Object.keys(WRITE_CODES)]
  assert.equal(new Set(all).size, all.length)
})
