import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gate, NO_GATE_RULES } from '../../../src/skills/gate/index.ts'
import type { Skill } from '../../../src/kernel/index.ts'
import { createFolderSource } from '../../../src/skills/sources/index.ts'
import { skillText, summary, temporaryDirectory, writeFiles } from './temporary.ts'

function source(path: string) {
  return createFolderSource({ id: 'test', tier: 'extra', rank: 0, trusted: false, path })
}

async function only(directory: string): Promise<Skill> {
  const { skills } = await source(directory).discover()
  assert.equal(skills.length, 1)
  return skills[0] as Skill
}

const GATED = `---
name: a
description: Does a thing.
license: MIT
metadata:
  openclaw:
    requires:
      bins: [gh]
    install:
      - kind: brew
        formula: gh
user-invocable: false
---
Body.
`

test('a file that ends in its first line takes no text of the file that was read before it', async (t) => {
  const directory = temporaryDirectory(t)
  const other = '........\nname: b\ndescription: Text of another file.\n---\n'
  for (const opener of ['---     ', '---    \r']) {
    writeFiles(directory, { 'a/SKILL.md': other, 'b/SKILL.md': opener })
    assert.deepEqual(summary(await source(directory).discover()).skills, [])
  }
})

test('what is asked for later is what the file said when the skill was found', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'a/SKILL.md': GATED })
  const skill = await only(directory)
  writeFileSync(join(directory, 'a/SKILL.md'), skillText('a', 'Changed.'))
  assert.equal(skill.description, 'Does a thing.')
  assert.deepEqual(skill.metadata.requires.bins, ['gh'])
  assert.deepEqual({ ...skill.metadata.install[0]?.details }, { formula: 'gh' })
  assert.deepEqual([skill.license, skill.compatibility, skill.invocation.user], ['MIT', undefined, false])
  assert.deepEqual(Object.keys(skill.frontmatter), ['name', 'description', 'license', 'metadata', 'user-invocable'])
})

test('skills that are read into one buffer keep their own texts', async (t) => {
  const directory = temporaryDirectory(t)
  const names = Array.from({ length: 300 }, (_, index) => `skill-${String(index).padStart(3, '0')}`)
  for (const name of names)
    writeFiles(directory, {
      [`${name}/SKILL.md`]: GATED.replace('name: a', `name: ${name}`).replace('[gh]', `[${name}]`),
    })
  const { skills } = await source(directory).discover()
  assert.deepEqual(
    skills.map(({ name, frontmatter, metadata }) => [name, frontmatter['name'], metadata.requires.bins[0]]),
    names.map((name) => [name, name, name]),
  )
})

test('a frontmatter beyond the first 4 KiB is read to its end', async (t) => {
  const directory = temporaryDirectory(t)
  const long = `when: |\n${'  a line of text\n'.repeat(2_000)}`
  writeFiles(directory, { 'a/SKILL.md': `---\nname: a\n${long}description: After it.\n---\n` })
  assert.equal((await only(directory)).description, 'After it.')
})

test('a frontmatter of any size around that limit is read alike', async (t) => {
  const directory = temporaryDirectory(t)
  const sizes = [4_080, 4_090, 4_091, 4_092, 4_093, 4_094, 4_095, 4_096, 4_097, 4_098, 4_099, 4_100, 4_110]
  for (const size of sizes) {
    const head = `---\nname: s${size}\ndescription: Does it.\nx: ""\n---`
    const text = head.replace('""', `"${'x'.repeat(size - head.length)}"`)
    writeFiles(directory, {
      [`s${size}/SKILL.md`]: text,
      [`t${size}/SKILL.md`]: `${text}-\n`,
      [`u${size}/SKILL.md`]: `${text}\nbody`,
    })
  }
  const { skills, invalid } = await source(directory).discover()
  assert.deepEqual(
    skills.map(({ directory: path }) => path.slice(directory.length + 1)),
    [...sizes.map((size) => `s${size}`), ...sizes.map((size) => `u${size}`)],
  )
  assert.deepEqual(
    invalid.map(({ diagnostics }) => diagnostics[0]?.code),
    sizes.map(() => 'frontmatter-unterminated'),
  )
})

