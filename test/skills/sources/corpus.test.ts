import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Diagnostic } from '../../../src/kernel/index.ts'
import { createFolderSource, type SourceResult } from '../../../src/skills/sources/index.ts'
import { temporaryDirectory, writeFiles } from './temporary.ts'

/** Collections of real and synthetic files that are not part of this repository. */
const CORPUS = resolve(process.env['NEXUS_CORPUS'] ?? resolve(import.meta.dirname, '../../../../shared/corpus'))
const skip = existsSync(join(CORPUS, 'edge-cases.jsonl')) ? false : `the corpus is not here: ${CORPUS}`

interface EdgeCase {
  readonly id: string
  readonly notes: string
  readonly files: readonly {
    readonly path: string
    readonly base64?: string
    readonly symlink?: string
    readonly directory?: boolean
  }[]
}

function lines<T>(text: string): T[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T)
}

function layOut(root: string, files: EdgeCase['files']): void {
  for (const { path, base64, symlink, directory } of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    if (symlink !== undefined) symlinkSync(symlink, join(root, path))
    else if (directory) mkdirSync(join(root, path), { recursive: true })
    else writeFiles(root, { [path]: Buffer.from(base64 ?? '', 'base64') })
  }
}

function scan(path: string): Promise<SourceResult> {
  return createFolderSource({ id: 'corpus', tier: 'extra', rank: 0, trusted: false, path }).discover()
}

function warned(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity !== 'info')
}

/** How a case came out, in the words of its recommendation. */
function verdict(id: string, { skills, invalid, diagnostics }: SourceResult): 'load' | 'warn' | 'error' | 'nothing' {
  const inside = (path: string): boolean => path.split('/').includes(id)
  const skill = skills.find(({ directory }) => inside(directory))
  if (skill?.description) return warned(skill.diagnostics) ? 'warn' : 'load'
  const findings = [...invalid.flatMap((one) => one.diagnostics), ...diagnostics, ...(skill?.diagnostics ?? [])]
  return warned(findings) ? 'error' : 'nothing'
}

test('every edge case of the corpus comes out as recommended', { skip }, async (t) => {
  const directory = temporaryDirectory(t)
  const cases = lines<EdgeCase>(readFileSync(join(CORPUS, 'edge-cases.jsonl'), 'utf8'))
  assert.ok(cases.length > 0)
  const wrong: string[] = []
  for (const [index, { id, notes, files }] of cases.entries()) {
    const root = join(directory, `${index}`, 'root')
    mkdirSync(root, { recursive: true })
    layOut(root, files)
    const got = verdict(id, await scan(root))
    const wanted = notes.slice(0, notes.indexOf(':'))
    // "warning allowed", "a warning is right": both outcomes meet the recommendation; an empty directory is no candidate.
    const met = got === wanted || (wanted === 'load' && got === 'warn' && /warning (?:allowed|is right)/.test(notes))
    if (!met && !(got === 'nothing' && /no candidate/.test(notes))) wrong.push(`${id}: ${got}, not ${notes}`)
  }
  assert.deepEqual(wrong, [])
})

test('the real skills of the corpus, laid out by source and directory, load or say why not', { skip }, async (t) => {
  const root = temporaryDirectory(t)
  const text = gunzipSync(readFileSync(join(CORPUS, 'real-skills.jsonl.gz'))).toString('utf8')
  const paths = new Set<string>()
  for (const { source, dir, base64 } of lines<{ source: string; dir: string; base64: string }>(text)) {
    const path = `${source}/${dir}/SKILL.md`
    if (paths.has(path)) continue
    paths.add(path)
    writeFiles(root, { [path]: Buffer.from(base64, 'base64') })
  }
  const { skills, invalid, diagnostics } = await scan(root)
  const seen = new Set([...skills, ...invalid].map(({ file }) => file.slice(root.length + 1)))
  assert.deepEqual(seen, paths)
  for (const { file, diagnostics: own } of invalid) {
    assert.equal(own[0]?.severity, 'error', file)
    assert.ok(own[0]?.line !== undefined && own[0].fix !== undefined, file)
  }
  assert.ok(
    skills.every(
      ({ description, diagnostics: own }) =>
        description !== '' || own.some(({ code }) => code.startsWith('description-')),
    ),
  )
  assert.deepEqual(diagnostics, [])
})
