import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, realpathSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { startModelServer } from '../../../src/testing/index.ts'
import { Place, type Ran } from './nexus.ts'

const KEY = 'ghp_marked_0123456789abcdef'
const LINE =
  'echo "key=$GH_TOKEN=$(printf %s "$GH_TOKEN" | base64 -w0)= host=${GH_HOST-unset} node=${NODE_OPTIONS-unset}"'

/** The fixture workspace with two skills that want the same variable, and a nexus.yaml of the user. */
function prepare(t: { after: (fn: () => void) => void }, entries: string): Place {
  const place = new Place(t)
  for (const name of ['hub', 'other']) {
    const directory = join(place.workspace, 'skills', name, 'scripts')
    mkdirSync(directory, { recursive: true })
    const metadata = JSON.stringify({ nexus: { primaryEnv: 'GH_TOKEN', envVars: ['GH_HOST', 'NODE_OPTIONS'] } })
    const text = `---\nname: ${name}\ndescription: Does ${name}. Use when asked.\nmetadata: ${metadata}\n---\nGo.\n`
    writeFileSync(join(directory, '..', 'SKILL.md'), text)
    writeFileSync(join(directory, 'print.sh'), `${LINE}\n`)
  }
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), `skills:\n  entries:\n${entries}`)
  return place
}

const HUB = `    hub:
      apiKey: { command: [echo, ${KEY}] }
      env: { GH_HOST: hub.example.com, NODE_OPTIONS: --inspect }
`

const runFor = (place: Place, name: string, more: readonly string[] = ['--trust']): Promise<Ran> =>
  place.run(['skills', 'run', name, ...more, '--', 'bash', '{baseDir}/scripts/print.sh'])

/** Files below a directory that hold the text. */
function holding(directory: string, text: string): string[] {
  // The layer of a workspace links to it: one file, not two.
  const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
  return [...new Set(paths)].filter((path) => statSync(path).isFile() && readFileSync(path, 'latin1').includes(text))
}

test('a command of the skill gets the key in the sandbox, and no output, row or file of ours shows it', async (t) => {
  const place = prepare(t, HUB)
  const { stdout, stderr, code } = await runFor(place, 'hub')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^key=\[redacted\]=\[redacted\]= host=\[redacted\] node=unset\n$/)
  assert.match(stderr, /Nexus gives skills\.entries\.hub\.env\.NODE_OPTIONS to no command/)
  const digest = createHash('sha256').update(KEY).digest('hex')
  const inside = `printf %s "$GH_TOKEN" | sha256sum | grep -q ${digest} && echo same`
  const same = await place.run(['skills', 'run', 'hub', '--trust', '--json', '--', inside])
  assert.match(same.stdout, /"stdout": "same\\n"/)
  assert.doesNotMatch(stdout + stderr + same.stdout + same.stderr, new RegExp(KEY))
  assert.deepEqual(holding(place.root, KEY), [join(place.home, 'nexus.yaml')])
  assert.deepEqual(holding(place.root, Buffer.from(KEY).toString('base64').slice(0, -4)), [])
})

test('a command of another skill gets nothing, though it declares the same variable', async (t) => {
  const { stdout, code } = await runFor(prepare(t, HUB), 'other')
  assert.equal(code, 0)
  assert.equal(stdout, 'key=== host=unset node=unset\n')
})

test('the skill of an untrusted workspace gets no key of that name: nothing runs', async (t) => {
  const { stdout, stderr, code } = await runFor(prepare(t, HUB), 'hub', [])
  assert.equal(stdout, '')
  assert.notEqual(code, 0)
  assert.match(stderr, /nexus trust/)
})

