import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSections } from '../src/apps/cli/commands/explain.ts'
import { FORMAT_CODES, STRICT_CODES, WRITE_CODES } from '../src/skills/format/index.ts'
import { CODES } from '../src/kernel/index.ts'
import { SOURCE_CODES } from '../src/skills/sources/index.ts'
import { readSource, SOURCE_FILES } from './source-tree.ts'

const PAGE = readSource('docs/errors.md')
const SECTIONS = readSections(PAGE)
const DOCUMENTED = SECTIONS.flatMap(({ codes }) => codes)

const ROW = /^\| `([A-Z_]+)` \| (-?\d+) \| (\d+) \| (\d+) \|$/gm
const ROWS = [...PAGE.matchAll(ROW)].map(([, code, rpc, http, exit]) => ({
  code,
  row: { rpc: Number(rpc), http: Number(http), exit: Number(exit) },
}))

/** Codes that stand in the source outside of the tables: in unions of types, in findings, in calls that make one. */
const WRITTEN = [
  /\bcode: '([a-z][a-z-]+|[A-Z][A-Z_]+)'/g,
  /\b(?:fault|finding|fine|over|nothing|note|report|add|problem|row)\(\s*'([a-z]+(?:-[a-z]+)*)',/g,
  /\bfinding\([^,()]+\? '([a-z-]+)'/g,
  /\bfinding\([^,()]+\? '[a-z-]+' : '([a-z-]+)'/g,
  /'((?:config|trust|environment|policy)-[a-z-]+)'/g,
]
const UNIONS = ['HeldCode', 'FailureCode', 'FindingCode', 'NoticeCode']
/** Codes that are no finding of Nexus: of HTTP envelopes, of streams, of errors that Node gives. */
const FOREIGN = new Set(['conflict', 'stdout', 'stderr'])

function written(): ReadonlySet<string> {
  const found = SOURCE_FILES.flatMap((file) => {
    const text = readSource(file)
    const inTables = all(text, /_CODES = \{\n([\s\S]*?)\n\}/g).flatMap((rows) => all(rows, TABLE_ROW))
    const inUnions = UNIONS.flatMap((name) => all(text, unionOf(name)).flatMap((members) => all(members, /'([^']+)'/g)))
    return [...WRITTEN.flatMap((pattern) => all(text, pattern)), ...inTables, ...inUnions]
  })
  return new Set(found.filter((code) => !FOREIGN.has(code) && !/^E[A-Z]+$/.test(code)))
}

const TABLE_ROW = /^ {2}'?([a-z]+(?:-[a-z]+)*)'?:/gm

function unionOf(name: string): RegExp {
  return new RegExp(`export type ${name} =((?:\\s*(?:/\\*\\*.*\\*/\\s*)?\\| '[^']+')+)`, 'g')
}

/** The first group of every match. */
function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group = '']) => group)
}

const TABLES = [CODES, FORMAT_CODES, STRICT_CODES, WRITE_CODES, SOURCE_CODES]
const ALL = new Set([...TABLES.flatMap((table) => Object.keys(table)), ...written()])

test('docs/errors.md has a section for every code in the source, and no other', () => {
  assert.ok(ALL.size > 150, `only ${ALL.size} codes were found in the source`)
  assert.deepEqual([...ALL].filter((code) => !DOCUMENTED.includes(code)).toSorted(), [], 'codes without a section')
  assert.deepEqual(DOCUMENTED.filter((code) => !ALL.has(code)).toSorted(), [], 'sections of codes that are gone')
  assert.equal(new Set(DOCUMENTED).size, DOCUMENTED.length, 'a code has two sections')
})

test('every section has a meaning, an example and a fix, in the form that nexus explain reads', () => {
  const headings = [...PAGE.matchAll(/^### (.+)$/gm)]
  assert.equal(SECTIONS.length, headings.length)
  for (const { codes, meaning, example, fix } of SECTIONS)
    for (const text of [meaning, example, fix]) assert.ok(text.trim().length > 3, codes[0])
})

test('docs/errors.md has the rows of the code table, in its order', () => {
  assert.deepEqual(
    ROWS.map(({ code, row }) => [code, row]),
    Object.entries(CODES).map(([code, { rpc, http, exit }]) => [code, { rpc, http, exit }]),
  )
})

test('JSON-RPC numbers of the table are unique and in the ranges that the protocol leaves to us', () => {
  const numbers = Object.values(CODES).map(({ rpc }) => rpc)
  assert.equal(new Set(numbers).size, numbers.length)
  for (const rpc of numbers)
    assert.ok((rpc <= -32000 && rpc >= -32099) || rpc === -32602 || rpc === -32603, String(rpc))
})

test('no error is raised with a code that the table lacks', () => {
  const raised = SOURCE_FILES.flatMap((file) =>
    [...readSource(file).matchAll(/new NexusError\(\s*'([A-Z_]+)'/g)].map(([, code]) => code ?? ''),
  )
  assert.ok(raised.length > 0)
  assert.deepEqual(
    raised.filter((code) => !Object.hasOwn(CODES, code)),
    [],
  )
})
