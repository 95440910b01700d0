import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { isNexusError } from '../../src/kernel/index.ts'
import { type BlobReferences, type Blobs, createMemoryStore, openBlobFiles } from '../../src/store/index.ts'
import { hasCode } from '../../src/testing/store/rig.ts'

const root = mkdtempSync(join(tmpdir(), 'nexus-blobs-'))
after(() => rmSync(root, { recursive: true }))

const MANY = { maxBytes: 1e9 }

async function rig(): Promise<{ directory: string; references: BlobReferences; blobs: Blobs }> {
  const directory = join(mkdtempSync(join(root, 'r-')), 'deep', 'blobs')
  const { blobs: references } = await createMemoryStore({ projectId: 'p' })
  return { directory, references, blobs: await openBlobFiles({ directory, references }) }
}

function save(blobs: Blobs, bytes: Uint8Array, more: { ttlMs?: number } = {}) {
  const writer = blobs.create(MANY)
  writer.write(bytes)
  return writer.save({ name: 'stdout', ...more })
}

async function readAll(blobs: Blobs, reference: { digest: string; id: string }): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of blobs.read(reference)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const filesIn = (directory: string): string[] =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) =>
        entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
      )
    : []

describe('blob files', () => {
  it('give back the bytes that came in chunks of any size, under their digest', async () => {
    const { blobs, directory } = await rig()
    for (const size of [0, 1, 1000, 300_000, 2_000_000]) {
      const bytes = randomBytes(size)
      const writer = blobs.create(MANY)
      for (let at = 0, step = 1; at < size; at += step, step = (step * 7) % 400_009)
        writer.write(bytes.subarray(at, at + step))
      const reference = await writer.save({ name: 'stdout', callId: 'c' })
      assert.equal(reference.digest, createHash('sha256').update(bytes).digest('hex'))
      assert.deepEqual([reference.bytes, reference.isCut, reference.name], [size, false, 'stdout'])
      assert.ok(bytes.equals(await readAll(blobs, reference)))
    }
    assert.equal(statSync(directory).mode & 0o777, 0o700)
    for (const file of filesIn(directory)) assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(join(directory, 'incoming')), [])
  })

  it('keep the beginning of more than the limit, and say so', async () => {
    const { blobs } = await rig()
    const writer = blobs.create({ maxBytes: 5 })
    for (const text of ['abc', 'def', 'ghi']) writer.write(Buffer.from(text))
    const reference = await writer.save({ name: 'stdout' })
    assert.deepEqual([reference.bytes, reference.isCut, writer.bytes], [5, true, 9])
    assert.equal(String(await readAll(blobs, reference)), 'abcde')
  })

  it('make nothing for what is dropped, and one file for equal bytes', async () => {
    const { blobs, directory } = await rig()
    const small = blobs.create(MANY)
    small.write(Buffer.from('few'))
    small.drop()
    assert.ok(!existsSync(directory))
    const large = blobs.create(MANY)
    large.write(randomBytes(1_000_000))
    large.drop()
    await Promise.all([save(blobs, Buffer.from('same')), save(blobs, Buffer.from('same'))])
    assert.equal(filesIn(directory).length, 1)
  })

  it('report bytes that changed since, and bytes that are not there', async () => {
    const { blobs, directory } = await rig()
    const reference = await save(blobs, Buffer.from('right'))
    const [file = ''] = filesIn(directory)
    writeFileSync(file, 'wrong')
    await assert.rejects(readAll(blobs, reference), hasCode('STORE_FAILED', /is damaged/))
    rmSync(file)
    await assert.rejects(readAll(blobs, reference), hasCode('STORE_FAILED', /does not exist/))
  })

  it('do not throw while they write: save reports why the bytes could not be kept, and no row is left', async () => {
    const { blobs, directory, references } = await rig()
    await save(blobs, Buffer.from('makes the directories'))
    rmSync(join(directory, 'incoming'), { recursive: true })
    writeFileSync(join(directory, 'incoming'), 'a file')
    const writer = blobs.create(MANY)
    writer.write(randomBytes(1_000_000))
    await assert.rejects(writer.save({ name: 'x' }), (error) => {
      assert.ok(isNexusError(error) && error.code === 'STORE_FAILED')
      return true
    })
    rmSync(join(directory, 'incoming'))
    const other = blobs.create(MANY)
    other.write(Buffer.from('b'))
    rmSync(join(directory, 'blobs'), { recursive: true })
    writeFileSync(join(directory, 'blobs'), 'a file')
    await assert.rejects(other.save({ name: 'x' }), hasCode('STORE_FAILED', /was not saved/))
    assert.equal((await references.list()).length, 1)
    assert.deepEqual(readdirSync(join(directory, 'incoming')), [])
  })
})

