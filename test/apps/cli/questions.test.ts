import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { quotedWord } from '../../../src/kernel/index.ts'
import { startModelServer } from '../../../src/testing/index.ts'
import { ended, Place } from './nexus.ts'
import { inTerminal, whyNoTerminal } from './terminal.ts'

const skip = whyNoTerminal()

const TRUST = /Trust this workspace from now on\? \[y\/N\]/
const APPROVE = /Allow it\? \[y\/N\]/

interface Made {
  readonly name: string
  readonly arguments: Readonly<Record<string, string>>
}

async function asking(
  t: TestContext,
  asked: readonly (string | Made)[] = ['touch was-run'],
): Promise<{ place: Place; args: string[] }> {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'agents: [{ id: main, tools: { ask: [run_command] } }]\n')
  const server = await startModelServer({
    script: [
      {
        type: 'tool-calls',
        calls: asked.map((each) =>
          typeof each === 'string' ? { name: 'run_command', arguments: { command: each, _parallel: true } } : each,
        ),
      },
      { type: 'text', text: 'Done.' },
    ],
  })
  t.after(() => server.close())
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
  return { place, args }
}

test('Ctrl-C at the question for trust cancels, ends with 130 and trusts nothing', { skip }, async (t) => {
  const place = new Place(t)
  writeFileSync(
    join(place.workspace, 'nexus.yaml'),
    'model: {provider: openai, name: m, apiKey: {command: [sh, -c, evil]}}\n',
  )
  const { code, screen } = await inTerminal(place, ['skills', 'run', 'greet', '--', 'true'], {
    prompt: TRUST,
    keys: '\u0003',
  })
  assert.equal(code, 130, screen)
  assert.match(screen, /run as you, outside the sandbox/)
  assert.match(screen, /command +model\.apiKey \(nexus\.yaml:1\)/)
  assert.match(screen, /apiKey: \{command: \[sh, -c, evil\]\}/)
  assert.doesNotMatch(screen, /INTERNAL|\n\s+at /)
  assert.equal((await place.run(['trust', '--list'])).stdout, '')
})

test('nexus trust asks too, and no trusts nothing', { skip }, async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'skills: {custom: [./evil.mjs]}\n')
  const no = await inTerminal(place, ['trust'], { prompt: TRUST, keys: 'n\r' })
  assert.equal(no.code, 1, no.screen)
  assert.match(no.screen, /run as you, outside the sandbox[\s\S]*module +skills\.custom\[0\]/)
  assert.equal((await place.run(['trust', '--list'])).stdout, '')
  const yes = await inTerminal(place, ['trust'], { prompt: TRUST, keys: 'y\r' })
  assert.equal(yes.code, 0, yes.screen)
  assert.match((await place.run(['trust', '--list'])).stdout, /workspace/)
})

test('Ctrl-C at the question for approval cancels the turn and ends with 130', { skip }, async (t) => {
  const { place, args } = await asking(t)
  const { code, screen } = await inTerminal(place, args, { prompt: APPROVE, keys: '\u0003' })
  assert.equal(code, 130, screen)
  assert.doesNotMatch(screen, /INTERNAL|\n\s+at |A person said no/)
})

test('yes lets the call run, the end of the input closes the question without an answer', { skip }, async (t) => {
  for (const [keys, words] of [
    ['y\r', /allowed \(.*approved by .*\)/],
    ['\u0004', /The question was closed without an answer/],
  ] as const) {
    const { place, args } = await asking(t)
    const { code, screen } = await inTerminal(place, args, { prompt: APPROVE, keys })
    assert.equal(code, 0, screen)
    assert.doesNotMatch(screen, /A person said no/)
    assert.match(screen, words)
  }
})

