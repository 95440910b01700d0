import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { fileDigest } from '../../src/sources/found/file-digest.ts'
import { sha256 } from '../../src/sources/found/sha256.ts'
import { temporaryDirectory } from './temporary.ts'

function expected(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

test('our sum is that of node:crypto', () => {
  assert.equal(sha256(Buffer.from('abc')), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  for (let length = 0; length <= 200; length++) {
    const bytes = new Uint8Array(length).fill(length)
    assert.equal(sha256(bytes), expected(bytes), `${length} bytes`)
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 5_000 }), (bytes) => sha256(bytes) === expected(bytes)))
})

test('a file has the same digest whoever makes the sum', (t) => {
  const file = join(temporaryDirectory(t), 'SKILL.md')
  for (const length of [0, 4_096, 16_383, 16_384, 16_385, 100_000]) {
    const bytes = Buffer.from(Array.from({ length }, (_, index) => (index * 31) & 255))
    writeFileSync(file, bytes)
    assert.equal(fileDigest(file, 1_048_576)?.digest, expected(bytes), `${length} bytes`)
  }
})
