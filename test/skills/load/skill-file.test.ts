import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'

import { createLoader, type Loader } from '../../../src/skills/load/index.ts'
import { catalogOf, errorOf, workFolder } from './rig.ts'

async function rig(t: TestContext, maxFileBytes?: number): Promise<{ loader: Loader; directory: string }> {
  const folder = workFolder(t)
  const catalog = await catalogOf(folder)
  const limit = maxFileBytes === undefined ? {} : { maxFileBytes }
  return { loader: createLoader({ catalog: () => catalog, ...limit }), directory: join(folder, 'report') }
}

test('a file is read by its path from scripts, references, assets, deeper, or the top', async (t) => {
  const { loader, directory } = await rig(t)
  for (const [asked, path, content] of [
    ['references/guide.md', 'references/guide.md', '# Guide\n'],
    ['references/same.md', 'references/same.md', 'the reference\n'],
    ['references/deep/table.md', 'references/deep/table.md', '# Deep\n'],
    ['./references/guide.md', 'references/guide.md', '# Guide\n'],
    ['references\\guide.md', 'references/guide.md', '# Guide\n'],
    ['{baseDir}/references/guide.md', 'references/guide.md', '# Guide\n'],
    [`${directory}/references/guide.md`, 'references/guide.md', '# Guide\n'],
    ['NOTES.txt', 'NOTES.txt', 'root note\n'],
  ] as const) {
    const file = await loader.readFile('report', asked)
    assert.deepEqual([file.path, file.content, file.encoding], [path, content, 'utf-8'], asked)
  }
})

test('a bare name is looked for in scripts, then references, then assets, then the top, then deeper', async (t) => {
  const { loader } = await rig(t)
  for (const [asked, path] of [
    ['same.md', 'scripts/same.md'],
    ['guide.md', 'references/guide.md'],
    ['logo.png', 'assets/logo.png'],
    ['SKILL.md', 'SKILL.md'],
    ['table.md', 'references/deep/table.md'],
  ] as const) {
    assert.equal((await loader.readFile('report', asked)).path, path)
  }
})

test('a bare name that several deeper files have is answered with their paths', async (t) => {
  const { loader, directory } = await rig(t)
  mkdirSync(join(directory, 'references/other'))
  writeFileSync(join(directory, 'references/other/table.md'), 'x')
  const error = await errorOf(loader.readFile('report', 'table.md'))
  assert.match(error.message, /Available files: \[references\/deep\/table\.md, references\/other\/table\.md\]$/)
})

test('a script is told to be executable, and what a text is', async (t) => {
  const { loader } = await rig(t)
  const script = await loader.readFile('report', 'make.mjs')
  assert.deepEqual([script.executable, script.mediaType], [true, 'text/javascript'])
  const guide = await loader.readFile('report', 'guide.md')
  assert.deepEqual([guide.executable, guide.mediaType, guide.size], [false, 'text/markdown', 8])
})

test('a binary file comes as base64 with its kind', async (t) => {
  const { loader, directory } = await rig(t)
  const logo = await loader.readFile('report', 'assets/logo.png')
  assert.deepEqual([logo.encoding, logo.mediaType], ['base64', 'image/png'])
  assert.equal(Buffer.from(logo.content, 'base64').toString('latin1'), '\x89PNG\r\n\x1a\n\x00\x00')
  for (const [bytes, mediaType] of [
    [Buffer.from('%PDF-1.7\n\x00'), 'application/pdf'],
    [Buffer.from('RIFF\x00\x00\x00\x00WEBPVP8 '), 'image/webp'],
    [Buffer.from([0xff, 0xfe, 0x41, 0x00]), 'application/octet-stream'],
    [Buffer.from('caf\xe9', 'latin1'), 'application/octet-stream'],
  ] as const) {
    writeFileSync(join(directory, 'assets/any.bin'), bytes)
    const file = await loader.readFile('report', 'any.bin')
    assert.deepEqual([file.encoding, file.mediaType], ['base64', mediaType])
  }
  writeFileSync(join(directory, 'assets/empty'), '')
  assert.deepEqual((await loader.readFile('report', 'empty')).content, '')
})

test('a file that is not there is answered with those that are', async (t) => {
  const { loader } = await rig(t)
  const error = await errorOf(loader.readFile('report', 'references/none.md'))
  assert.equal(error.code, 'FILE_NOT_FOUND')
  assert.match(
    error.message,
    /^File 'references\/none\.md' of skill 'report' not found\. Available files: \[NOTES\.txt, SKILL\.md, /,
  )
  assert.match(error.message, /scripts\/make\.mjs, scripts\/same\.md\]$/)
})

test('no path leads out of the skill', async (t) => {
  const { loader, directory } = await rig(t)
  symlinkSync('/etc/passwd', join(directory, 'references/p.md'))
  symlinkSync('..', join(directory, 'up'))
  for (const path of [
    '../plain/SKILL.md',
    'references/../../plain/SKILL.md',
    '/etc/passwd',
    'C:\\x',
    'references/p.md',
    'p.md',
    'up/plain/SKILL.md',
  ]) {
    assert.equal((await errorOf(loader.readFile('report', path))).code, 'PATH_OUTSIDE', path)
  }
  assert.equal((await loader.readFile('report', 'references/guide.md')).content, '# Guide\n')
  assert.equal((await loader.readFile('report', 'scripts/../SKILL.md')).path, 'SKILL.md')
})

test('hidden files are not offered', async (t) => {
  const { loader, directory } = await rig(t)
  mkdirSync(join(directory, '.git'))
  writeFileSync(join(directory, '.env'), 'TOKEN=x')
  writeFileSync(join(directory, '.git/config'), 'x')
  for (const path of ['.env', './.env', 'scripts/../.env', '.git/config']) {
    const error = await errorOf(loader.readFile('report', path))
    assert.equal(error.code, 'FILE_NOT_FOUND')
    assert.doesNotMatch(error.message, /TOKEN/)
  }
  assert.deepEqual(
    (await loader.load('report')).files.filter(({ path }) => path.startsWith('.')),
    [],
  )
})

test('paths that are none are refused by name', async (t) => {
  const { loader } = await rig(t)
  for (const path of ['', '  ', 'references/a\u0000b', 'references', 'x'.repeat(5000), '.']) {
    assert.equal(
      (await errorOf(loader.readFile('report', path))).code,
      'INVALID_ARGUMENT',
      JSON.stringify(path.slice(0, 20)),
    )
  }
})

test('a file over the limit is refused with its size and the limit', async (t) => {
  const { loader } = await rig(t, 7)
  const error = await errorOf(loader.readFile('report', 'guide.md'))
  assert.equal(error.code, 'LIMIT_EXCEEDED')
  assert.match(error.message, /8 bytes.*7/)
  assert.match(error.fix ?? '', /head or grep/)
})

test('a directory of the same name does not hide a file further down the order', async (t) => {
  const { loader, directory } = await rig(t)
  mkdirSync(join(directory, 'scripts/guide.md'))
  assert.equal((await loader.readFile('report', 'guide.md')).path, 'references/guide.md')
})
