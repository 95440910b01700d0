import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import fc from 'fast-check'
import { createLineBuffer } from '../../../../src/apps/cli/show/lines.ts'
import { quotedWord, shellWord } from '../../../../src/kernel/index.ts'

test('however text is cut into chunks, the same lines come out, and nothing is lost', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 9 })), (chunks) => {
      const shown: string[] = []
      const buffer = createLineBuffer((lines) => shown.push(...lines.replace(/\n$/, '').split('\n')))
      for (const chunk of chunks) buffer.add(chunk)
      buffer.flush()
      const expected = chunks.join('').split('\n')
      assert.deepEqual(shown, expected.at(-1) === '' ? expected.slice(0, -1) : expected)
    }),
  )
})

test('a line without an end is shown in pieces', () => {
  const shown: string[] = []
  const buffer = createLineBuffer((lines) => shown.push(lines))
  buffer.add('x'.repeat(10_000))
  assert.equal(shown.join('').length, 10_000)
})

test('a shell reads every word back as it was', () => {
  const words = ['', 'plain', '/a/b.c', "it's", '$(id)', '`id`', 'a b', 'a\nb', '~', 'A=b', '*', '-n', 'é']
  for (const quote of [shellWord, quotedWord]) {
    const { stdout } = spawnSync('sh', ['-c', `printf '%s\\0' ${words.map(quote).join(' ')}`], { encoding: 'utf8' })
    assert.deepEqual(stdout.split('\0').slice(0, -1), words)
  }
})
