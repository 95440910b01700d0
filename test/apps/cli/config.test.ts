import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { whySkipped } from '../../machine/sandbox/required.ts'
import { Place } from './nexus.ts'

const SCHEMA = new URL('../../../schema/nexus.schema.json', import.meta.url)

/** A place whose user has this nexus.yaml. */
function withUser(t: { after: (fn: () => void) => void }, text: string): Place {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), text)
  return place
}

/** A program that leaves a mark when it is run. */
const MARKING = (place: { root: string }): string => `[sh, -c, "touch ${place.root}/was-run; echo key-from-command"]`

test('config schema prints the schema that is shipped', async (t) => {
  const { code, stdout } = await new Place(t).run(['config', 'schema'])
  assert.equal(code, 0)
  assert.equal(stdout, readFileSync(SCHEMA, 'utf8'))
})

test('config check names file, line and column of each fault, and shows no secret', async (t) => {
  const place = withUser(
    t,
    'search: {apiKey: top-secret-key, maxResults: 99}\nlimits:\n  maxIterations: many\nskills: {entries: {x: {apikey: other-secret-key}}}\n',
  )
  const { code, stdout, stderr } = await place.run(['config', 'check'])
  assert.equal(code, 1, stderr)
  assert.doesNotMatch(stdout + stderr, /secret-key/)
  for (const place of ['nexus.yaml:1:34\n', 'nexus.yaml:3:3\n', 'nexus.yaml:4:24\n'])
    assert.ok(stdout.includes(place), stdout)
  assert.doesNotMatch(stdout, /\u001b/)
  assert.match(stdout, /Did you mean "apiKey"\?/)
})

test('config show prints YAML that can be read again, each value with its place, and no secret', async (t) => {
  const user =
    'limits: {maxIterations: 7}\nskills: {entries: {x: {apiKey: top-secret-key, config: {a: "yes", b: true, c: "x: y"}}}}\n'
  const place = withUser(t, user)
  const { code, stdout, stderr } = await place.run(['config', 'show'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /maxIterations: 7 +# .*nexus\.yaml:1$/m)
  assert.match(stdout, /toolTimeoutMs: 30000 +# default$/m)
  assert.doesNotMatch(stdout, /top-secret-key/)
  const document = parse(stdout) as { limits: object; skills: { entries: { x: object } } }
  assert.deepEqual(document.limits, { maxIterations: 7, toolTimeoutMs: 30_000, maxConcurrentTools: 10, maxRunning: 8 })
  assert.deepEqual(document.skills.entries.x, {
    apiKey: '[hidden]',
    config: { a: '[hidden]', b: true, c: '[hidden]' },
  })
})

test('config show --json has every value with where it came from', async (t) => {
  const place = withUser(t, 'limits: {maxIterations: 7}\n')
  const { stdout } = await place.run(['config', 'show', 'limits', '--json'], {
    env: { SKILLS_PROMPT_CHAR_BUDGET: '9' },
  })
  const { command, ok, data } = JSON.parse(stdout) as {
    command: string
    ok: boolean
    data: { document: object; values: { key: string; value: unknown; from: { path: string; line?: number } }[] }
  }
  assert.deepEqual([command, ok, Object.keys(data.document)], ['config show', true, ['limits']])
  const [first, second] = data.values
  assert.deepEqual(first, {
    key: 'limits.maxIterations',
    value: 7,
    from: { path: join(place.home, 'nexus.yaml'), line: 1, column: 10 },
  })
  assert.deepEqual(second?.from, { path: 'default' })
})

test('config show finds a section whose key is no plain word', async (t) => {
  const place = withUser(
    t,
    'skills: {entries: {c++: {enabled: false}, "My Skill": {enabled: true}, node.js: {enabled: false}}}',
  )
  for (const key of ['c++', 'My Skill', 'node.js']) {
    const { code, stdout } = await place.run(['config', 'show', `skills.entries.${key}`])
    assert.equal(code, 0)
    assert.deepEqual(Object.keys(parse(stdout).skills.entries), [key])
  }
})

test('config show of an unknown section names the nearest one and ends with 2', async (t) => {
  const { code, stderr } = await new Place(t).run(['config', 'show', 'limit'])
  assert.equal(code, 2)
  assert.match(stderr, /Did you mean: nexus config show limits$/m)
})

test('commands that only look go on with a faulty configuration and say so; those that act stop with 2', async (t) => {
  const place = withUser(t, 'agents:\n  - id: main\n    tools: {dny: [run_command]}\n')
  for (const args of [['skills', 'list'], ['prompt'], ['skills', 'check', 'greet'], ['config', 'show']]) {
    const { code, stderr } = await place.run(args)
    assert.notEqual(code, 2, args.join(' '))
    assert.match(stderr, /nexus\.yaml:3:\d+[\s\S]*Did you mean "deny"\?/, args.join(' '))
  }
  for (const args of [['run', 'do it', '--model', 'recorded'], ['skills', 'run', 'greet', '--', 'true'], ['demo']]) {
    const { code, stderr } = await place.run(args)
    assert.equal(code, 2, args.join(' '))
    assert.match(stderr, /CONFIG_INVALID[\s\S]*nexus\.yaml:3:\d+/)
  }
})

test('looking runs no command for a secret', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  const apiKey = `{command: ${MARKING(place)}}`
  writeFileSync(
    join(place.home, 'nexus.yaml'),
    `model: {provider: openai, name: m, apiKey: ${apiKey}}\nskills: {entries: {greet: {apiKey: ${apiKey}}}}\n`,
  )
  for (const args of [
    ['skills', 'list'],
    ['config', 'show'],
    ['config', 'check'],
    ['doctor'],
    ['skills', 'why', 'greet'],
  ])
    await place.run(args)
  assert.throws(() => readFileSync(join(place.root, 'was-run')), { code: 'ENOENT' })
})

test('a turn asks the command for the key of its model', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  const model = `{provider: openai-compatible, name: m, baseUrl: "http://127.0.0.1:9/v1", apiKey: {command: ${MARKING(place)}}}`
  writeFileSync(join(place.home, 'nexus.yaml'), `model: ${model}\n`)
  const { stdout, stderr } = await place.run(['run', 'hello', '--trust', '--sandbox', 'none'])
  assert.equal(readFileSync(join(place.root, 'was-run'), 'utf8'), '')
  assert.doesNotMatch(stdout + stderr, /key-from-command/)
})

test('a command that gives no key stops the turn with the place of the setting', async (t) => {
  const place = withUser(t, 'model:\n  provider: openai\n  name: m\n  apiKey: {command: ["false"]}\n')
  const { code, stderr } = await place.run(['run', 'hello', '--trust', '--sandbox', 'none'])
  assert.equal(code, 2)
  assert.match(stderr, /nexus\.yaml:4:3 model\.apiKey: the command false ended with code 1/)
})

test('execution.limits reach the sandbox', { skip: whySkipped() ?? false }, async (t) => {
  const place = withUser(t, 'execution: {limits: {openFiles: 77}}\n')
  const { code, stdout, stderr } = await place.run(['skills', 'run', 'greet', '--trust', '--', 'sh', '-c', 'ulimit -n'])
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^77$/m)
})

