import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { createLoader } from '../../../src/skills/load/index.ts'
import { readManifest } from '../../../src/machine/skill-files/index.ts'
import { catalogOf, errorOf, workFolder } from './rig.ts'

test('a loaded skill has its body with arguments and directory in place, its files, and its revision', async (t) => {
  const folder = workFolder(t)
  const catalog = await catalogOf(folder)
  const loader = createLoader({ catalog: () => catalog })
  const directory = join(folder, 'report')
  const loaded = await loader.load('report', { args: ' sales.csv ' })
  assert.equal(loaded.baseDir, directory)
  assert.equal(
    loaded.content,
    [
      '# Report',
      '',
      `Run \`node ${directory}/scripts/make.mjs\` on:`,
      '',
      'sales.csv',
      '',
      `See ${directory}/references/guide.md and ${directory}/assets/logo.png.`,
    ].join('\n'),
  )
  assert.equal(loaded.treeDigest, (await readManifest(directory)).treeDigest)
  assert.deepEqual(
    loaded.files.map(({ path, executable }) => (executable ? `${path}*` : path)),
    [
      'NOTES.txt',
      'assets/logo.png',
      'references/deep/table.md',
      'references/guide.md',
      'references/same.md',
      'scripts/make.mjs*',
      'scripts/same.md',
    ],
  )
  assert.equal(loaded.isStale, false)
})

test('a skill is loaded by name, by address and by $mention, and the names are those of the catalog', async (t) => {
  const catalog = await catalogOf(workFolder(t))
  const loader = createLoader({ catalog: () => catalog })
  assert.deepEqual(loader.names(), ['arguments', 'plain', 'report'])
  for (const name of ['plain', 'local/plain', '$plain', ' plain ']) {
    assert.equal((await loader.load(name)).skill.name, 'plain')
  }
})

test('declared arguments of the file are used, others are appended', async (t) => {
  const catalog = await catalogOf(workFolder(t))
  const loader = createLoader({ catalog: () => catalog })
  assert.equal(
    (await loader.load('arguments', { args: 'a.csv "b c.csv"' })).content,
    'Compare a.csv with b c.csv. Again: a.csv, b c.csv, all of it: a.csv "b c.csv".\nIt costs $1 and $9.',
  )
  assert.equal((await loader.load('plain', { args: 'x' })).content, 'Say hello. It costs $1.\n\nARGUMENTS: x')
})

test('commands see the directory where the skill was placed', async (t) => {
  const catalog = await catalogOf(workFolder(t))
  const place = async ({ directory }: { directory: string }) => ({
    baseDir: '/skills/report@1',
    treeDigest: (await readManifest(directory)).treeDigest,
  })
  const loader = createLoader({ catalog: () => catalog, place })
  const loaded = await loader.load('report')
  assert.equal(loaded.baseDir, '/skills/report@1')
  assert.match(loaded.content, /node \/skills\/report@1\/scripts\/make\.mjs/)
  assert.equal((await loader.readFile('report', '/skills/report@1/references/guide.md')).content, '# Guide\n')
})

test('an edit is seen by the next call, and the catalog is known to be stale', async (t) => {
  const folder = workFolder(t)
  const catalog = await catalogOf(folder)
  const loader = createLoader({ catalog: () => catalog })
  const before = await loader.load('plain')
  writeFileSync(join(folder, 'plain/SKILL.md'), '---\nname: plain\ndescription: x\n---\nEdited.\n')
  const after = await loader.load('plain')
  assert.equal(after.content, 'Edited.')
  assert.equal(after.isStale, true)
  assert.notEqual(after.treeDigest, before.treeDigest)
})

test('the loader always asks for the catalog of the moment', async (t) => {
  const folder = workFolder(t)
  let catalog = await catalogOf(folder)
  const loader = createLoader({ catalog: () => catalog })
  catalog = await catalogOf(folder, { disabledSkills: ['plain'] })
  assert.equal((await errorOf(loader.load('plain'))).code, 'SKILL_NOT_FOUND')
})

test('an unknown name is answered with the names there are and the one that is near', async (t) => {
  const catalog = await catalogOf(workFolder(t))
  const loader = createLoader({ catalog: () => catalog })
  const error = await errorOf(loader.load('reprot'))
  assert.equal(error.code, 'SKILL_NOT_FOUND')
  assert.equal(error.message, "Skill 'reprot' not found. Available skills: arguments, plain, report")
  assert.equal(error.fix, "Did you mean 'report'?")
  for (const name of ['__proto__', '../plain', 'a\u001b[31m\nb', 'x'.repeat(100_000)]) {
    const { code, message } = await errorOf(loader.load(name))
    assert.equal(code, 'SKILL_NOT_FOUND')
    assert.ok(message.length < 500 && !/[\u001b\n]/.test(message))
  }
  assert.equal((await errorOf(loader.load('  '))).code, 'INVALID_ARGUMENT')
})

test('a list of a thousand names is cut', async (t) => {
  const folder = workFolder(t)
  for (let index = 0; index < 100; index++) {
    mkdirSync(join(folder, `s${index}`))
    writeFileSync(join(folder, `s${index}/SKILL.md`), `---\nname: s${index}\ndescription: x\n---\n`)
  }
  const catalog = await catalogOf(folder)
  const { message } = await errorOf(createLoader({ catalog: () => catalog }).load('nothing'))
  assert.match(message, / and 83 more$/)
})

