import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { treeDigest } from '../../../src/machine/skill-files/index.ts'
import { compareUtf8, isNexusError, type ManifestEntry } from '../../../src/kernel/index.ts'
import { seedFor } from '../../skills/format/skills.ts'

interface Vector {
  readonly about: string
  readonly files: readonly ManifestEntry[]
  readonly hashedHex: string
  readonly treeDigest: string
}

const VECTORS = JSON.parse(
  readFileSync(new URL('../../fixtures/format/tree-digest/vectors.json', import.meta.url), 'utf8'),
) as Vector[]

for (const { about, files, hashedHex, treeDigest: expected } of VECTORS) {
  test(`the published vector holds: ${about}`, () => {
    assert.equal(treeDigest(files), expected)
    assert.equal(`sha256:${createHash('sha256').update(Buffer.from(hashedHex, 'hex')).digest('hex')}`, expected)
  })
}

const sha = (text: string): string => createHash('sha256').update(text).digest('hex')

const entry: fc.Arbitrary<ManifestEntry> = fc.record({
  path: fc.string({ minLength: 1, maxLength: 12, unit: 'binary' }),
  size: fc.nat(),
  executable: fc.boolean(),
  sha256: fc.string().map(sha),
})
const tree = fc.uniqueArray(entry, { selector: ({ path }) => path, maxLength: 6 })

function canonical(files: readonly ManifestEntry[]): string {
  return JSON.stringify(
    [...files].sort((a, b) => compareUtf8(a.path, b.path)).map((file) => Object.entries(file).sort()),
  )
}

test('the order of the files does not matter', (t) => {
  fc.assert(
    fc.property(tree, (files) => {
      assert.equal(treeDigest([...files].reverse()), treeDigest(files))
    }),
    { seed: seedFor(t) },
  )
})

test('two trees have one digest only when they are equal', (t) => {
  fc.assert(
    fc.property(tree, tree, (one, other) => {
      assert.equal(treeDigest(one) === treeDigest(other), canonical(one) === canonical(other))
    }),
    { seed: seedFor(t) },
  )
})

test('any change of one file changes the digest', (t) => {
  fc.assert(
    fc.property(tree, entry, fc.nat(), (files, other, index) => {
      const file = files[index % Math.max(1, files.length)]
      fc.pre(file !== undefined && files.every(({ path }) => path !== other.path))
      const digest = treeDigest(files)
      const without = files.filter((candidate) => candidate !== file)
      for (const changed of [
        { ...file, path: other.path },
        { ...file, size: file.size + 1 },
        { ...file, executable: !file.executable },
        { ...file, sha256: sha(file.sha256) },
      ]) {
        assert.notEqual(treeDigest([...without, changed]), digest)
      }
      assert.notEqual(treeDigest(without), digest)
      assert.notEqual(treeDigest([...files, other]), digest)
    }),
    { seed: seedFor(t) },
  )
})

test('bytes cannot move between path and content, nor between two files', () => {
  const file = (path: string, content: string): ManifestEntry => ({
    path,
    size: content.length,
    executable: false,
    sha256: sha(content),
  })
  assert.notEqual(treeDigest([file('run.sh', 'echo hi')]), treeDigest([file('run.shecho', ' hi')]))
  assert.notEqual(treeDigest([file('a', 'x'), file('b', 'y')]), treeDigest([file(`a${sha('x')}b`, 'y')]))
  assert.notEqual(treeDigest([file('a\nb', 'x')]), treeDigest([file('a', 'x'), file('b', 'x')]))
})

test('entries that no file can have are refused', () => {
  const good: ManifestEntry = { path: 'a', size: 1, executable: false, sha256: sha('x') }
  for (const bad of [
    [good, good],
    [{ ...good, path: '' }],
    [{ ...good, path: '\ud800' }],
    [{ ...good, size: -1 }],
    [{ ...good, size: 1.5 }],
    [{ ...good, sha256: sha('x').toUpperCase() }],
    [{ ...good, sha256: 'ab' }],
  ]) {
    assert.throws(
      () => treeDigest(bad),
      (error) => isNexusError(error) && error.code === 'INVALID_ARGUMENT',
    )
  }
})

test('texts are compared by their UTF-8 bytes', (t) => {
  const text = fc.string({ unit: 'binary', maxLength: 6 })
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(Math.sign(compareUtf8(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
    { seed: seedFor(t) },
  )
  assert.ok(compareUtf8('\uffff', '\u{10000}') < 0)
})
