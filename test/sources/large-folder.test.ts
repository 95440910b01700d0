import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { compareUtf8 } from '../../src/format/index.ts'
import { createFolderSource, type SkillSource } from '../../src/sources/index.ts'
import { asNobody, skillText, summary, temporaryDirectory } from './temporary.ts'

function source(path: string): SkillSource {
  return createFolderSource({ id: 'test', tier: 'extra', rank: 0, trusted: false, path })
}

/** So many directories that a server could not wait for one reading of them. */
function manyDirectories(root: string, count: number): string[] {
  const names = Array.from({ length: count }, (_, index) => `directory-${(index * 7_919) % count}`)
  for (const name of names) mkdirSync(join(root, name))
  return names
}

test('a search of 5,000 directories gives way to other work several times, and finds all in byte order', async (t) => {
  const root = temporaryDirectory(t)
  const names = manyDirectories(root, 5_000)
  for (const name of names) writeFileSync(join(root, name, 'SKILL.md'), skillText(name))
  let turns = 0
  let isSearching = true
  const other = (): void => {
    turns++
    if (isSearching) setImmediate(other)
  }
  setImmediate(other)
  const { skills, rejected, diagnostics } = await source(root).discover()
  isSearching = false
  assert.deepEqual(
    skills.map(({ name }) => name),
    names.toSorted(),
  )
  assert.deepEqual([rejected, diagnostics], [[], []])
  assert.ok(turns >= 3, `${turns} turns`)
})

test('a directory of thousands is searched by the rules of a small one', async (t) => {
  const root = temporaryDirectory(t)
  manyDirectories(root, 4_000)
  const skills = ['zz-last', 'ﬀ', '𝒳', 'é', 'ab', 'Z']
  for (const name of [...skills, '.hidden', 'node_modules', 'directory-17/inner']) {
    mkdirSync(join(root, name), { recursive: true })
    writeFileSync(join(root, name, 'SKILL.md'), skillText(name.replace(/^.*\//, '')))
  }
  writeFileSync(join(root, 'Skill.MD'), skillText('odd'))
  symlinkSync(join(root, 'ab'), join(root, 'a-link'))
  const found = await source(root).discover()
  assert.deepEqual(summary(found), {
    skills: ['ab', ...skills.filter((name) => name !== 'ab'), 'inner'].toSorted(inPath),
    rejected: [`${root.slice(root.lastIndexOf('/') + 1)}: skill-file-name`],
    found: [],
  })
  // The link comes first in byte order, and leads to a directory that counts once.
  assert.equal(found.skills.filter(({ directory }) => directory === join(root, 'ab')).length, 1)
})

/** Byte order of the places where the names lie. */
function inPath(a: string, b: string): number {
  const place = (name: string): string => (name === 'inner' ? 'directory-17' : name)
  return compareUtf8(place(a), place(b))
}

test('a directory of thousands that may not be read is a finding', async (t) => {
  const root = temporaryDirectory(t)
  manyDirectories(root, 4_000)
  assert.equal(readdirSync(root).length, 4_000)
  chmodSync(root, 0o111)
  const { diagnostics } = await asNobody(() => source(root).discover())
  chmodSync(root, 0o755)
  assert.deepEqual(
    diagnostics.map(({ code, message }) => [code, message]),
    [['root-unreadable', 'the directory cannot be read: permission denied']],
  )
})
