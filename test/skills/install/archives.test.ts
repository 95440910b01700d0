import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { isNexusError } from '../../../src/kernel/index.ts'
import { openSource, scopeOf } from '../../../src/skills/install/index.ts'
import { Refused } from '../../../src/skills/install/archive/limits.ts'
import { readTarGz } from '../../../src/skills/install/archive/tar.ts'
import { readZip } from '../../../src/skills/install/archive/zip.ts'
import { skillText } from './git-server.ts'

interface Part {
  readonly name: string | Buffer
  readonly text?: string | Buffer
  readonly mode?: number
  /** What the headers say instead of the truth. */
  readonly lies?: Partial<Record<'local' | 'size' | 'crc' | 'flags' | 'method' | 'at', string | number>>
  readonly extra?: Buffer
}

/** Both headers of an entry, and its data after the first. */
function headersOf({ name, text = '', mode = 0o100644, lies = {}, extra = Buffer.alloc(0) }: Part, at: number) {
  const bytes = Buffer.from(text)
  const packed = deflateRawSync(bytes)
  const nameBytes = Buffer.from(name)
  const said = {
    flags: 0x800,
    method: 8,
    crc: crc32(bytes),
    size: bytes.length,
    at,
    local: nameBytes.toString('latin1'),
    ...lies,
  }
  const common = Buffer.alloc(26)
  common.writeUInt16LE(20, 0)
  common.writeUInt16LE(Number(said.flags), 2)
  common.writeUInt16LE(Number(said.method), 4)
  common.writeUInt32LE(Number(said.crc), 10)
  common.writeUInt32LE(packed.length, 14)
  common.writeUInt32LE(Number(said.size), 18)
  common.writeUInt16LE(nameBytes.length, 22)
  common.writeUInt16LE(extra.length, 24)
  const localName = Buffer.from(String(said.local), 'latin1')
  const rest = Buffer.alloc(14)
  rest.writeUInt32LE(mode * 0x10000, 6)
  rest.writeUInt32LE(Number(said.at), 10)
  return {
    local: Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), common, localName, extra, packed]),
    entry: Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\u0003', 'latin1'), common, rest, nameBytes, extra]),
  }
}

/** A zip as a hostile writer makes it. */
function zipOf(parts: readonly Part[], { count = parts.length, after = '', before = '' } = {}): Buffer {
  const locals: Buffer[] = [Buffer.from(before)]
  const central: Buffer[] = []
  let at = before.length
  for (const part of parts) {
    const { local, entry } = headersOf(part, at)
    locals.push(local)
    central.push(entry)
    at += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 'latin1')
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, directory, end, Buffer.from(after)])
}

const SKILL: Part = { name: 'a/SKILL.md', text: skillText('a') }

const ZIPS: Readonly<Record<string, Buffer>> = {
  'leaves by ..': zipOf([SKILL, { name: '../x' }]),
  '.. in the middle': zipOf([SKILL, { name: 'a/../../x' }]),
  'an absolute name': zipOf([SKILL, { name: '/etc/x' }]),
  'a backslash': zipOf([SKILL, { name: 'a\\..\\x' }]),
  'a drive': zipOf([SKILL, { name: 'C:/x' }]),
  'a control character': zipOf([SKILL, { name: 'a/b\nc' }]),
  'a bidirectional mark': zipOf([SKILL, { name: 'a/b\u202ec' }]),
  'bytes that are not UTF-8': zipOf([SKILL, { name: Buffer.from([0x61, 0x2f, 0xff]) }]),
  'a device of Windows': zipOf([SKILL, { name: 'a/nul.txt' }]),
  'a trailing dot': zipOf([SKILL, { name: 'a/b.' }]),
  '.git': zipOf([SKILL, { name: 'a/.git/config' }]),
  'a long name': zipOf([SKILL, { name: `a/${'b'.repeat(600)}` }]),
  'a deep name': zipOf([SKILL, { name: 'a/'.repeat(20) }]),
  'a link': zipOf([SKILL, { name: 'a/link', text: '/etc/passwd', mode: 0o120777 }]),
  'a FIFO': zipOf([SKILL, { name: 'a/fifo', mode: 0o010644 }]),
  'one name twice': zipOf([SKILL, SKILL]),
  'names that differ in case': zipOf([SKILL, { name: 'A/skill.md' }]),
  'a file that is a directory': zipOf([SKILL, { name: 'a/SKILL.md/x' }]),
  'two headers that differ': zipOf([{ ...SKILL, lies: { local: 'b/SKILL.md' } }]),
  'a wrong checksum': zipOf([{ ...SKILL, lies: { crc: 7 } }]),
  'a size that is too small': zipOf([{ ...SKILL, lies: { size: 10 } }]),
  'a size that is too large': zipOf([{ ...SKILL, lies: { size: 10_000 } }]),
  'entries that overlap': zipOf([SKILL, { ...SKILL, name: 'b/SKILL.md', lies: { at: 0, local: 'a/SKILL.md' } }]),
  encryption: zipOf([{ ...SKILL, lies: { flags: 0x801 } }]),
  'an unknown method': zipOf([{ ...SKILL, lies: { method: 99 } }]),
  'another name in an extra field': zipOf([{ ...SKILL, extra: Buffer.from([0x75, 0x70, 1, 0, 0]) }]),
  'fewer entries than it says': zipOf([SKILL], { count: 2 }),
  'more entries than it says': zipOf([SKILL, { name: 'a/x' }], { count: 1 }),
  '70,000 entries': zipOf([SKILL], { count: 0xffff }),
  'something after its end': zipOf([SKILL], { after: 'more' }),
  'something before its beginning': zipOf([SKILL], { before: '#!/bin/sh\n' }),
  'a second end': Buffer.concat([zipOf([SKILL]), zipOf([SKILL])]),
  'a bomb': zipOf([SKILL, { name: 'a/bomb', text: Buffer.alloc(9_000_000) }]),
  nothing: Buffer.alloc(0),
  'no entry': zipOf([]),
  text: Buffer.from('this is no archive, and it is longer than an end record would be'),
  'a cut': zipOf([SKILL]).subarray(0, 60),
}