test('bytes that are not UTF-8 and NULs are findings, in the frontmatter and in the body', async (t) => {
  const directory = temporaryDirectory(t)
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1')
  const long = 'x'.repeat(5_000)
  writeFiles(directory, {
    'a-head/SKILL.md': latin(`---\nname: a-head\ndescription: Caf\u00e9 help.\n---\n${long}`),
    'b-body/SKILL.md': latin('---\nname: b-body\ndescription: Help.\n---\nCaf\u00e9\n'),
    'c-nul/SKILL.md': '---\nname: c-nul\ndescription: Help.\n---\na\0b\n',
    'd-cut/SKILL.md': `---\nname: d-cut\ndescription: Help — “so”.\n---\n${'é'.repeat(4_000)}`,
    'f-nul/SKILL.md': `---\nname: f-nul\ndescription: Help.\n---\n${long}\0`,
    'e-far/SKILL.md': latin(`---\nname: e-far\ndescription: Help.\n---\n${long}\u00e9`),
  })
  const { skills, invalid } = await source(directory).discover()
  assert.deepEqual(
    skills.map(({ name, diagnostics }) => [name, diagnostics.map(({ code }) => code)]),
    [
      ['a-head', ['encoding-invalid']],
      ['b-body', ['encoding-invalid']],
      ['d-cut', []],
      ['e-far', ['encoding-invalid']],
    ],
  )
  assert.deepEqual(
    invalid.map(({ name, diagnostics }) => [name, diagnostics[0]?.code]),
    [
      ['c-nul', 'nul-character'],
      ['f-nul', 'nul-character'],
    ],
  )
})

test('a skill as JSON has every property of a skill', async (t) => {
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'a/SKILL.md': GATED })
  const skill = await only(directory)
  const json = JSON.parse(JSON.stringify(skill)) as Record<string, unknown>
  for (const key of [
    'name',
    'description',
    'license',
    'metadata',
    'frontmatter',
    'origin',
    'directory',
    'file',
    'stamp',
  ] as const) {
    assert.deepEqual(json[key], JSON.parse(JSON.stringify(skill[key])), key)
  }
  assert.ok(!('body' in json))
})

test('a description of nothing but blanks of any alphabet says nothing, so the gate holds the skill', async (t) => {
  const facts = { target: 't', os: 'linux', hasBin: () => true, hasEnv: () => true }
  for (const blank of ['"\u00a0"', '\u3000', '|\n  \u3000\u3000', '"\ufeff"', '"\u2028"', '"  \u00a0 "']) {
    const directory = temporaryDirectory(t)
    writeFiles(directory, { 'a/SKILL.md': skillText('a', blank) })
    const { skills } = await source(directory).discover()
    const codes = gate(skills, facts, NO_GATE_RULES).held.flatMap(({ reasons }) => reasons.map(({ code }) => code))
    assert.ok(codes.includes('missing-description'), JSON.stringify(blank))
  }
})

test('a skill under another file name is invalid, one in an archive is reported, and other texts are neither', async (t) => {
  const root = temporaryDirectory(t)
  writeFiles(root, {
    'txt/SKILL.md.txt': skillText('txt'),
    'readme/README.md': skillText('readme'),
    'docs/README.md': '# Documents\n',
    'docs/skills.md': '# Skills\n',
    'good/SKILL.md': skillText('good'),
    'good/README.md': skillText('good'),
    'good/old.zip': 'PK',
    'packed.zip': 'PK',
    'packed.skill': 'PK',
  })
  const { invalid, diagnostics } = await source(root).discover()
  assert.deepEqual(
    invalid.map(({ diagnostics: [found] }) => [found?.code, found?.fix]),
    [
      ['skill-file-name', `Rename it to SKILL.md: mv ${root}/readme/README.md ${root}/readme/SKILL.md`],
      ['skill-file-name', `Rename it to SKILL.md: mv ${root}/txt/SKILL.md.txt ${root}/txt/SKILL.md`],
    ],
  )
  assert.deepEqual(
    diagnostics.map(({ code, fix }) => [code, fix]),
    ['packed.skill', 'packed.zip'].map((name) => [
      'skill-archive',
      `Unpack it: unzip ${root}/${name} -d ${root}/packed`,
    ]),
  )
})
