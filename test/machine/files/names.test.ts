import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesOf, nameOf } from '../../../src/machine/files/index.ts'
import { freshDirectory, noDescriptors, openTree } from './rig.ts'

test('a name is a text that gives its bytes back, whatever bytes they are', () => {
  const law = fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
    const name = nameOf(Buffer.from(bytes))
    assert.deepEqual(Buffer.from(bytesOf(name)), Buffer.from(bytes))
  })
  fc.assert(law, { seed: 12, numRuns: 1_000 })
})

test('a text gives bytes only when those bytes give the same text', () => {
  const law = fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), (text) => {
    let bytes: string | Buffer
    try {
      bytes = bytesOf(text)
    } catch {
      return
    }
    assert.equal(nameOf(Buffer.from(bytes)), text)
  })
  fc.assert(law, { seed: 12, numRuns: 1_000 })
  const units = fc.array(fc.integer({ min: 0xd700, max: 0xe000 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes)
      try {
        assert.equal(nameOf(Buffer.from(bytesOf(text))), text)
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'EINVAL', String(error))
      }
    }),
    { seed: 12, numRuns: 1_000 },
  )
})

test(
  'names that are not UTF-8 are listed, read, written, copied, linked and removed',
  { skip: noDescriptors },
  async (t) => {
    const directory = freshDirectory(t)
    const raw = (...parts: (string | number[])[]): Buffer =>
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
    mkdirSync(raw(directory, '/d', [0xff]))
    writeFileSync(raw(directory, '/d', [0xff], '/f', [0xc3, 0x28]), 'kept')
    symlinkSync(raw('target', [0xfe]), raw(directory, '/l', [0x80]))
    const tree = openTree(t, directory)
    const met: Record<string, string> = {}
    await tree.walk({ visit: ({ path, kind }) => void (met[path] = kind) })
    assert.deepEqual(met, { 'd\udcff': 'directory', 'd\udcff/f\udcc3(': 'file', 'l\udc80': 'link' })
    assert.equal(Buffer.from((await tree.read('d\udcff/f\udcc3(', { maxBytes: 9 })).bytes).toString(), 'kept')
    assert.equal(tree.entry('l\udc80')?.target, 'target\udcfe')
    await tree.write('d\udcff/new\udcff', { bytes: Buffer.from('new') })
    await tree.copyFrom(tree, 'd\udcff/new\udcff', { to: 'copy\udcff', mode: 0o644 })
    tree.makeLink('again', tree.entry('l\udc80')?.target ?? '')
    assert.deepEqual(
      readdirSync(directory, { encoding: 'buffer' })
        .map((name) => name.toString('latin1'))
        .sort(),
      ['again', 'copy\xff', 'd\xff', 'l\x80'],
    )
    assert.equal((await tree.removeAll('d\udcff')).entries, 3)
    for (const name of ['again', 'copy\udcff', 'l\udc80']) tree.remove(name, 'file')
    assert.deepEqual(readdirSync(directory), [])
  },
)
