import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { isMap, parseDocument } from 'yaml'
import { parseSkill } from '../../../src/skills/format/index.ts'

/** A collection of real files that is not part of this repository. */
const FILE = resolve(
  process.env['NEXUS_CORPUS'] ?? resolve(import.meta.dirname, '../../../../shared/corpus'),
  'real-skills.jsonl.gz',
)
const skip = existsSync(FILE) ? false : `the corpus is not here: ${FILE}`

interface RealSkill {
  readonly source: string
  readonly path: string
  readonly dir: string
  readonly bytes: Buffer
}

function readCorpus(): RealSkill[] {
  const lines = gunzipSync(readFileSync(FILE)).toString('utf8').split('\n').filter(Boolean)
  return lines.map((line) => {
    const { source, path, dir, base64 } = JSON.parse(line) as {
      source: string
      path: string
      dir: string
      base64: string
    }
    return { source, path, dir, bytes: Buffer.from(base64, 'base64') }
  })
}

/** The frontmatter as the full YAML parser reads it, or undefined when it is none or has errors. */
function fullParse(text: string): { name: unknown; description: unknown } | undefined {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?\n)?---[ \t]*(?:\r?\n|$)/.exec(text)
  if (!match) return undefined
  const document = parseDocument((match[1] ?? '').replaceAll('\r\n', '\n'), { version: '1.2', schema: 'core' })
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined
  return document.toJS() as { name: unknown; description: unknown }
}

test('every real skill with frontmatter loads, and its text is that of the full YAML parser', { skip }, () => {
  let withFrontmatter = 0
  for (const { source, path, dir, bytes } of readCorpus()) {
    const { document, diagnostics } = parseSkill(bytes, { path, directoryName: dir })
    const where = `${source} ${path}`
    if (document === undefined) {
      const error = diagnostics.find(({ severity }) => severity === 'error')
      assert.deepEqual(
        [error?.code, typeof error?.line, typeof error?.fix],
        ['frontmatter-missing', 'number', 'string'],
        where,
      )
      continue
    }
    withFrontmatter++
    const full = fullParse(bytes.toString('utf8'))
    if (full === undefined) continue
    if (typeof full.name === 'string') assert.equal(document.name, full.name.trim(), where)
    if (typeof full.description === 'string') assert.equal(document.description ?? '', full.description.trim(), where)
  }
  assert.ok(withFrontmatter > 1_000)
})
