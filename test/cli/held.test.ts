import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Place } from './nexus.ts'

test('a skill that is there and held is not called missing: the reason is told, with what to type', async (t) => {
  const place = new Place(t)
  const env = { PATH: '/nowhere' }
  for (const args of [
    ['skills', 'show', 'github', '--content'],
    ['skills', 'show', 'bundled/github', '--content'],
    ['skills', 'run', 'github', '--trust', '--sandbox', 'none', '--', 'true'],
  ]) {
    const { code, stderr } = await place.run(args, { env })
    assert.equal(code, 1, stderr)
    assert.match(
      stderr,
      /error SKILL_HELD: 'github' is held back: missing binary: gh\.\n {2}fix: nexus skills why github/,
    )
  }
  const { code, stderr } = await place.run(['skills', 'show', 'greet', '--content'])
  assert.equal(code, 1, stderr)
  assert.match(stderr, /error SKILL_HELD: 'greet' is held back: its source is not trusted/)
})

test('a skill that is not there is missing', async (t) => {
  const { code, stderr } = await new Place(t).run([
    'skills',
    'run',
    'absent',
    '--trust',
    '--sandbox',
    'none',
    '--',
    'true',
  ])
  assert.equal(code, 4, stderr)
  assert.match(stderr, /error SKILL_NOT_FOUND: Skill 'absent' not found/)
})