test('a change that would be held is asked about with its own reason, not with the policy', { skip }, async (t) => {
  const call = { name: 'write_file', arguments: { path: '.envrc', content: 'x' } }
  const { place, args } = await asking(t, [call])
  const { screen } = await inTerminal(place, args, { prompt: APPROVE, keys: 'n\r' })
  assert.match(screen, /wants to run write_file.*:[^]*Nexus would hold the change: its name begins with a dot/)
  assert.doesNotMatch(screen, /its policy asks/)
  assert.equal(existsSync(join(place.workspace, '.envrc')), false)
})

const AT_ONCE = /^/

for (const early of ['y\r', 'y', 'y\ry\r', '\u001b[200~y\r\u001b[201~', 'a line\ny\n'])
  test(`keys typed before the question do not answer it: ${JSON.stringify(early)}`, { skip }, async (t) => {
    const { place, args } = await asking(t)
    const { screen } = await inTerminal(place, args, { prompt: AT_ONCE, keys: early }, { prompt: APPROVE, keys: '\r' })
    assert.match(screen, /A person said no/)
    assert.equal(existsSync(join(place.workspace, 'was-run')), false)
  })

test('each question needs its own keys, also when the next one follows at once', { skip }, async (t) => {
  const { place, args } = await asking(t, ['touch one', 'touch two'])
  const { screen } = await inTerminal(
    place,
    args,
    { prompt: APPROVE, keys: 'y\ry\r' },
    { prompt: APPROVE, keys: 'n\r' },
  )
  assert.deepEqual(['one', 'two'].map((name) => existsSync(join(place.workspace, name))).toSorted(), [false, true])
  assert.match(screen, /A person said no/)
})

test('keys typed before the question for trust do not answer it', { skip }, async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'skills: {custom: [./evil.mjs]}\n')
  const { code, screen } = await inTerminal(
    place,
    ['trust'],
    { prompt: AT_ONCE, keys: 'y\r' },
    { prompt: TRUST, keys: '\r' },
  )
  assert.equal(code, 1, screen)
  assert.equal((await place.run(['trust', '--list'])).stdout, '')
})

test(
  'mcp install asks before it replaces an entry of another program, and only a yes replaces it',
  { skip },
  async (t) => {
    const place = new Place(t)
    const file = join(place.root, '.cursor/mcp.json')
    const theirs = '{ "mcpServers": { "nexus": { "command": "/bin/theirs" } } }\n'
    mkdirSync(join(place.root, '.cursor'))
    writeFileSync(file, theirs)
    const prompt = /mcp\.json is not one of Nexus\. Change it\? A copy of the file is kept\. \[y\/N\]/
    const early = { prompt: AT_ONCE, keys: 'y\r' }
    for (const [keys, code] of [
      ['n\r', 1],
      ['\r', 1],
      ['\u0004', 1],
      ['\u0003', 130],
    ] as const) {
      const no = await inTerminal(place, ['mcp', 'install', 'cursor'], early, { prompt, keys })
      assert.equal(no.code, code, no.screen)
      assert.equal(readFileSync(file, 'utf8'), theirs)
    }
    for (const command of ['install', 'uninstall']) {
      writeFileSync(file, theirs)
      const yes = await inTerminal(place, ['mcp', command, 'cursor'], { prompt, keys: 'y\r' })
      assert.equal(yes.code, 0, yes.screen)
      assert.match(yes.screen, /\/bin\/theirs[\s\S]*A copy of the old file: /)
      assert.doesNotMatch(readFileSync(file, 'utf8'), /theirs/)
    }
  },
)

test('Ctrl-C typed before the question cancels', { skip }, async (t) => {
  const { place, args } = await asking(t)
  const { code, screen } = await inTerminal(place, args, { prompt: /sandbox none\n?/, keys: '\u0003' })
  assert.equal(code, 130, screen)
})

test('an answer that is neither yes nor no is asked for again', { skip }, async (t) => {
  const { place, args } = await asking(t)
  const { screen } = await inTerminal(
    place,
    args,
    { prompt: APPROVE, keys: 'yse\r' },
    { prompt: /Type y or n\.[\s\S]*\[y\/N\]/, keys: 'y\r' },
  )
  assert.match(screen, /approved by this terminal/)
})

