import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isNexusError } from '../../../src/kernel/index.ts'
import { readContained, readManifest, readOfSkill } from '../../../src/machine/skill-files/index.ts'
import { attack, noExchange } from '../files/rig.ts'

const TRIES = 2_000
const skip = noExchange

for (const holding of ['descriptors', 'paths'] as const) {
  test(`no file outside is read while directories and links change places (${holding})`, { skip }, async (t) => {
    const { root } = await attack(t)
    let inside = 0
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        const { bytes } = await readContained(root, 'sub/f', { maxBytes: 100, holding })
        assert.equal(Buffer.from(bytes).toString(), 'inside')
        inside++
      } catch (error) {
        assert.ok(
          isNexusError(error) && (error.code === 'PATH_OUTSIDE' || error.code === 'FILE_NOT_FOUND'),
          String(error),
        )
      }
    }
    t.diagnostic(`${inside} of ${TRIES} reads met the real file`)
  })
}

test(
  'no file outside is read for a linked SKILL.md while the directory it leads to and a link change places',
  { skip },
  async (t) => {
    const { root } = await attack(t)
    mkdirSync(join(root, 'skill'))
    symlinkSync('../sub/f', join(root, 'skill/SKILL.md'))
    const skill = { directory: join(root, 'skill'), linkedTo: join(root, 'sub/f') }
    let inside = 0
    for (let tries = 0; tries < TRIES / 2; tries++) {
      try {
        const { bytes } = await readOfSkill(skill, 'SKILL.md', { maxBytes: 100 })
        assert.equal(Buffer.from(bytes).toString(), 'inside')
        assert.equal((await readManifest(skill)).files[0]?.size, 'inside'.length)
        inside++
      } catch (error) {
        assert.ok(
          isNexusError(error) && ['PATH_OUTSIDE', 'FILE_NOT_FOUND', 'CONFLICT'].includes(error.code),
          String(error),
        )
      }
    }
    t.diagnostic(`${inside} of ${TRIES / 2} reads met the real file`)
  },
)

test('no manifest covers a file outside while directories and links change places', { skip }, async (t) => {
  const { root } = await attack(t)
  for (let tries = 0; tries < TRIES / 4; tries++) {
    try {
      const { files } = await readManifest(root)
      assert.ok(files.every(({ size }) => size === 'inside'.length))
      assert.ok(files.length <= 2)
    } catch (error) {
      assert.ok(
        isNexusError(error) && ['PATH_OUTSIDE', 'FILE_NOT_FOUND', 'SKILL_INVALID'].includes(error.code),
        String(error),
      )
    }
  }
})