test('config show and config check print no secret of free settings and addresses, in text and JSON', async (t) => {
  const place = withUser(
    t,
    `tools: {github: {token: top-secret-a, plain: shown}}
skills:
  entries: {x: {config: {pass: top-secret-b}}}
  sources: [{type: registry, url: "https://me:top-secret-c@r/x?token=top-secret-d"}]
mcp: {servers: {m: {url: "https://h/?k=top-secret-e"}}}
`,
  )
  for (const args of [['show'], ['show', '--json'], ['check'], ['check', '--json']]) {
    const { code, stdout, stderr } = await place.run(['config', ...args])
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stdout + stderr, /top-secret/)
    assert.match(stdout, args[0] === 'show' ? /plain"?: / : /nexus\.yaml/)
  }
})

test('config check and doctor report keys, files and directories that lead to nothing, and show no ✓ beside them', async (t) => {
  const place = withUser(t, 'skills:\n  entries: {gret: {enabled: true}}\n  load: {extraDirs: [$HOME/x, ./gone]}\n')
  writeFileSync(join(place.workspace, 'nexus.yml'), 'model: openai/x\n')
  for (const command of [['config', 'check'], ['doctor']]) {
    const { stdout } = await place.run(command)
    for (const code of ['skill-unknown', 'directory-unexpanded', 'directory-missing', 'config-not-read'])
      assert.match(stdout, new RegExp(`warning ${code} `), `${command.join(' ')}: ${stdout}`)
    assert.match(stdout, /Write greet\./)
    assert.match(stdout, command[0] === 'doctor' ? /^! config/m : /^! Read: /m)
  }
})

test('config check says that an entries of another form is no map', async (t) => {
  const { code, stdout } = await withUser(t, 'skills: {entries: pfd}\n').run(['config', 'check'])
  assert.equal(code, 1)
  assert.match(stdout, /skills\.entries is not applied\. It must be a map; it is a string\.[\s\S]*fix: /)
})