test('without a terminal the refusal says so, and no person is said to have answered', async (t) => {
  const { place, args } = await asking(t)
  const { stderr } = await place.run(args)
  assert.match(stderr, /There is no terminal to ask in/)
  assert.doesNotMatch(stderr, /A person said no/)
  assert.match(stderr, /policy explain main run_command/)
})

test('skills run without a terminal names the options that answer, and takes them', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'agents:\n  - id: main\n    tools:\n      ask: [run_command]\n')
  const args = ['skills', 'run', 'greet', '--trust', '--sandbox', 'none']
  const { code, stderr } = await place.run([...args, '--', 'true'])
  assert.equal(code, 1)
  assert.match(stderr, /in a terminal, with --yes, or with --wait\. .*remove run_command from tools\.ask/)
  assert.match(stderr, /The line ask: run_command is in \.\/nexus\.yaml:4\.\n.*nexus policy explain main run_command/)
  const yes = await place.run([...args, '--yes', '--', 'true'])
  assert.equal(yes.code, 0, yes.stderr)
})

test('a no in the terminal is answered with how to say yes, not with the terminal', { skip }, async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'agents: [{ id: main, tools: { ask: [run_command] } }]\n')
  const { code, screen } = await inTerminal(
    place,
    ['skills', 'run', 'greet', '--trust', '--sandbox', 'none', '--', 'true'],
    { prompt: APPROVE, keys: 'n\r' },
  )
  assert.equal(code, 1, screen)
  assert.match(screen, /A person said no\.\r?\n.*To allow it, type the command again and answer y\./)
})

test('--yes approves what policy wants confirmed', async (t) => {
  const { place, args } = await asking(t)
  assert.match((await place.run([...args, '--yes'])).stderr, /allowed \(.*approved by .*\)/)
})

test('the command that trusts a directory can be pasted, whatever the directory is called', async (t) => {
  const place = new Place(t)
  const odd = join(place.root, "it's a $(touch here) dir")
  cpSync(place.workspace, odd, { recursive: true })
  const { stderr } = await place.run(['skills', 'run', 'greet', '--', 'true'], { cwd: odd })
  const [, command = ''] = /then run: nexus trust (.*)$/m.exec(stderr) ?? []
  assert.equal(spawnSync('sh', ['-c', `printf %s ${command}`], { encoding: 'utf8' }).stdout, odd)
})

test('in a directory that was deleted meanwhile every command says so', async (t) => {
  const place = new Place(t)
  const gone = join(place.root, 'gone')
  mkdirSync(gone)
  const line = place.line(['skills', 'list']).map(quotedWord).join(' ')
  const child = spawn('sh', ['-c', `rmdir ${quotedWord(gone)} && exec ${line}`], place.options({ cwd: gone }))
  const { code, stderr } = await ended(child)
  assert.equal(code, 4)
  assert.match(stderr, /^error FILE_NOT_FOUND: The working directory was removed\.\n {2}fix: /)
})

test('progress is shown where a person watches and does not type, and nowhere else', { skip }, async (t) => {
  const place = new Place(t)
  const args = ['skills', 'run', 'greet', '--trust', '--sandbox', 'none', '--', 'sleep 1.5; printf "go? "; read x']
  const line = `${place.line(args).map(quotedWord).join(' ')} < /dev/null`
  const { cwd, env } = place.options()
  const child = spawn('script', ['-qec', line, '/dev/null'], { cwd, env: { ...env, TERM: 'xterm' }, timeout: 60_000 })
  assert.match((await ended(child)).stdout, /starting the command … 1 s/)
  assert.doesNotMatch((await inTerminal(place, args, { prompt: /go\?/, keys: '\r' })).screen, /…/)
  assert.doesNotMatch((await place.run(args)).stderr, /…/)
})