test('a held skill is not loaded, and the error says why and what to do', async (t) => {
  const folder = workFolder(t)
  writeFileSync(
    join(folder, 'plain/SKILL.md'),
    '---\nname: plain\ndescription: x\nmetadata:\n  requires:\n    bins: [gh]\n---\n',
  )
  const catalog = await catalogOf(folder)
  for (const name of ['plain', 'local/plain']) {
    const error = await errorOf(createLoader({ catalog: () => catalog }).load(name))
    assert.equal(error.code, 'SKILL_NOT_FOUND')
    assert.match(error.fix ?? '', /it is held: missing binary: gh \(Install gh where commands run/)
  }
})

test('nothing of an untrusted source is loaded or read, by name or by address', async (t) => {
  const catalog = await catalogOf(workFolder(t), { trusted: false })
  const loader = createLoader({ catalog: () => catalog })
  assert.deepEqual(loader.names(), [])
  for (const name of ['report', 'local/report']) {
    const error = await errorOf(loader.load(name))
    assert.match(error.fix ?? '', /not trusted .*nexus trust/)
    assert.equal((await errorOf(loader.readFile(name, 'guide.md'))).code, 'SKILL_NOT_FOUND')
  }
})

test('a skill that cannot be read is SKILL_INVALID with file, line and fix', async (t) => {
  const folder = workFolder(t)
  const catalog = await catalogOf(folder)
  const loader = createLoader({ catalog: () => catalog })
  const known = await errorOf(loader.load('invalid'))
  assert.equal(known.code, 'SKILL_INVALID')
  assert.match(known.message, /invalid\/SKILL\.md:\d+\)/)
  writeFileSync(join(folder, 'plain/SKILL.md'), '---\nname: plain\nname: twice\n---\n')
  const broken = await errorOf(loader.load('plain'))
  assert.equal(broken.code, 'SKILL_INVALID')
  assert.match(broken.message, /plain\/SKILL\.md:\d+\)/)
  assert.ok(broken.fix)
})

test('a skill that was deleted or renamed is not found any more', async (t) => {
  const folder = workFolder(t)
  const catalog = await catalogOf(folder)
  const loader = createLoader({ catalog: () => catalog })
  rmSync(join(folder, 'plain'), { recursive: true })
  renameSync(join(folder, 'report'), join(folder, 'elsewhere'))
  for (const name of ['plain', 'report']) {
    const error = await errorOf(loader.load(name))
    assert.equal(error.code, 'SKILL_NOT_FOUND')
    assert.match(error.message, /not found any more: .*SKILL\.md is gone/)
  }
})

test('a skill that is deleted while it is placed is a typed error', async (t) => {
  const folder = workFolder(t)
  const catalog = await catalogOf(folder)
  const place = async () => {
    rmSync(join(folder, 'report'), { recursive: true, force: true })
    return { baseDir: '/x', treeDigest: 'sha256:other' }
  }
  assert.equal((await errorOf(createLoader({ catalog: () => catalog, place }).load('report'))).code, 'SKILL_NOT_FOUND')
})

test('text, files and revision belong together: a skill that keeps changing is a conflict', async (t) => {
  const folder = workFolder(t)
  const catalog = await catalogOf(folder)
  let edits = 0
  const place = async ({ directory }: { directory: string }) => {
    writeFileSync(join(directory, 'NOTES.txt'), `edit ${edits++}`)
    return { baseDir: '/x', treeDigest: (await readManifest(directory)).treeDigest }
  }
  assert.equal((await errorOf(createLoader({ catalog: () => catalog, place }).load('report'))).code, 'CONFLICT')
  const once = async ({ directory }: { directory: string }) => {
    if (edits++ === 3) writeFileSync(join(directory, 'NOTES.txt'), 'the last edit')
    return { baseDir: '/x', treeDigest: (await readManifest(directory)).treeDigest }
  }
  const loaded = await createLoader({ catalog: () => catalog, place: once }).load('report')
  assert.equal(loaded.treeDigest, (await readManifest(join(folder, 'report'))).treeDigest)
})

test('a SKILL.md over 1 MiB, or one that became a link, is refused', async (t) => {
  const folder = workFolder(t)
  const catalog = await catalogOf(folder)
  const loader = createLoader({ catalog: () => catalog })
  writeFileSync(join(folder, 'plain/SKILL.md'), `---\nname: plain\ndescription: x\n---\n${'x'.repeat(1_048_576)}`)
  assert.equal((await errorOf(loader.load('plain'))).code, 'LIMIT_EXCEEDED')
  rmSync(join(folder, 'plain/SKILL.md'))
  symlinkSync('/etc/hostname', join(folder, 'plain/SKILL.md'))
  assert.equal((await errorOf(loader.load('plain'))).code, 'PATH_OUTSIDE')
})

test('a cancelled load ends with CANCELLED', async (t) => {
  const catalog = await catalogOf(workFolder(t))
  const loader = createLoader({ catalog: () => catalog })
  assert.equal((await errorOf(loader.load('plain', { signal: AbortSignal.abort() }))).code, 'CANCELLED')
  const controller = new AbortController()
  const place = async (): Promise<never> => {
    controller.abort()
    throw new Error('killed')
  }
  const placing = createLoader({ catalog: () => catalog, place }).load('plain', { signal: controller.signal })
  assert.equal((await errorOf(placing)).code, 'CANCELLED')
  assert.equal(
    (await errorOf(loader.readFile('report', 'guide.md', { signal: AbortSignal.abort() }))).code,
    'CANCELLED',
  )
})