test('a zip that two readers could read in two ways, or that would leave, is refused whole', () => {
  for (const [about, zip] of Object.entries(ZIPS)) {
    const begun = performance.now()
    assert.throws(() => readZip(zip), Refused, about)
    assert.ok(performance.now() - begun < 1_000, about)
  }
})

function tarPart(name: string, { type = '0', text = '', size = '', mode = '644', link = '' } = {}): Buffer {
  const header = Buffer.alloc(512)
  header.write(name, 0, 'latin1')
  header.write(mode.padStart(7, '0'), 100)
  header.write((size || text.length.toString(8)).padStart(11, '0'), 124, 'latin1')
  header.write('        ', 148)
  header.write(type, 156)
  header.write(link, 157)
  header.write('ustar\u000000', 257, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return Buffer.concat([header, Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)])
}

const TAIL = Buffer.alloc(1024)
const inTar = (...parts: Buffer[]): Buffer =>
  gzipSync(Buffer.concat([tarPart('a/SKILL.md', { text: skillText('a') }), ...parts, TAIL]))

const TARS: Readonly<Record<string, Buffer>> = {
  'leaves by ..': inTar(tarPart('../x')),
  'an absolute name': inTar(tarPart('/etc/x')),
  'a symbolic link': inTar(tarPart('a/l', { type: '2', link: '/etc/passwd' })),
  'a hard link': inTar(tarPart('a/l', { type: '1', link: '/etc/passwd' })),
  'a device': inTar(tarPart('a/d', { type: '3' })),
  'a FIFO': inTar(tarPart('a/f', { type: '6' })),
  'a pax path': inTar(tarPart('x', { type: 'x', text: '16 path=../evil\n' })),
  'a global pax path': inTar(tarPart('x', { type: 'g', text: '16 path=../evil\n' })),
  'a GNU long name': inTar(tarPart('././@LongLink', { type: 'L', text: '../evil' })),
  'a size in base 256': inTar(tarPart('a/x', { size: '\u0080' })),
  'a size beyond the end': inTar(tarPart('a/x', { size: '7777777' })),
  'one name twice': inTar(tarPart('a/SKILL.md', { text: 'other' })),
  'something after its end': gzipSync(Buffer.concat([tarPart('a/SKILL.md'), TAIL, Buffer.from('more')])),
  'zeros after its end': gzipSync(Buffer.concat([tarPart('a/SKILL.md'), Buffer.alloc(64 * 1024 * 1024)])),
  'a bomb': inTar(tarPart('a/x', { text: '\0'.repeat(9_000_000) })),
  nothing: gzipSync(TAIL),
  text: Buffer.from('this is no gzip'),
  'a cut': inTar().subarray(0, 60),
}

test('a tar.gz with links, devices, overriding headers, lies or bombs is refused whole, within a second', () => {
  for (const [about, tar] of Object.entries(TARS)) {
    const begun = performance.now()
    assert.throws(() => readTarGz(tar), Refused, about)
    assert.ok(performance.now() - begun < 1_000, about)
  }
})

function ground(t: { after: (fn: () => void) => void }) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-archive-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const nexusHome = join(root, 'home')
  return {
    root,
    scope: scopeOf({ kind: 'workspace', directory: root, nexusHome, stateDirectory: join(nexusHome, 'state') }),
  }
}

