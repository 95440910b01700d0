import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createHeadReader, type HeadSource, parseSkill } from '../../src/format/index.ts'

const NAME = 'skill-x'

/** What a glance accepted, read whole, beside what the parser reads; undefined when it accepted nothing. */
function bothReadings(lines: readonly string[], end: '\n' | '\r\n') {
  const head = ['---', `name: ${NAME}`, 'description: does a thing', ...lines, '---', ''].join(end)
  const file = `${head}Body.\n`
  // A reader may write one byte behind the head.
  const bytes = Buffer.from(file)
  const reader = createHeadReader()
  const quick = reader.glance(bytes, { start: 0, end: bytes.length, isWhole: true }, NAME)
  if (!quick) return undefined
  const source: HeadSource = { ...quick, bytes, path: 'SKILL.md', directoryName: NAME }
  const { head: read, diagnostics } = reader.read(source)
  const { document, diagnostics: all } = parseSkill(Buffer.from(file), { path: 'SKILL.md', directoryName: NAME })
  const { body: _, ...parsed } = document ?? { body: '' }
  const metadata = JSON.parse(JSON.stringify(reader.readMetadata(source))) as unknown
  return {
    read: { head: read, diagnostics, metadata },
    parsed: { head: parsed, diagnostics: all, metadata: document?.metadata },
  }
}

function assertAlike(lines: readonly string[], end: '\n' | '\r\n' = '\n'): boolean {
  const both = bothReadings(lines, end)
  if (both) assert.deepEqual(JSON.parse(JSON.stringify(both.read)), JSON.parse(JSON.stringify(both.parsed)))
  return both !== undefined
}

for (const [what, line] of [
  ['a key of 101 bytes', `${'k'.repeat(101)}: v`],
  ['a key of 800 bytes', `${'k'.repeat(800)}: v`],
  ['a list of 421 items', `tags: [${Array.from({ length: 421 }, () => 'a').join(',')}]`],
] as const) {
  test(`${what} is accepted at a glance, and read whole as the parser reads it`, () => {
    assert.ok(assertAlike(['user-invocable: true', line]))
    assert.ok(assertAlike(['user-invocable: true', 'metadata:', `  ${line}`], '\r\n'))
  })
}

test('whatever a glance accepts is read whole as the parser reads it, however long its keys and lists are', () => {
  const key = fc.integer({ min: 1, max: 300 }).map((length) => `k${'e'.repeat(length)}`)
  const list = fc.integer({ min: 0, max: 450 }).map((length) => `[${Array.from({ length }, () => 'a').join(',')}]`)
  const value = fc.oneof(list, fc.constantFrom('', 'v', '"q"', "'s'", '1.2', 'true'))
  const line = fc.tuple(fc.constantFrom('', '  '), key, value).map(([indent, k, v]) => `${indent}${k}: ${v}`)
  fc.assert(
    fc.property(fc.array(line, { maxLength: 4 }), fc.constantFrom('\n' as const, '\r\n' as const), (lines, end) => {
      assertAlike(['disable-model-invocation: false', 'metadata:', ...lines], end)
    }),
    { numRuns: 400 },
  )
})
