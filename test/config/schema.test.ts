import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Ajv } from 'ajv'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const FILE = join(ROOT, 'schema/nexus.schema.json')
const schema = JSON.parse(await readFile(FILE, 'utf8')) as {
  $id: string
  properties: Record<string, { description?: string }>
}
const validate = new Ajv({ strict: true, strictTypes: false }).compile(schema)

/** Every YAML block of a page. */
async function examples(page: string): Promise<unknown[]> {
  const text = await readFile(join(ROOT, page), 'utf8')
  return [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map((match) => parse(match[1] ?? ''))
}

describe('schema/nexus.schema.json', () => {
  it('is what the source says (after a change: npm run schema)', async () => {
    const { configSchema, noFile } = (await import(join(ROOT, 'scripts/config-schema.mjs'))) as {
      configSchema: () => string
      noFile: () => string
    }
    assert.equal(configSchema(), await readFile(FILE, 'utf8'))
    assert.equal(noFile(), await readFile(join(ROOT, 'src/config/schema/no-file.ts'), 'utf8'))
  })

  it('has a name, and a description for everything at its top', () => {
    assert.match(schema.$id, /^https:\/\/.*\/schema\/nexus\.schema\.json$/)
    for (const [name, section] of Object.entries(schema.properties))
      assert.ok((section.description ?? '').length > 10, name)
  })

  it('accepts the examples of the pages', async () => {
    const all = [...(await examples('docs/config.md')), ...(await examples('README.md'))]
    assert.ok(all.length >= 1)
    for (const example of all) assert.ok(validate(example), JSON.stringify(validate.errors))
  })

  it('accepts every form of a secret and refuses what the loader refuses', () => {
    const ofSkill = (apiKey: unknown): unknown => ({ skills: { entries: { x: { apiKey } } } })
    const good = [
      'text',
      { env: 'A' },
      { file: 'f' },
      { command: ['a', 'b'] },
      { source: 'exec', provider: 'p', id: 'i' },
    ]
    for (const secret of good) assert.ok(validate(ofSkill(secret)), JSON.stringify(secret))
    const bad = [
      ofSkill({ fil: 'x' }),
      ofSkill(5),
      { lmits: {} },
      { limits: { maxIterations: 0 } },
      { model: 'gpt' },
      ...['profile', 'allow', 'ask', 'deny'].map((word) => ({ tools: { [word]: ['a'] } })),
    ]
    for (const document of bad) assert.ok(!validate(document), JSON.stringify(document))
  })
})
