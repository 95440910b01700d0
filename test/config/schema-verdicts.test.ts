import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { readEnvironment } from '../../src/config/index.ts'
import { buildLayers } from '../../src/config/layers/build-layers.ts'
import type { ConfigDocument } from '../../src/config/schema/schema.ts'
import type { Diagnostic } from '../../src/kernel/index.ts'

interface Node {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Node | boolean
  readonly items?: Node
  readonly anyOf?: readonly Node[]
  readonly oneOf?: readonly Node[]
  readonly allOf?: readonly Node[]
}

const FILE = join(import.meta.dirname, '../../schema/nexus.schema.json')
const schema = JSON.parse(await readFile(FILE, 'utf8')) as Node & { definitions: Record<string, Node> }
const validate = new Ajv({ strict: true, strictTypes: false }).compile(schema)
const environment = readEnvironment({ HOME: '/home/me', NAME: 'value' })

/** The errors that `config check` shows for a file with this content. */
async function errorsOf(content: unknown): Promise<Diagnostic[]> {
  const input = { path: 'x', content: content as ConfigDocument, directory: '/', isTrusted: true, isWorkspace: false }
  const { diagnostics } = await buildLayers([input], { environment, settings: {} })
  return diagnostics.filter(({ severity }) => severity === 'error')
}

/** What no schema can say: names that must be there, or once; settings that must agree; the first word of a command. */
const BEYOND =
  /config-(?:unknown-name|cycle|duplicate-agent)|another name of execution\.sandbox|secrets\.providers|needs (?:path|command)|the provider "|relative path/

const TEXTS = ['x', 'a b', '', '24h', '1h30m', 'https://h', 'openai/m', 'A_B', 'group:x', '/p', './p', 'no', 'default']
const NAMES = ['x', 'A', 'group:x', 'group: x', 'constructor', '', 'yolo', 'Deny', ' ask ', 'as\u212a', 'gh', 'a b']
const junk = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, 1, 5, -1, 1.5, 1e13, 'x', '', 'a b', [], {}),
  fc.constantFrom<unknown>(['x'], [''], [null], { x: 1 }, [{}]),
)

/** Values that mostly fit a part of the schema, and sometimes do not. */
function valuesFor(node: Node): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: fittingFor(node) }, { weight: 1, arbitrary: junk })
}

function fittingFor(node: Node): fc.Arbitrary<unknown> {
  const inner = node.$ref === undefined ? node.allOf?.[0] : (schema.definitions['secret'] as Node)
  if (inner) return valuesFor(inner)
  if ('const' in node) return fc.constant(node.const)
  if (node.enum) return fc.constantFrom(...node.enum)
  const options = node.properties ? undefined : (node.anyOf ?? node.oneOf)
  if (options) return fc.oneof(...options.map(fittingFor))
  return node.type === 'object' || Array.isArray(node.type) ? mapsFor(node) : plainFor(node)
}

function plainFor({ type, items = {} }: Node): fc.Arbitrary<unknown> {
  switch (type) {
    case 'array':
      return fc.array(valuesFor(items), { maxLength: 3 })
    case 'boolean':
      return fc.boolean()
    case 'integer':
    case 'number':
      return fc.constantFrom(0, 1, 5, 5_000, 1e13)
    case 'string':
      return fc.constantFrom(...TEXTS)
    default:
      return junk
  }
}

function mapsFor({ properties = {}, required = [], additionalProperties: open }: Node): fc.Arbitrary<unknown> {
  const known = fc.record(
    Object.fromEntries(Object.entries(properties).map(([key, member]) => [key, valuesFor(member)])),
    { requiredKeys: [] },
  )
  const few = fc.tuple(known, fc.array(fc.constantFrom('', ...Object.keys(properties)), { maxLength: 3 }))
  const chosen = few.map(([map, keys]) =>
    Object.fromEntries(Object.entries(map).filter(([key]) => keys.includes(key) || required.includes(key))),
  )
  const others = fc.dictionary(fc.constantFrom(...NAMES), typeof open === 'object' ? valuesFor(open) : junk, {
    maxKeys: 2,
  })
  const isClosed = open === false
  return fc
    .tuple(chosen, others, fc.nat(9))
    .map(([map, more, chance]) => (isClosed && chance > 0 ? map : { ...more, ...map }))
}

describe('schema/nexus.schema.json', () => {
  it('says of any document what config check says', async () => {
    await fc.assert(
      fc.asyncProperty(mapsFor(schema), async (document) => {
        const errors = await errorsOf(document)
        fc.pre(!errors.some(({ code, message, fix = '' }) => BEYOND.test(`${code} ${message} ${fix}`)))
        assert.equal(
          validate(document),
          errors.length === 0,
          JSON.stringify({ document, errors, ajv: validate.errors }),
        )
      }),
      { numRuns: 1_500 },
    )
  })

  const SECRET = (apiKey: unknown): unknown => ({ skills: { entries: { x: { apiKey } } } })
  const SAMPLES: readonly (readonly [verdict: 'good' | 'bad', document: unknown])[] = [
    ...[null, {}, { skills: null }, { skills: { entries: { x: null } } }, { agents: [{ id: 'a', tools: null }] }].map(
      (document) => ['good', document] as const,
    ),
    ...[{ agents: null }, { agents: [null] }, { model: null }, { skills: { load: { extraDirs: null } } }].map(
      (document) => ['bad', document] as const,
    ),
    ...[{ Deny: ['x'] }, { ' ASK ': ['x'] }, { 'as\u212a': [] }, { constructor: {} }].map(
      (tools) => ['bad', { tools }] as const,
    ),
    ...[
      { env: 'A' },
      { command: ['a b'] },
      { command: 'a b', args: ['c'] },
      { source: 'file', path: 'p', id: '/x' },
    ].map((secret) => ['good', SECRET(secret)] as const),
    ...[{}, { command: [] }, { command: [], args: ['a'] }, { command: 'a b' }, { command: 'a b', args: [] }]
      .concat([
        { command: ['a'], file: 'f' } as never,
        { file: 'f', args: ['a'] } as never,
        { env: 'A', id: 'x' } as never,
      ])
      .concat([
        { command: './a' } as never,
        { source: 'env', id: 'A', file: 'f' } as never,
        { source: 'exec' } as never,
      ])
      .map((secret) => ['bad', SECRET(secret)] as const),
  ]
  for (const [verdict, document] of SAMPLES) {
    it(`and config check call it ${verdict}: ${JSON.stringify(document)}`, async () => {
      assert.equal(validate(document), verdict === 'good', JSON.stringify(validate.errors))
      if (document !== null) assert.equal((await errorsOf(document)).length === 0, verdict === 'good')
    })
  }
})
