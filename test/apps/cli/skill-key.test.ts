import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Place } from './nexus.ts'

const OWNER = '---\nname: mytool\ndescription: Does it. Use when asked.\n---\nGo.\n'
const CONFIGURED = 'skills: { entries: { mytool: { apiKey: marked_0123456789abcdef, env: { STRAY: "1" } } } }\n'

/** `mytool` with that SKILL.md, and `gh-extra`, which claims the key `mytool`. */
function prepare(t: { after: (fn: () => void) => void }, owner: string, needs: object = {}): Place {
  const place = new Place(t)
  const nexus = JSON.stringify({ nexus: { skillKey: 'mytool', primaryEnv: 'MY_TOKEN', ...needs } })
  const extra = `---\nname: gh-extra\ndescription: Does more. Use when asked.\nmetadata: ${nexus}\n---\nGo.\n`
  for (const [name, text] of Object.entries({ mytool: owner, 'gh-extra': extra })) {
    mkdirSync(join(place.workspace, 'skills', name), { recursive: true })
    writeFileSync(join(place.workspace, 'skills', name, 'SKILL.md'), text)
  }
  configure(place, CONFIGURED)
  return place
}

function configure(place: Place, text: string): void {
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), text)
}

const NEEDS = { requires: { env: ['MY_TOKEN'] } }

test('a trusted skill whose SKILL.md cannot be read keeps its secret: no skillKey of another one reaches it', async (t) => {
  for (const owner of ['no frontmatter', OWNER]) {
    const place = prepare(t, owner)
    const line = 'test -z "$MY_TOKEN" && echo nothing'
    const { stdout, stderr } = await place.run(['skills', 'run', 'gh-extra', '--trust', '--', line])
    assert.equal(stdout, 'nothing\n', stderr)
  }
})

test('a skill that needs the secret of another one is held, though that one cannot be read', async (t) => {
  const place = prepare(t, 'no frontmatter', NEEDS)
  const { stdout, code } = await place.run(['skills', 'check', 'gh-extra', '--trust'])
  assert.equal(code, 1)
  assert.match(stdout, /missing env: MY_TOKEN/)
})

test('following the advice of why and check makes a skill ready whose skillKey is refused', async (t) => {
  const place = prepare(t, OWNER, NEEDS)
  const why = await place.run(['skills', 'why', 'gh-extra', '--trust'])
  const check = await place.run(['skills', 'check', 'gh-extra', '--trust'])
  for (const { stdout } of [why, check]) {
    assert.match(stdout, /Set skills\.entries\.gh-extra\.apiKey in /)
    assert.doesNotMatch(stdout, /entries\.mytool/)
  }
  const [, advised = ''] = /for example: (skills: \{.*\})/.exec(why.stdout.replace(/\s+/g, ' ')) ?? []
  configure(place, advised.replace('…', 'marked_fedcba9876543210'))
  const { stdout, code } = await place.run(['skills', 'check', 'gh-extra', '--trust'])
  assert.equal(code, 0, stdout)
})

test('show and check name the entry that a variable comes from, not the one that skillKey claims', async (t) => {
  const place = prepare(t, OWNER, NEEDS)
  configure(place, CONFIGURED.replace('mytool', 'gh-extra'))
  for (const verb of ['show', 'check']) {
    const { stdout } = await place.run(['skills', verb, 'gh-extra', '--trust'])
    assert.match(stdout, /STRAY is not given .*\(skills\.entries\.gh-extra\.env\)/)
    assert.doesNotMatch(stdout, /entries\.mytool/)
  }
})
