import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Place } from '../nexus.ts'

test('a skill that is there and held is not called missing: the reason is told, with what to type', async (t) => {
  const place = new Place(t)
  const env = { PATH: place.bin }
  for (const args of [
    ['skills', 'show', 'image-gen', '--content'],
    ['skills', 'show', 'bundled/image-gen', '--content'],
    ['skills', 'run', 'image-gen', '--trust', '--sandbox', 'none', '--', 'true'],
  ]) {
    const { code, stderr } = await place.run(args, { env })
    assert.equal(code, 1, stderr)
    const trust = args.includes('--trust') ? '--trust ' : ''
    // Not the whole reason: uv may be installed here.
    assert.match(stderr, /error SKILL_HELD: The skill 'image-gen' is held: missing .*GEMINI_API_KEY\.\n/)
    assert.ok(stderr.includes(`  fix: To see why, run: nexus skills why ${trust}image-gen\n`), stderr)
  }
  const { code, stderr } = await place.run(['skills', 'show', 'greet', '--content'])
  assert.equal(code, 1, stderr)
  assert.match(stderr, /error SKILL_HELD: The skill 'greet' is held: its source is not trusted/)
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
  assert.match(stderr, /error SKILL_NOT_FOUND: There is no skill 'absent'\. Ready skills: /)
})

test('a misspelt name is answered with the same command for the skill that is meant', async (t) => {
  const place = new Place(t)
  const run = await place.run(['skills', 'run', 'gret', '--trust', '--sandbox', 'none', '--', 'echo', 'a b'])
  assert.equal(run.code, 4)
  assert.match(run.stderr, /fix: Did you mean 'greet'\? Run: nexus skills run --trust greet -- echo 'a b'\n/)
  for (const command of ['show', 'check']) {
    const { stderr } = await place.run(['skills', command, 'gret'])
    assert.match(stderr, new RegExp(`fix: Did you mean 'greet'\\? Run: nexus skills ${command} greet\\n`))
  }
})

test('a reference that leads nowhere holds the skill, and why, check and list --all name it', async (t) => {
  const place = new Place(t)
  mkdirSync(join(place.workspace, 'skills/star'), { recursive: true })
  const head = 'name: star\ndescription: Does it. Use when asked.\nmetadata: {requires: {config: [tools.gh.token]}}'
  writeFileSync(join(place.workspace, 'skills/star/SKILL.md'), `---\n${head}\n---\nGo.\n`)
  mkdirSync(place.home, { recursive: true })
  const entries = 'entries: {star: {env: {FOO: "${UNSET_A}"}, config: {a: "${EMPTY_B}"}}}'
  writeFileSync(join(place.home, 'nexus.yaml'), `skills: {${entries}}\ntools: {gh: {token: "\${UNSET_C}"}}\n`)
  const env = { EMPTY_B: '' }
  for (const command of [
    ['why', 'star'],
    ['check', 'star'],
  ]) {
    const { stdout } = await place.run(['skills', ...command, '--trust'], { env })
    assert.match(stdout, /missing env: FOO/)
    assert.match(stdout, /skills\.entries\.star\.env\.FOO refers to UNSET_A, which is not set/)
    assert.match(stdout, /skills\.entries\.star\.config\.a refers to EMPTY_B, which is empty/)
    assert.match(stdout, /config not truthy: tools\.gh\.token/)
    assert.match(stdout, /tools\.gh\.token refers to UNSET_C, which is not set\. Set UNSET_C, or remove the line\./)
  }
})
