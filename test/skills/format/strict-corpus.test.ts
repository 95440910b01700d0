import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import {
  checkLenient,
  checkStrict,
  exportFlat,
  fixSkill,
  migrateSkill,
  parseSkill,
} from '../../../src/skills/format/index.ts'
import type { SkillDocument } from '../../../src/kernel/index.ts'

/** A collection of real and synthetic files that is not part of this repository. */
const FOLDER = process.env['NEXUS_CORPUS'] ?? resolve(import.meta.dirname, '../../../../shared/corpus')
const EDGES = resolve(FOLDER, 'edge-cases.jsonl')
const REAL = resolve(FOLDER, 'real-skills.jsonl.gz')
const skip = existsSync(EDGES) && existsSync(REAL) ? false : `the corpus is not here: ${FOLDER}`

interface EdgeCase {
  readonly id: string
  readonly notes: string
  readonly files: readonly { readonly path: string; readonly base64?: string }[]
}

function readLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as unknown)
}

/** What a note asks of strict validation; unknown fields are warnings by decision. */
function wanted(notes: string): readonly ('ok' | 'warning' | 'error')[] {
  const strict = /strict: (.*)/.exec(notes)?.[1]
  if (notes.startsWith('error:')) return ['error']
  if (strict === undefined) return notes.includes('repair') ? ['error'] : ['ok', 'warning']
  if (strict.startsWith('fails')) return ['error']
  if (strict.startsWith('ok or')) return ['ok', 'warning']
  return strict.startsWith('ok') ? ['ok'] : ['warning']
}

test('strict validation says of every edge case what its note recommends', { skip }, () => {
  for (const { id, notes, files } of readLines(readFileSync(EDGES, 'utf8')) as EdgeCase[]) {
    const base64 = files.find(({ path }) => path === `${id}/SKILL.md`)?.base64
    if (base64 === undefined) continue
    const bytes = Buffer.from(base64, 'base64')
    const { diagnostics } = checkStrict(bytes, { path: id, directoryName: id, profile: 'spec' })
    const has = (severity: string): boolean => diagnostics.some((found) => found.severity === severity)
    const verdict = has('error') ? 'error' : has('warning') ? 'warning' : 'ok'
    assert.ok(wanted(notes).includes(verdict), `${id}: ${verdict}, wanted ${wanted(notes).join(' or ')}`)
    const lenient = checkLenient(bytes, { path: id, directoryName: id }).diagnostics
    assert.equal(
      lenient.some(({ severity }) => severity === 'error'),
      notes.startsWith('error:'),
      id,
    )
  }
})

/** Everything that is read of a document but the frontmatter as such. */
function fields(document: SkillDocument | undefined): unknown {
  return document && { ...document, frontmatter: undefined }
}

test('rewriting a real skill keeps what is read of it, and its body', { skip }, () => {
  const lines = readLines(gunzipSync(readFileSync(REAL)).toString('utf8')) as Record<string, string>[]
  let rewritten = 0
  for (const { source, path = '', dir = '', base64 = '' } of lines) {
    const text = Buffer.from(base64, 'base64').toString('utf8')
    const options = { path, directoryName: dir }
    const before = parseSkill(text, options).document
    const where = `${source} ${path}`
    for (const rewrite of [fixSkill, migrateSkill, exportFlat]) {
      const result = rewrite(text, options)
      assert.equal(result.changes.length === 0, result.text === text, where)
      if (result.changes.length === 0) continue
      rewritten++
      const { document } = parseSkill(result.text, options)
      assert.deepEqual(fields(document), fields(before && { ...before, name: before.name ?? document?.name }), where)
      assert.ok(result.text.endsWith(before?.body ?? ''), where)
      assert.ok(!result.diagnostics.some(({ code }) => code === 'migrate-refused'), where)
      assert.equal(rewrite(result.text, options).text, result.text, where)
    }
  }
  assert.ok(rewritten > 100)
})