test('archives of zip, tar and git give the same skill, with setuid and other bits gone', async (t) => {
  const { root, scope } = ground(t)
  mkdirSync(join(root, 'a/scripts'), { recursive: true })
  writeFileSync(join(root, 'a/SKILL.md'), skillText('a'))
  writeFileSync(join(root, 'a/scripts/go.sh'), '#!/bin/sh\n', { mode: 0o755 })
  const made = [
    ['tar', '--format=ustar', '-czf', 'a.tar.gz', 'a'],
    ['git', 'init', '-q'],
    ['git', 'add', 'a'],
    ['git', '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'a'],
    ['git', 'archive', '--format=tar.gz', '--prefix=repo-1/', '-o', 'git.tar.gz', 'HEAD'],
    ['git', 'archive', '--format=zip', '--prefix=repo-1/', '-o', 'git.zip', 'HEAD'],
  ]
  for (const [program = '', ...args] of made)
    assert.equal(spawnSync(program, args, { cwd: root }).status, 0, args.join(' '))
  const zip = zipOf([
    SKILL,
    { name: 'a/scripts/', mode: 0o040755 },
    { name: 'a/scripts/go.sh', text: '#!/bin/sh\n', mode: 0o104755 },
    { name: '__MACOSX/x' },
  ])
  writeFileSync(join(root, 'own.skill'), zip)
  const digests = new Set<string>()
  for (const name of ['a.tar.gz', 'git.tar.gz', 'git.zip', 'own.skill']) {
    await using source = await openSource({ type: 'archive', path: join(root, name) }, { scope, home: root })
    const [read] = await source.read(source.candidates)
    assert.ok(read, name)
    assert.deepEqual(
      read.files.map(({ path, executable }) => [path, executable]),
      [
        ['SKILL.md', false],
        ['scripts/go.sh', true],
      ],
      name,
    )
    digests.add(read.digest)
  }
  assert.equal(digests.size, 1)
})

test('an archive comes from an address, and one that is refused or too large leaves nothing', async (t) => {
  const { root, scope } = ground(t)
  const served: Readonly<Record<string, Buffer>> = {
    '/a.zip': zipOf([SKILL]),
    '/evil.zip': ZIPS['leaves by ..'] as Buffer,
    '/large.zip': Buffer.alloc(26 * 1024 * 1024),
  }
  const server = createServer((request, response) => {
    const body = served[request.url ?? '']
    response.writeHead(body ? 200 : 404).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const open = (name: string) =>
    openSource(
      { type: 'archive-url', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}` },
      { scope, home: root },
    )
  await using source = await open('a.zip')
  assert.deepEqual(
    source.candidates.map(({ name, path }) => [name, path]),
    [['a', 'a']],
  )
  await assert.rejects(open('evil.zip'), { code: 'SKILL_INVALID' })
  await assert.rejects(open('large.zip'), { code: 'LIMIT_EXCEEDED' })
  await assert.rejects(open('absent.zip'), { code: 'NETWORK_FAILED' })
  assert.deepEqual(readdirSync(root), [])
})

test('the process that unpacks can read no file of the user, write none and start nothing', (t) => {
  const { root } = ground(t)
  writeFileSync(join(root, 'secret'), 'secret')
  const folder = join(import.meta.dirname, '../../../src/skills/install/archive')
  const tries = [
    `require('fs').readFileSync('${root}/secret')`,
    `require('fs').writeFileSync('${root}/x', '')`,
    `require('child_process').spawnSync('true')`,
  ]
  for (const code of tries) {
    const ended = spawnSync(process.execPath, ['--permission', `--allow-fs-read=${folder}`, '-e', code], {
      encoding: 'utf8',
    })
    assert.match(ended.stderr, /ERR_ACCESS_DENIED/, code)
  }
  assert.match(readFileSync(join(folder, 'open-archive.ts'), 'utf8'), /'--permission'/)
})

test('whatever is changed in an archive, it is read as before or refused', () => {
  const zip = zipOf([SKILL, { name: 'a/x.txt', text: 'content of x' }])
  const tar = inTar(tarPart('a/x.txt', { text: 'content of x' }))
  const runs = 500 * Number(process.env['TEST_ROUNDS'] ?? 3)
  const change = fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(change, fc.boolean(), (changes, isZip) => {
      const bytes = Buffer.from(isZip ? zip : tar)
      for (const [at, value] of changes) bytes[at % bytes.length] = value
      try {
        const files = isZip ? readZip(bytes) : readTarGz(bytes)
        for (const { path } of files) assert.ok(!path.split('/').includes('..') && !path.startsWith('/'))
      } catch (error) {
        assert.ok(error instanceof Refused || isNexusError(error), String(error))
      }
    }),
    { numRuns: runs, seed: 30 },
  )
})
