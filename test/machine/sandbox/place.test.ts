import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Skill } from '../../../src/kernel/index.ts'
import { readManifest } from '../../../src/machine/skill-files/index.ts'
import { openDirectory, openRig, STATE_DIR } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false

/** A skill with a script; only what `place` reads of it. */
function makeSkill(context: TestContext, name = 'my skill'): Skill {
  const parent = openDirectory()
  context.after(() => rmSync(parent, { recursive: true, force: true }))
  const directory = join(parent, name)
  mkdirSync(join(directory, 'scripts'), { recursive: true })
  writeFileSync(join(directory, 'SKILL.md'), '---\nname: x\ndescription: y\n---\nbody\n')
  writeFileSync(join(directory, 'scripts/run.sh'), '#!/bin/sh\necho "from $0"\n', { mode: 0o700 })
  return { name, directory } as Skill
}

test('a placed skill runs from its base directory and cannot be changed by commands', { skip }, async (context) => {
  const { sandbox, run } = await openRig(context)
  const skill = makeSkill(context)
  const { baseDir, treeDigest } = await sandbox.place(skill)
  assert.equal(treeDigest, (await readManifest(skill.directory)).treeDigest)
  assert.match(baseDir, /\/[0-9a-f]{64}\/my-skill$/)
  const { stdout, stderr } = await run(
    `${baseDir}/scripts/run.sh; echo x > ${baseDir}/SKILL.md; touch ${baseDir}/new; rm -rf ${baseDir}; cat ${baseDir}/SKILL.md | tail -1`,
  )
  assert.equal(stdout, `from ${baseDir}/scripts/run.sh\nbody\n`)
  assert.match(stderr, /Read-only file system|Permission denied/)
})

test('a linked SKILL.md is placed as a file, and links beside it are not placed', { skip }, async (context) => {
  const { sandbox } = await openRig(context)
  const plain = makeSkill(context, 'linked')
  const linkedTo = join(plain.directory, '..', 'shared.md')
  renameSync(join(plain.directory, 'SKILL.md'), linkedTo)
  symlinkSync('../shared.md', join(plain.directory, 'SKILL.md'))
  symlinkSync('/etc/passwd', join(plain.directory, 'scripts/passwd'))
  const skill = { ...plain, linkedTo }
  const { baseDir, treeDigest } = await sandbox.place(skill)
  assert.equal(treeDigest, (await readManifest(skill)).treeDigest)
  assert.ok(lstatSync(join(baseDir, 'SKILL.md')).isFile())
  assert.match(readFileSync(join(baseDir, 'SKILL.md'), 'utf8'), /body/)
  assert.deepEqual(readdirSync(join(baseDir, 'scripts')), ['run.sh'])
})

test('the same content is placed once, other content beside it', { skip }, async (context) => {
  const { sandbox } = await openRig(context)
  const skill = makeSkill(context, 'once')
  const first = await sandbox.place(skill)
  const inode = statSync(first.baseDir).ino
  const [again, third] = await Promise.all([sandbox.place(skill), sandbox.place(skill)])
  assert.deepEqual([again, third, statSync(again.baseDir).ino], [first, first, inode])
  writeFileSync(join(skill.directory, 'SKILL.md'), 'changed')
  const other = await sandbox.place(skill)
  assert.notEqual(other.treeDigest, first.treeDigest)
  assert.match(readFileSync(join(first.baseDir, 'SKILL.md'), 'utf8'), /body/)
})

test(
  'two sandboxes that place the same content at once both get it, and nothing half-made is left',
  { skip },
  async (context) => {
    const rigs = await Promise.all([openRig(context), openRig(context)])
    const skill = makeSkill(context, 'twice')
    const placed = await Promise.all(rigs.flatMap(({ sandbox }) => [sandbox.place(skill), sandbox.place(skill)]))
    assert.equal(new Set(placed.map(({ baseDir }) => baseDir)).size, 1)
    const home = join(STATE_DIR, 'projects/default/revisions', placed[0]?.treeDigest.slice('sha256:'.length) ?? '')
    assert.deepEqual(
      readdirSync(home).filter((name) => name.startsWith('.part')),
      [],
    )
  },
)

test(
  'placed files keep their x-bit, are readable for all and writable for none, and their owner can remove them',
  { skip },
  async (context) => {
    const { sandbox } = await openRig(context)
    const skill = makeSkill(context, 'modes')
    chmodSync(join(skill.directory, 'SKILL.md'), 0o600)
    const { baseDir } = await sandbox.place(skill)
    const modeOf = (path: string): number => statSync(join(baseDir, path)).mode & 0o777
    assert.deepEqual(['SKILL.md', 'scripts/run.sh', 'scripts', ''].map(modeOf), [0o444, 0o555, 0o755, 0o755])
  },
)

test('a skill that is placed by one project is not seen by another', { skip }, async (context) => {
  const one = await openRig(context, { projectId: 'place-one' })
  const two = await openRig(context, { projectId: 'place-two' })
  const { baseDir } = await one.sandbox.place(makeSkill(context, 'mine'))
  assert.equal((await one.run(`test -e ${baseDir} && echo seen`)).stdout, 'seen\n')
  assert.equal((await two.run(`test -e ${baseDir} && echo seen`)).stdout, '')
})

test('facts are known without starting anything', { skip }, async (context) => {
  const stateDir = join(openDirectory(), 'state')
  context.after(() => rmSync(join(stateDir, '..'), { recursive: true, force: true }))
  const { sandbox } = await openRig(context, { stateDir })
  const facts = await sandbox.facts()
  assert.equal(existsSync(join(stateDir, 'stages')) && readdirSync(join(stateDir, 'stages')).length > 0, false)
  assert.equal(facts.os, 'linux')
  assert.equal(facts.network, false)
  assert.equal(facts.skillsDirectory, join(stateDir, 'projects/default/revisions'))
  assert.match(facts.target, /^local sandbox \(uid \d+\+?\)$/)
  assert.deepEqual(['node', 'bash', 'cat', 'nothing-like-it', '', '.', '/bin/cat'].map(facts.hasBin), [
    true,
    true,
    true,
    false,
    false,
    false,
    false,
  ])
  assert.deepEqual(['HOME', 'TMPDIR', 'GITHUB_TOKEN', '__proto__'].map(facts.hasEnv), [true, true, false, false])
})
