import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Place } from '../nexus.ts'

const GOOD = '---\nname: good\ndescription: Says good things. Use when asked.\n---\n\nBody.\n'

test('a linked SKILL.md has one verdict, however it is named', async (t) => {
  const place = new Place(t)
  const folder = join(place.workspace, 'checked')
  mkdirSync(join(folder, 'good'), { recursive: true })
  writeFileSync(join(folder, 'good', 'SKILL.md'), GOOD)
  mkdirSync(join(folder, 'in'))
  symlinkSync('../good/SKILL.md', join(folder, 'in', 'SKILL.md'))
  for (const named of ['checked', 'checked/in', 'checked/in/SKILL.md']) {
    const { code, stdout } = await place.run(['skills', 'validate', named])
    assert.match(stdout, /warning link-followed checked\/in\/SKILL\.md/, named)
    assert.doesNotMatch(stdout, /^error/m)
    assert.equal(code, 0)
  }
  const secret = join(place.root, 'key.md')
  writeFileSync(secret, 'hidden words')
  writeFileSync(join(folder, '.env'), 'hidden words')
  for (const [name, target] of [
    ['out', secret],
    ['env', '../.env'],
    ['device', '/dev/zero'],
  ] as const) {
    mkdirSync(join(folder, name))
    symlinkSync(target, join(folder, name, 'SKILL.md'))
    for (const named of [`checked/${name}`, `checked/${name}/SKILL.md`]) {
      const { code, stdout } = await place.run(['skills', 'validate', named, '--fix'])
      assert.equal(code, 1)
      assert.match(stdout, /error link-outside checked/)
      assert.doesNotMatch(stdout, /hidden words|\b(?:cp|mv) /)
    }
  }
})
