import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertValid } from '../../src/config/index.ts'
import { makePlace } from './place.ts'
import { everyRule } from './rules.ts'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..')
const PAGE = await readFile(join(ROOT, 'docs/config.md'), 'utf8')

describe('docs/config.md', () => {
  it('shows a nexus.yaml without a fault', async () => {
    const example = /```yaml\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? ''
    await using place = await makePlace({ user: example })
    await place.write('home/.secrets/github', 'token')
    const loaded = await place.load()
    assert.deepEqual(
      loaded.diagnostics.map(({ code }) => code).filter((code) => code !== 'config-secret-open'),
      [],
    )
    assert.equal(assertValid(loaded).model?.name, 'gpt-5.4-mini')
  })

  it('names every setting of the schema', async () => {
    const schema = await readFile(join(ROOT, 'schema/nexus.schema.json'), 'utf8')
    const names = new Set<string>()
    JSON.parse(schema, (key, value: unknown) => {
      if (key === 'properties') for (const name of Object.keys(value as object)) names.add(name)
      return value
    })
    const missing = [...names].filter((name) => !new RegExp(`\\b${name}\\b`).test(PAGE))
    assert.ok(names.size > 100)
    assert.deepEqual(missing, [])
  })

  it('has the table that the schema gives, with a meaning for every key (after a change: npm run schema)', async () => {
    const { withSettings } = (await import(join(ROOT, 'scripts/config-schema.mjs'))) as {
      withSettings: (page: string) => string
    }
    assert.equal(withSettings(PAGE), PAGE)
    const keys = PAGE.match(/^\| `[a-z][^|]*` \| .* \|$/gm) ?? []
    assert.ok(keys.length > 100)
    assert.deepEqual(
      keys.filter((row) => row.endsWith('|  |')),
      [],
    )
  })

  it('lists all that an untrusted workspace may set', () => {
    const settings = everyRule().filter(({ path, rules }) => rules.untrusted && path !== 'agents.*.id')
    const allowed = settings.map(({ path }) => path)
    const section = PAGE.slice(PAGE.indexOf('## Trust'), PAGE.indexOf('## Diagnostics'))
    const listed = [...section.matchAll(/`((?:skills|agents|execution|limits)\.[a-zA-Z_.*]+)`/g)].map(
      (match) => match[1] ?? '',
    )
    assert.deepEqual(listed.toSorted(), allowed.toSorted())
  })
})
