import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SOURCE_LIMITS } from '../../../src/skills/sources/index.ts'
import { MANIFEST_LIMITS } from '../../../src/machine/skill-files/index.ts'

const PAGE = readFileSync(new URL('../../../docs/sources.md', import.meta.url), 'utf8')

test('docs/sources.md lists every limit', () => {
  for (const [name, value] of [...Object.entries(SOURCE_LIMITS), ...Object.entries(MANIFEST_LIMITS)]) {
    assert.match(PAGE, new RegExp(`\\| \`${name}\` \\| ${value.toLocaleString('en')} \\|`))
  }
})
