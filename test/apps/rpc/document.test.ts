import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { createTable } from '../../../src/apps/rpc/index.ts'
import { ROOT } from '../../source-tree.ts'

const PAGE = join(ROOT, 'docs/rpc.md')
const table = createTable('1.0.0')

interface Described {
  readonly name: string
  readonly summary: string
  readonly params: readonly { readonly name: string; readonly required: boolean; readonly schema: object }[]
  readonly result: { readonly schema: { readonly properties?: object } }
  readonly tags: readonly { readonly name: string }[]
}
const methods = table.document['methods'] as unknown as readonly Described[]

test('the document of rpc.discover describes every method once, with its params and result', () => {
  const names = [...table.global.keys(), ...table.agent.keys()]
  assert.deepEqual(
    methods.map(({ name }) => name),
    names,
  )
  assert.equal(new Set(names).size, names.length)
  for (const { params, summary, result } of methods) {
    assert.ok(summary.length > 10)
    assert.ok(Object.keys(result.schema).length > 0)
    for (const param of params) assert.equal(typeof param.required, 'boolean')
  }
})

/** One line a method, from the rows. */
function lines(route: 'global' | 'agent'): string {
  const rows = [...table[route].values()].map((row) => {
    const described = methods.find(({ name }) => name === row.name)
    const params = described?.params.map(({ name, required }) => `\`${name}\`${required ? '\\*' : ''}`).join(', ')
    const results = Object.keys(described?.result.schema.properties ?? {}).map((name) => `\`${name}\``)
    const key = row.isForKeyOnly ? '**key** ' : ''
    return `| \`${row.name}\` | ${params || '–'} | ${results.join(', ') || 'the document'} | ${key}${row.summary} |`
  })
  return ['| method | params | result | what it does |', '|---|---|---|---|', ...rows].join('\n')
}

/** With `--update` the page is written anew. */
function written(page: string): string {
  return page.replaceAll(
    /(<!-- methods: (global|agent) -->\n)[\s\S]*?(<!-- \/methods -->)/g,
    (_all, begin: string, route: 'global' | 'agent', end: string) => `${begin}\n${lines(route)}\n\n${end}`,
  )
}

if (process.argv.includes('--update')) writeFileSync(PAGE, written(readFileSync(PAGE, 'utf8')))

test('docs/rpc.md lists the methods (after a change: node test/apps/rpc/document.test.ts --update)', () => {
  const page = readFileSync(PAGE, 'utf8')
  assert.equal(page, written(page))
})