test('a key whose reference cannot be read holds the skill, with the reference and what to do', async (t) => {
  for (const [reference, named, fix] of [
    [
      '{ file: missing.key }',
      /apiKey refers to the file \/.*missing\.key, which cannot be read \(ENOENT\)/,
      /Write the secret/,
    ],
    ['"${NO_SUCH_KEY}"', /apiKey refers to NO_SUCH_KEY, which is not set/, /Set NO_SUCH_KEY/],
  ] as const) {
    const place = prepare(t, `    hub: { apiKey: ${reference} }\n`)
    const { stdout, code } = await place.run(['skills', 'check', 'hub', '--trust', '--json'])
    assert.equal(code, 1)
    const { data } = JSON.parse(stdout) as { data: { skills: { findings: { reason: string; fix: string }[] }[] } }
    const [found] = data.skills[0]?.findings ?? []
    assert.equal(found?.reason, 'missing env: GH_TOKEN')
    assert.match(found?.fix ?? '', named)
    assert.match(found?.fix ?? '', fix)
  }
})

test('a program that gives no key ends the command before it starts, and says where it is named', async (t) => {
  const place = prepare(t, '    hub: { apiKey: { command: ["false"] } }\n')
  const { stdout, stderr, code } = await runFor(place, 'hub')
  assert.equal(stdout, '')
  assert.notEqual(code, 0)
  assert.match(stderr, /nexus\.yaml:\d+:\d+ skills\.entries\.hub\.apiKey: the command false ended with code 1/)
})

test('refused names and short keys are told with their place; show and check say what each skill gets', async (t) => {
  const place = prepare(
    t,
    '    hub: { apiKey: abc, env: { LD_PRELOAD: /x.so, GH_HOST: hub.example.com, STRAY: "1" } }\n',
  )
  const config = await place.run(['config', 'check', '--json'])
  const { diagnostics } = JSON.parse(config.stdout) as { diagnostics: { code: string; line: number; column: number }[] }
  assert.deepEqual(
    diagnostics.map(({ code, line }) => [code, line]),
    [
      ['variable-refused', 3],
      ['secret-short', 3],
    ],
  )
  const { stdout } = await place.run(['skills', 'show', 'hub', '--trust', '--json'])
  const { data } = JSON.parse(stdout) as { data: { variables: { name: string; verdict: string }[] } }
  assert.deepEqual(
    data.variables.map(({ name, verdict }) => [name, verdict]),
    [
      ['LD_PRELOAD', 'refused'],
      ['GH_HOST', 'given'],
      ['STRAY', 'undeclared'],
      ['GH_TOKEN', 'given'],
    ],
  )
  const check = await place.run(['skills', 'check', 'hub', '--trust'])
  assert.match(check.stdout, /STRAY is not given to its commands: it is not declared by the skill/)
})

test('in a turn the key reaches only commands for the loaded skill, and neither model, session nor ledger see it', async (t) => {
  const place = prepare(t, HUB)
  const call = (name: string, args: { [key: string]: string }) =>
    ({ type: 'tool-calls', calls: [{ name, arguments: args }] }) as const
  await using server = await startModelServer({
    script: [
      call('load_skill', { skill_name: 'hub' }),
      call('run_command', { command: `${LINE} | tee out.txt`, skill_name: 'hub' }),
      call('load_skill', { skill_name: 'other' }),
      call('run_command', { command: LINE, skill_name: 'other' }),
      call('run_command', { command: LINE }),
      { type: 'text', text: 'Done.' },
    ],
  })
  const model = ['--model', 'openai-compatible/scripted', '--base-url', server.url]
  const ran = await place.run(['run', 'Show the key', '--trust', '--yes', '--json', ...model])
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(readFileSync(join(place.workspace, 'out.txt'), 'utf8'), new RegExp(`key=${KEY}`))
  const told = JSON.stringify(server.requests)
  assert.match(told, /key=\[redacted\]/)
  assert.equal(told.split('key===').length > 2, true)
  assert.ok(!told.includes(KEY))
  assert.ok(!(ran.stdout + ran.stderr).includes(KEY))
  const files = holding(place.root, KEY)
  assert.deepEqual(files.toSorted(), [join(place.home, 'nexus.yaml'), join(place.workspace, 'out.txt')].toSorted())
})
