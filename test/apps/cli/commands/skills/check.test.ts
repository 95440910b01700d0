import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Place } from '../../nexus.ts'

const text = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: Is a test. Use when asked.\n${more}---\n# X\n`

/** A workspace with a skill that is too large, one with a link in it, and one whose SKILL.md is a link. */
function broken(t: TestContext): Place {
  const place = new Place(t)
  for (const name of ['big', 'partly', 'shared', 'linked'])
    mkdirSync(join(place.workspace, 'skills', name), { recursive: true })
  const at = (path: string): string => join(place.workspace, 'skills', path)
  for (const name of ['big', 'partly', 'shared']) writeFileSync(at(`${name}/SKILL.md`), text(name))
  writeFileSync(at('big/model.bin'), '')
  truncateSync(at('big/model.bin'), 11_000_000)
  symlinkSync('SKILL.md', at('partly/copy.md'))
  writeFileSync(at('linked.txt'), text('linked'))
  symlinkSync('../linked.txt', at('linked/SKILL.md'))
  return place
}

interface Checked {
  readonly error?: { readonly code: string; readonly fix: string }
  readonly data: {
    readonly skills: readonly {
      readonly name: string
      readonly verdict: string
      readonly findings: readonly { readonly code: string }[]
    }[]
  }
}

test('a skill that cannot be loaded is told by why, check, show and validate, with file and fix', async (t) => {
  const place = broken(t)
  const commands = [
    ['skills', 'why', 'big', '--trust'],
    ['skills', 'check', 'big', '--trust'],
    ['skills', 'check', '--trust'],
    ['skills', 'show', 'big', '--trust'],
    ['skills', 'validate', 'skills/big'],
    ['skills', 'validate', 'skills'],
  ]
  for (const command of commands) {
    const { code, stdout } = await place.run(command)
    assert.match(stdout, /has a file of 11000000 bytes, "model\.bin"; the limit is 10485760/, command.join(' '))
    assert.match(stdout, /make it smaller, or move it out of the skill/)
    assert.equal(code, command[1] === 'show' ? 0 : 1)
  }
  const { stdout } = await place.run(['skills', 'why', 'big', '--trust', '--json'])
  assert.equal((JSON.parse(stdout) as { data: { verdict: string } }).data.verdict, 'unloadable')
})

test('check of all tells which skills cannot be loaded, and what is left out of others', async (t) => {
  const place = broken(t)
  const { stdout } = await place.run(['skills', 'check', '--trust', '--json'])
  const { data } = JSON.parse(stdout) as Checked
  const states = Object.fromEntries(
    data.skills.map(({ name, verdict, findings }) => [name, [verdict, findings.map(({ code }) => code)]]),
  )
  assert.deepEqual(
    [states['big'], states['partly'], states['shared'], states['linked']],
    [
      ['unloadable', ['cannot-load', 'in-prompt']],
      ['ready', ['in-prompt', 'left-out']],
      ['ready', ['in-prompt']],
      ['ready', ['in-prompt', 'link-followed']],
    ],
  )
  const one = await place.run(['skills', 'check', 'big', '--trust', '--json'])
  const { error } = JSON.parse(one.stdout) as Checked
  assert.deepEqual(
    [error?.code, error?.fix],
    ['SKILL_INVALID', 'To see why, run: nexus skills why --trust workspace/big'],
  )
})

test('the content of a skill with a link in it, and of one that is a link, is shown', async (t) => {
  const place = broken(t)
  const partly = await place.run(['skills', 'show', 'partly', '--content', '--trust'])
  assert.match(partly.stdout, /# X\n[^]*Not available, as they are no regular files: copy\.md \(a link\)\./)
  const linked = await place.run(['skills', 'show', 'linked', '--content', '--trust'])
  assert.match(linked.stdout, /# Skill: linked\n[^]*# X/)
  assert.equal((await place.run(['skills', 'check', 'linked', '--trust'])).code, 0)
})

test('show says of a setting that cannot exist what why says', async (t) => {
  const place = broken(t)
  const gated = text('gated', 'metadata: { requires: { config: [channels.slack] } }\n')
  mkdirSync(join(place.workspace, 'skills/gated'))
  writeFileSync(join(place.workspace, 'skills/gated/SKILL.md'), gated)
  for (const command of ['show', 'why', 'check'])
    assert.match(
      (await place.run(['skills', command, 'gated', '--trust'])).stdout,
      /nexus\.yaml has no setting channels\.slack, so the skill stays held\. Require tools\.channels\.slack in the skill/,
      command,
    )
})

test('init refuses a directory that is there, even an empty one', async (t) => {
  const place = broken(t)
  mkdirSync(join(place.workspace, 'skills/empty'))
  symlinkSync('/nonexist', join(place.workspace, 'skills/dangling'))
  for (const [name, fix] of [
    ['empty', /rmdir .*skills\/empty/],
    ['dangling', /Choose another name\.$/m],
    ['shared', /or edit that file/],
  ] as const) {
    const { code, stderr } = await place.run(['skills', 'init', name])
    assert.equal(code, 1, name)
    assert.match(stderr, /error CONFLICT: .* exists already\./)
    assert.match(stderr, fix)
  }
})

test('check of many skills proposes the same hosts as check of one', async (t) => {
  const place = new Place(t)
  for (let n = 0; n < 40; n++) {
    const root = join(place.workspace, 'skills', `api-${n}`)
    mkdirSync(join(root, 'scripts'), { recursive: true })
    writeFileSync(join(root, 'SKILL.md'), text(`api-${n}`))
    writeFileSync(join(root, 'scripts/get.sh'), `curl https://api-${n}.acme.io/v1\n`)
  }
  const findings = async (...named: string[]) => {
    const { stdout } = await place.run(['skills', 'check', ...named, '--trust', '--json'])
    const { skills } = (JSON.parse(stdout) as Checked).data
    return new Map(skills.map((skill) => [skill.name, skill.findings.filter(({ code }) => code === 'hosts-proposed')]))
  }
  const all = await findings()
  for (let n = 0; n < 40; n++)
    assert.match(JSON.stringify(all.get(`api-${n}`)), new RegExp(`network: \\[api-${n}\\.acme\\.io\\]`))
  assert.deepEqual(all.get('api-7'), (await findings('api-7')).get('api-7'))
})
