import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { FORMAT_LIMITS } from '../../../src/skills/format/index.ts'

const PAGE = readFileSync(new URL('../../../docs/format.md', import.meta.url), 'utf8')

test('docs/format.md lists every limit', () => {
  for (const [name, value] of Object.entries(FORMAT_LIMITS)) {
    assert.match(PAGE, new RegExp(`\\| \`${name}\` \\| ${value.toLocaleString('en')} \\|`))
  }
})
