import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Place } from './nexus.ts'

test('help lists every command, and goes to stdout', async (t) => {
  const { code, stdout, stderr } = await new Place(t).run(['--help'])
  assert.equal(code, 0)
  assert.equal(stderr, '')
  for (const name of ['demo', 'run', 'skills list', 'prompt', 'doctor', 'config check'])
    assert.match(stdout, new RegExp(`^  ${name} `, 'm'))
})

test('help of a command shows its options and examples', async (t) => {
  const { stdout } = await new Place(t).run(['skills', 'list', '--help'])
  assert.match(stdout, /--skills-dir DIR/)
  assert.match(stdout, /Examples:\n {2}nexus skills list/)
})

test('a misspelt command is answered with the nearest one and exit code 2', async (t) => {
  const { code, stdout, stderr } = await new Place(t).run(['skils', 'list'])
  assert.equal(code, 2)
  assert.equal(stdout, '')
  assert.match(stderr, /There is no command/)
})

test('a misspelt option is answered with the nearest one and exit code 2', async (t) => {
  const { code, stderr } = await new Place(t).run(['skills', 'list', '--jsn'])
  assert.equal(code, 2)
  assert.match(stderr, /Did you mean --json\?/)
})

test('an error repeats only the beginning of a value of 100 KB, as text and as JSON', async (t) => {
  const place = new Place(t)
  const long = 'x'.repeat(100_000)
  for (const args of [
    ['skills', 'validate', 'skills', '--format', long],
    ['sessions', 'show', long, '--json'],
  ]) {
    const { code, stdout, stderr } = await place.run(args)
    assert.notEqual(code, 0)
    assert.ok((stdout + stderr).includes(`${'x'.repeat(200)}…`), stderr.slice(0, 300))
    assert.ok(stdout.length + stderr.length < 2_000, String(stdout.length + stderr.length))
  }
})

test('the skills of a workspace that is not trusted are listed as held and never as ready', async (t) => {
  const { stdout, code } = await new Place(t).run(['skills', 'list', '--all', '--json'])
  assert.equal(code, 0)
  const { data } = JSON.parse(stdout) as {
    data: { skills: { name: string }[]; held: { name: string; reasons: { code: string }[] }[] }
  }
  assert.ok(!data.skills.some((skill) => skill.name === 'greet'))
  assert.ok(data.held.find((skill) => skill.name === 'greet')?.reasons.some((reason) => reason.code === 'untrusted'))
})

test('trust is remembered by real path, shown and taken back', async (t) => {
  const place = new Place(t)
  assert.equal((await place.run(['trust'])).code, 0)
  assert.equal((await place.run(['trust', '--list'])).stdout, `${place.workspace}\n`)
  assert.match((await place.run(['skills', 'list'])).stdout, /✓ greet/)
  await place.run(['trust', '--remove'])
  assert.doesNotMatch((await place.run(['skills', 'list'])).stdout, /✓ greet/)
})

test('check says why each skill is not ready, with file and line, and ends with 1 when one is broken', async (t) => {
  const { code, stdout } = await new Place(t).run(['skills', 'check', '--trust'])
  assert.equal(code, 1)
  assert.match(stdout, /✗ workspace\/broken {2}invalid/)
  assert.match(stdout, /broken\/SKILL\.md:1/)
  assert.match(stdout, /missing env: GEMINI_API_KEY/)
})

test('show of an unknown skill names the ready ones and ends with 4', async (t) => {
  const { code, stderr } = await new Place(t).run(['skills', 'show', 'nothing', '--trust'])
  assert.equal(code, 4)
  assert.match(stderr, /Ready skills: .*greet/)
})

test('no escape sequence and no bidi character of a skill reaches the terminal', async (t) => {
  const place = new Place(t)
  for (const args of [['skills', 'list'], ['skills', 'show', 'hostile'], ['skills', 'check'], ['prompt']]) {
    const { stdout, stderr } = await place.run([...args, '--trust'])
    assert.doesNotMatch(stdout + stderr, /[\u001b\u202e]/, args.join(' '))
  }
})

test('the prompt has one closing tag whatever descriptions hold, and its cost on stderr', async (t) => {
  const { stdout, stderr } = await new Place(t).run(['prompt', '--trust'])
  assert.equal(stdout.match(/<\/skills>/g)?.length, 1)
  assert.match(stderr, /of 12000 characters/)
})

test('a fault in nexus.yaml is shown with line and column, and ends with 1', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'agents:\n  - id: main\n    tools: { profil: full }\n')
  const { code, stdout } = await place.run(['config', 'check'])
  assert.equal(code, 1)
  assert.match(stdout, /nexus\.yaml:3:\d+/)
  assert.match(stdout, /profile/)
})

test('ten thousand lines reach a pipe whole', async (t) => {
  const place = new Place(t)
  for (let index = 0; index < 600; index++) {
    const directory = join(place.workspace, 'skills', `many-${index}`)
    mkdirSync(directory)
    writeFileSync(
      join(directory, 'SKILL.md'),
      `---\nname: many-${index}\ndescription: ${'Long text. '.repeat(40)}\n---\n`,
    )
  }
  const { stdout } = await place.run(['skills', 'list', '--json', '--trust'])
  assert.ok(stdout.length > 300_000)
  assert.ok((JSON.parse(stdout) as { data: { skills: unknown[] } }).data.skills.length >= 600)
})

test('init makes a skill that is valid as it stands, and never overwrites one', async (t) => {
  const place = new Place(t)
  const { code } = await place.run(['skills', 'init', 'my-report', '--description', 'Makes: reports. Use when asked.'])
  assert.equal(code, 0)
  const { data } = JSON.parse((await place.run(['skills', 'show', 'my-report', '--json', '--trust'])).stdout) as {
    data: { verdict: string; description: string }
  }
  assert.equal(data.verdict, 'ready')
  assert.equal(data.description, 'Makes: reports. Use when asked.')
  assert.equal((await place.run(['skills', 'init', 'my-report'])).code, 1)
})

test('init refuses names that are paths, device names or not ASCII, and suggests one', async (t) => {
  const place = new Place(t)
  for (const name of ['../../x', 'con', 'Über-Report', 'a--b', 'x'.repeat(65)]) {
    const { code, stderr } = await place.run(['skills', 'init', name])
    assert.equal(code, 2, name)
    assert.match(stderr, /fix: .*nexus skills init [a-z]/)
  }
})
