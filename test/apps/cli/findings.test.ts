import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { startModelServer } from '../../../src/testing/index.ts'
import { Place } from './nexus.ts'

/** A place whose user has this nexus.yaml. */
function withUser(t: { after: (fn: () => void) => void }, text: string): Place {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), text)
  return place
}

const SLIP = 'agents:\n  - id: main\n    tools:\n      deny: [run_comand]\n'

test('a typo in a deny list is an error with its place and the likely name, in every command that reads it', async (t) => {
  const place = withUser(t, SLIP)
  const commands = [
    ['config', 'check'],
    ['config', 'show'],
    ['doctor'],
    ['skills', 'list'],
    ['prompt'],
    ['skills', 'why', 'greet'],
  ]
  for (const args of commands) {
    const { stdout, stderr } = await place.run(args)
    assert.match(
      stdout + stderr,
      /error policy-unknown-name .*nexus\.yaml:4:14\s+deny\[0\]: 'run_comand'/,
      args.join(' '),
    )
    assert.match(stdout + stderr, /Did you mean 'run_command'\?/, args.join(' '))
  }
  const { code, stdout } = await place.run(['config', 'check'])
  assert.equal(code, 1)
  assert.doesNotMatch(stdout, /✓/)
  const ran = await place.run(['skills', 'run', 'greet', '--trust', '--', 'true'])
  assert.deepEqual([ran.code, /CONFIG_INVALID/.test(ran.stderr)], [2, true], ran.stderr)
})

test('a name far from every tool is reported too, and names that exist are not', async (t) => {
  const place = withUser(
    t,
    'agents: [{ id: main, tools: { deny: [teleport], ask: [run_command.network, find_skills, "mcp:x.y"] } }]\n',
  )
  const { stdout } = await place.run(['config', 'check'])
  assert.match(stdout, /'teleport' names no tool/)
  assert.doesNotMatch(stdout, /'find_skills|'mcp:x/)
})

test('groups that contain each other stop what runs, and config check ends with 1', async (t) => {
  const place = withUser(t, 'tools:\n  groups:\n    "group:a": ["group:b"]\n    "group:b": ["group:a"]\n')
  const { code, stdout } = await place.run(['config', 'check'])
  assert.equal(code, 1)
  assert.match(stdout, /error policy-group-cycle .*nexus\.yaml:[34]:/)
  for (const args of [
    ['run', 'x', '--trust'],
    ['skills', 'run', 'greet', '--trust', '--', 'true'],
  ]) {
    const ran = await place.run(args)
    assert.equal(ran.code, 2, args.join(' '))
    assert.match(ran.stderr, /CONFIG_INVALID[\s\S]*Groups contain each other/)
  }
})

test('doctor looks at the sandbox and the model that --config names', async (t) => {
  const place = new Place(t)
  const file = join(place.root, 'other.yaml')
  writeFileSync(
    file,
    'execution: { sandbox: none }\nmodel: { provider: openai-compatible, name: theirs, baseUrl: "http://127.0.0.1:9/v1" }\n',
  )
  const { stdout } = await place.run(['doctor', '--config', file])
  assert.match(stdout, /! sandbox +.*not confined/)
  assert.match(stdout, /model +.*theirs/)
})

test('doctor opens the state file, and a file that is none is an error', async (t) => {
  const place = new Place(t)
  assert.match((await place.run(['doctor'])).stdout, /✓ state .*nexus\.db \(new\)/)
  writeFileSync(join(place.home, 'state', 'nexus.db'), 'this is no database, '.repeat(400))
  const { code, stdout } = await place.run(['doctor'])
  assert.equal(code, 1)
  assert.match(stdout, /✗ state [\s\S]*STORE_FAILED/)
})

test('a --skills-dir that is not there stops with 4 and names it', async (t) => {
  const place = new Place(t)
  const missing = ['--skills-dir', 'no-such-dir']
  for (const args of [
    ['skills', 'list', ...missing],
    ['prompt', ...missing],
    ['skills', 'run', 'greet', '--trust', ...missing, '--', 'true'],
  ]) {
    const { code, stdout, stderr } = await place.run(args)
    assert.equal(code, 4, args.join(' '))
    assert.equal(stdout, '')
    assert.match(stderr, /FILE_NOT_FOUND: --skills-dir no-such-dir/)
  }
})

test('a directory of the configuration that is not there is told on stderr by list, prompt and run', async (t) => {
  const place = withUser(t, 'skills: { load: { extraDirs: [/no/such/skills] } }\n')
  await using server = await startModelServer({ script: [{ type: 'text', text: 'ok' }] })
  const model = ['--model', 'openai-compatible/scripted', '--base-url', server.url]
  for (const args of [['skills', 'list'], ['prompt'], ['run', 'hello', '--trust', '--sandbox', 'none', ...model]]) {
    const { code, stderr } = await place.run(args)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /error root-required \/no\/such\/skills/, args.join(' '))
  }
})

test('live output is shown by whole lines, and the notes of a command beside its outcome', async (t) => {
  const place = new Place(t)
  const command = "printf 'one '; sleep 0.2; printf 'line\\ntwo'; sleep 0.2; printf ' lines'"
  await using server = await startModelServer({
    script: [
      { type: 'tool-calls', calls: [{ name: 'run_command', arguments: { command } }] },
      { type: 'text', text: 'ok' },
    ],
  })
  const model = ['--model', 'openai-compatible/scripted', '--base-url', server.url]
  const { stderr } = await place.run(['run', 'hello', '--trust', '--yes', '--sandbox', 'none', ...model])
  assert.match(stderr, /^ {2}│ one line\n {2}│ two lines$/m)
  assert.match(stderr, /✓ exit code 0 \d+ ms\n {4}note: not confined: sandbox none/)
  assert.match(stderr, /allowed .*✓ exit code 0, 1 note/)
})

test('the help of run names no recorded model, and run says where there is one', async (t) => {
  const place = new Place(t)
  assert.doesNotMatch((await place.run(['run', '--help'])).stdout, /recorded/)
  assert.match((await place.run(['demo', '--help'])).stdout, /recorded/)
  const { code, stderr } = await place.run(['run', 'x', '--trust', '--model', 'recorded'])
  assert.equal(code, 2)
  assert.match(stderr, /nexus demo --model recorded/)
})

test('a session that several ids begin with is wrong use that names them', async (t) => {
  const place = new Place(t)
  await using server = await startModelServer({ script: () => ({ type: 'text', text: 'ok' }) })
  const args = [
    'run',
    'hello',
    '--trust',
    '--sandbox',
    'none',
    '--model',
    'openai-compatible/scripted',
    '--base-url',
    server.url,
  ]
  await place.run(args)
  await place.run(args)
  const { code, stderr } = await place.run([...args, '--session', '0'])
  assert.equal(code, 2)
  assert.match(stderr, /More than one session begins with 0: 0/)
})

test('list names a packed skill, and list --all and doctor say how to unpack it', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'skills/pdf.zip'), 'PK')
  const list = await place.run(['skills', 'list'])
  assert.match(list.stderr, /1 not searched: pdf\.zip/)
  const unpack = /skill-archive \.\/skills\/pdf\.zip[^]*unzip \.\/skills\/pdf\.zip -d \.\/skills\/pdf\n/
  for (const args of [['skills', 'list', '--all'], ['doctor']]) {
    const { stdout, stderr } = await place.run(args)
    assert.match(stdout + stderr, unpack)
  }
})