describe('collecting blobs', () => {
  it('removes what no living row names, and what a killed writer left a day ago', async () => {
    const { blobs, directory, references } = await rig()
    assert.equal(await blobs.collect(), 0)
    const [one, two] = [await save(blobs, Buffer.from('one')), await save(blobs, Buffer.from('two'))]
    const again = await save(blobs, Buffer.from('two'))
    for (const { id } of [one, two]) await references.remove(id)
    const [old, young] = ['old', 'young'].map((name) => join(directory, 'incoming', name))
    for (const path of [old, young]) writeFileSync(path ?? '', 'x')
    utimesSync(old ?? '', 0, 0)
    assert.equal(await blobs.collect(), 1)
    assert.equal(String(await readAll(blobs, again)), 'two')
    assert.deepEqual(readdirSync(join(directory, 'incoming')), ['young'])
    assert.equal(filesIn(join(directory, 'blobs')).length, 1)
  })

  it('keeps bytes whose row is added at any moment of the collection', async () => {
    // The row and the file of the writer come between each two questions of the collector.
    for (let at = 0; at < 4; at++) {
      const { directory, references } = await rig()
      const late = await openBlobFiles({ directory, references })
      const first = await save(late, Buffer.from('bytes'))
      await references.remove(first.id)
      let questions = 0
      let reference = first
      const watched: BlobReferences = {
        ...references,
        count: async (digest) => {
          const write = async () => void (reference = await save(late, Buffer.from('bytes')))
          if (at % 2 === 0 && questions++ === at / 2) await write()
          const found = await references.count(digest)
          if (at % 2 === 1 && questions++ === (at - 1) / 2) await write()
          return found
        },
      }
      const collector = await openBlobFiles({ directory, references: watched })
      await collector.collect()
      assert.notEqual(reference.id, first.id)
      assert.equal(String(await readAll(late, reference)), 'bytes', `written at ${at}`)
      assert.equal(await late.collect(), 0)
      assert.equal(filesIn(directory).length, 1)
    }
  })

  it('reads and puts back what a killed collector had moved aside', async () => {
    const { blobs, directory, references } = await rig()
    const [kept, gone] = [await save(blobs, Buffer.from('kept')), await save(blobs, Buffer.from('gone'))]
    const killed: BlobReferences = {
      ...references,
      count: (() => {
        let questions = 0
        return async () => {
          if (questions++ % 2 === 1) throw new Error('killed')
          return 0
        }
      })(),
    }
    await assert.rejects((await openBlobFiles({ directory, references: killed })).collect(), /killed/)
    assert.equal(readdirSync(join(directory, 'leaving')).length, 1)
    for (const [reference, text] of [
      [kept, 'kept'],
      [gone, 'gone'],
    ] as const)
      assert.equal(String(await readAll(blobs, reference)), text)
    await references.remove(gone.id)
    assert.equal(await blobs.collect(), 1)
    assert.equal(String(await readAll(blobs, kept)), 'kept')
    assert.equal(filesIn(directory).length, 1)
    assert.equal(readFileSync(filesIn(directory)[0] ?? '', 'utf8'), 'kept')
  })

  it('takes nothing of two writers and two collectors that work at once', async () => {
    const { blobs, directory, references } = await rig()
    const other = await openBlobFiles({ directory, references })
    const texts = Array.from({ length: 40 }, (_, index) => `text ${index % 5}`)
    const living = await Promise.all(
      texts.map(async (text, index) => {
        const reference = await save(index % 2 === 0 ? blobs : other, Buffer.from(text))
        await Promise.all([blobs.collect(), other.collect()])
        if (index % 3 === 0) await references.remove(reference.id)
        return index % 3 === 0 ? undefined : { text, reference }
      }),
    )
    await Promise.all([blobs.collect(), other.collect()])
    for (const each of living) if (each) assert.equal(String(await readAll(blobs, each.reference)), each.text)
  })
})
