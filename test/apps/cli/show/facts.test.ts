import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Place } from '../nexus.ts'

const skill = (name: string, body: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Says ${body}. Use when asked.\n${more}---\n\nBody of ${body}.\n`

/** Names that are odd, hostile, or those of others. */
const FILES: Readonly<Record<string, string>> = {
  'csv-report/SKILL.md': skill('csv-report', 'mine'),
  'pretend/SKILL.md': skill('bundled/csv-report', 'pretend'),
  'cafe/SKILL.md': skill('cafe\u0301', 'cafe'),
  'zero/SKILL.md': skill('"zer\u200bow"', 'zero'),
  'red/SKILL.md': skill('"re\\e[31md"', 'red'),
  'pwned/SKILL.md': skill('"$(touch pwned); rm -rf"', 'pwned'),
  'twin-a/SKILL.md': skill('twin', 'twin-a'),
  'twin-b/SKILL.md': skill('twin', 'twin-b'),
  'stuck/SKILL.md': skill('stuck', 'stuck', 'metadata: {"nexus":{"requires":{"bins":["no-such-bin"]}}}\n'),
  'online/SKILL.md': skill('online', 'online', 'metadata:\n  toolGroups: [group:web]\n'),
}

function prepare(t: TestContext): Place {
  const place = new Place(t)
  for (const [path, content] of Object.entries(FILES)) {
    const file = join(place.workspace, 'skills', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  return place
}

interface Shown {
  readonly data: { readonly file: string; readonly address: string; readonly content: string }
}

/** What a text means to `show`, `show --content`, `why` and `check`: the directory, the body, and files. */
async function meaning(place: Place, text: string): Promise<Record<string, unknown>> {
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await place.run([...args, '--json', '--trust'])).stdout)
  const [shown, loaded, explained, checked] = await Promise.all([
    json('skills', 'show', text),
    place.run(['skills', 'show', text, '--content', '--trust']),
    json('skills', 'why', text),
    json('skills', 'check', text),
  ])
  const { data } = shown as Shown
  const why = explained as { data: { findings: { path?: string }[] } }
  const check = checked as { data: { skills: { file: string }[] } }
  const nameOf = (file = ''): string => dirname(file).replace(/^.*\//, '')
  return {
    show: nameOf(data.file),
    content: /^Body of (.*)\.$/m.exec(loaded.stdout)?.[1],
    why: nameOf(why.data.findings[0]?.path),
    check: check.data.skills.map(({ file }) => nameOf(file)).sort(),
  }
}

const ASKED: readonly (readonly [string, string])[] = [
  ['cafe\u0301', 'cafe'],
  ['café', 'cafe'],
  ['zerow', 'zero'],
  ['workspace/zerow', 'zero'],
  ['red', 'red'],
  ['$red', 'red'],
  ['$(touch pwned); rm -rf', 'pwned'],
  ['workspace/twin', 'twin-b'],
  ['workspace/twin~2', 'twin-a'],
  ['skill://workspace/twin~2/SKILL.md', 'twin-a'],
  ['skills/twin-a', 'twin-a'],
  ['./skills/twin-a/SKILL.md', 'twin-a'],
  ['workspace/bundled/csv-report', 'pretend'],
]

test('every command that takes a name finds the same skill, by each of its names', async (t) => {
  const place = prepare(t)
  for (const [asked, directory] of ASKED) {
    const expected = { show: directory, content: directory, why: directory, check: [directory] }
    assert.deepEqual(await meaning(place, asked), expected, asked)
  }
})

test('an address means the skill that is there, not one that has it for its name', async (t) => {
  const place = prepare(t)
  const { content, ...found } = await meaning(place, 'bundled/csv-report')
  assert.deepEqual(found, { show: 'csv-report', why: 'csv-report', check: ['csv-report'] })
  assert.equal(content, undefined)
  const shown = await place.run(['skills', 'show', 'bundled/csv-report', '--content', '--trust'])
  assert.match(shown.stdout, /nexus|csv/i)
  assert.doesNotMatch(shown.stdout, /pretend|Body of mine/)
  const why = await place.run(['skills', 'why', 'bundled/csv-report', '--trust'])
  assert.match(why.stdout, /name-like-address.*\n.*pretend\/SKILL\.md\n.*workspace\/bundled\/csv-report/)
})

test('each name that skills list prints is one that skills show takes', async (t) => {
  const place = prepare(t)
  const { stdout } = await place.run(['skills', 'list', '--trust'])
  const names = [...stdout.matchAll(/^✓ (.*?) {2,}workspace/gm)].map(([, name = '']) => name)
  assert.ok(names.includes('workspace/bundled/csv-report') && names.includes('red'), stdout)
  for (const name of names) {
    const shown = await place.run(['skills', 'show', name, '--trust', '--json'])
    assert.equal(shown.code, 0, `${name}: ${shown.stderr}`)
    assert.match((JSON.parse(shown.stdout) as Shown).data.file, /\/workspace\/skills\//)
  }
})

test('a held skill is SKILL_HELD to check, and one that is not there is SKILL_NOT_FOUND', async (t) => {
  const place = prepare(t)
  const errorOf = async (name: string): Promise<readonly unknown[]> => {
    const { code, stdout } = await place.run(['skills', 'check', name, '--trust', '--json'])
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string } }
    return [code, error.code, error.message]
  }
  assert.deepEqual(await errorOf('stuck'), [1, 'SKILL_HELD', "The skill 'stuck' is held: missing binary: no-such-bin."])
  assert.deepEqual((await errorOf('workspace/twin~2')).slice(0, 2), [1, 'SKILL_HELD'])
  assert.deepEqual((await errorOf('absent')).slice(0, 2), [4, 'SKILL_NOT_FOUND'])
})

test('commands that look hold a skill whose tools the policy of the agent keeps from it', async (t) => {
  const place = prepare(t)
  mkdirSync(place.home, { recursive: true })
  const config = 'agents:\n  - { id: main, tools: { deny: ["group:web"] } }\n  - { id: free }\n'
  writeFileSync(join(place.home, 'nexus.yaml'), config)
  const reason = 'required tool group not allowed: group:web'
  const list = await place.run(['skills', 'list', '--all', '--trust'])
  assert.match(list.stdout, new RegExp(`◌ online {2}${reason}`))
  const free = await place.run(['skills', 'list', '--trust', '--agent', 'free'])
  assert.match(free.stdout, /✓ online/)
  const why = await place.run(['skills', 'why', 'online', '--trust'])
  assert.match(why.stdout, new RegExp(`Held: ${reason}`))
  assert.match(why.stdout, /Allow group:web in the agent's tools policy/)
  for (const args of [
    ['skills', 'show', 'online'],
    ['skills', 'check', 'online'],
  ]) {
    assert.match((await place.run([...args, '--trust'])).stdout, new RegExp(reason))
    assert.doesNotMatch((await place.run([...args, '--trust', '--agent', 'free'])).stdout, new RegExp(reason))
  }
})
