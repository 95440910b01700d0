import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { COMMANDS } from '../../../src/apps/cli/table.ts'
import { CODES, isJsonObject, type JsonObject, type JsonValue } from '../../../src/kernel/index.ts'
import { startModelServer } from '../../../src/testing/index.ts'
import { Place, type Ran } from './nexus.ts'

const SCHEMA = JSON.parse(
  readFileSync(new URL('../../../schema/output.schema.json', import.meta.url), 'utf8'),
) as JsonObject

/** The schema as we hold ourselves to it: readers accept members they do not know, we print none. */
function closed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(closed)
  if (!isJsonObject(value)) return value
  const inner = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closed(member)]))
  return value['type'] === 'object' && value['properties'] !== undefined
    ? { ...inner, additionalProperties: false }
    : inner
}

const isValid = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, strictTypes: false }).compile(
  closed(SCHEMA) as object,
)

interface Envelope {
  readonly command: string
  readonly ok: boolean
  readonly data: { readonly [key: string]: JsonValue } | null
  readonly diagnostics: readonly { severity: string; code: string }[]
  readonly error?: { readonly code: keyof typeof CODES; readonly message: string; readonly fix?: string }
}

/** The one document on stdout, held against the published schema and the exit code. */
function envelopeOf({ stdout, stderr, code }: Ran, about: string): Envelope {
  assert.ok(stdout !== '', `${about}: nothing on stdout; ${stderr}`)
  const document = JSON.parse(stdout) as Envelope
  assert.ok(isValid(document), `${about}: ${JSON.stringify(isValid.errors, undefined, 1)}`)
  assert.equal(document.ok, code === 0, about)
  return document
}

const PREPARED = { extra: ['skills', 'validate', 'skills'], migrate: ['skills', 'migrate', 'skills', '--dry-run'] }

/** A way to call each command that has `--json`, and the exit code. */
const CALLS: readonly (readonly [readonly string[], number])[] = [
  [['skills', 'list', '--all', '--trust'], 0],
  [['agent', 'create', 'boss'], 0],
  [['agent', 'create', 'worker', '--parent', 'boss', '--max-tokens', '100'], 0],
  [['agent', 'create', 'worker', '--preset', 'wizard'], 2],
  [['agent', 'list'], 0],
  [['agent', 'tree'], 0],
  [['agent', 'status', 'worker'], 0],
  [['agent', 'messages', 'worker'], 0],
  [['agent', 'cancel', 'worker', 'req-1'], 0],
  [['agent', 'resume', 'worker', '--trust'], 0],
  [['agent', 'compact', 'nobody', '--trust'], 4],
  [['agent', 'send', 'nobody', 'Hi', '--trust'], 4],
  [['agent', 'destroy', 'boss'], 0],
  [['agent', 'list', '--ended'], 0],
  [['agent', 'detect', '--port', '9'], 0],
  [['shutdown'], 4],
  [['db', 'migrate'], 0],
  [['db', 'status'], 0],
  [['skills', 'show', 'greet', '--trust'], 0],
  [['skills', 'show', 'greet', '--trust', '--content'], 0],
  [['skills', 'check', '--trust'], 1],
  [['skills', 'check', 'greet', '--trust'], 0],
  [['skills', 'why', 'image-gen'], 1],
  [['skills', 'why', 'absent'], 4],
  [['skills', 'deps', 'greet', '--trust'], 0],
  [['skills', 'search', 'chart'], 0],
  [['skills', 'search', 'quantum'], 4],
  [['skills', 'run', 'greet', '--trust', '--sandbox', 'none', '--', 'echo hi; exit 3'], 3],
  [['skills', 'init', 'fresh'], 0],
  [PREPARED.extra, 1],
  [PREPARED.migrate, 1],
  [['skills', 'install', './skills', '--skill', 'greet', '--list', '--scope', 'user'], 0],
  [['skills', 'install', './skills/greet', '--scope', 'user', '--yes'], 0],
  [['skills', 'add', './skills/greet', '--scope', 'user', '--dry-run'], 0],
  [['skills', 'add', './absent'], 4],
  [['skills', 'update', '--all', '--scope', 'user'], 0],
  [['skills', 'outdated', '--scope', 'user'], 0],
  [['skills', 'refresh'], 0],
  [['skills', 'ci', '--scope', 'user'], 0],
  [['skills', 'verify', '--scope', 'user'], 0],
  [['skills', 'pin', 'greet', '--scope', 'user'], 0],
  [['skills', 'unpin', 'greet', '--scope', 'user'], 0],
  [['skills', 'rollback', 'greet', '--scope', 'user'], 4],
  [['skills', 'remove', 'greet', '--scope', 'user'], 0],
  [['prompt', '--trust'], 0],
  [['approvals', 'list'], 0],
  [['approvals', 'answer', 'absent', '--allow'], 4],
  [['approvals', 'forget', 'absent'], 4],
  [['sessions', 'cancel', 'absent'], 4],
  [['sessions', 'remove', 'absent'], 4],
  [['changes', 'list'], 0],
  [['changes', 'show', 'absent'], 4],
  [['changes', 'keep', 'absent'], 4],
  [['changes', 'drop', 'absent'], 4],
  [['changes', 'undo', 'absent'], 4],
  [['changes', 'forget', 'absent'], 4],
  [['sessions', 'list'], 0],
  [['calls'], 0],
  [['config', 'check'], 0],
  [['config', 'show'], 0],
  [['config', 'schema'], 0],
  [['policy', 'explain', 'main', 'run_command'], 0],
  [['policy', 'test', 'absent.yaml'], 2],
  [['policy', 'check'], 0],
  [['policy', 'diff', 'main'], 2],
  [['policy', 'shadow'], 0],
  [['mcp', 'install', 'cursor'], 0],
  [['mcp', 'uninstall', 'cursor'], 0],
  [['mcp', 'check', 'zed'], 1],
  [['trust', '--list'], 0],
  [['explain', 'yaml-duplicate-key'], 0],
  [['explain'], 0],
  [['explain', 'yaml-duplicat-key'], 4],
  [['completion', 'bash'], 0],
  [['--version'], 0],
]

test('what every command prints with --json is as the published schema says', async (t) => {
  const place = new Place(t)
  for (const [args, code] of CALLS) {
    const ran = await place.run(withJson(args))
    assert.equal(ran.code, code, `${args.join(' ')}: ${ran.stderr}`)
    assert.equal(envelopeOf(ran, args.join(' ')).error === undefined, code === 0 || isAnswer(args), args.join(' '))
  }
})

/** Not 0, and yet an answer: the command's own exit code, or a state that was asked for. */
function isAnswer(args: readonly string[]): boolean {
  return ['run', 'validate', 'migrate'].includes(args[1] ?? '') || args[0] === 'mcp' || args.includes('image-gen')
}

function withJson(args: readonly string[]): string[] {
  const split = args.indexOf('--')
  return split === -1 ? [...args, '--json'] : [...args.slice(0, split), '--json', ...args.slice(split)]
}

test('turns, their sessions and doctor print what the published schema says', async (t) => {
  const place = new Place(t)
  await using server = await startModelServer({
    script: [
      { type: 'tool-calls', calls: [{ name: 'run_command', arguments: { command: 'echo hi' } }] },
      { type: 'text', text: 'Done.' },
      { type: 'status', status: 401 },
    ],
  })
  const flags = ['--trust', '--sandbox', 'none', '--model', 'openai-compatible/scripted', '--base-url', server.url]
  const fine = envelopeOf(await place.run(['run', 'hello', ...flags, '--json']), 'run')
  assert.deepEqual([fine.ok, fine.data?.['text'], fine.error], [true, 'Done.', undefined])
  const session = String(fine.data?.['session'])
  envelopeOf(await place.run(['sessions', 'list', '--json']), 'sessions list')
  envelopeOf(await place.run(['sessions', 'show', session, '--json']), 'sessions show')
  // The beginning of an id is enough to go on.
  const ran = await place.run(['run', 'again', '--session', session.slice(0, 12), ...flags, '--json'])
  const failed = envelopeOf(ran, 'run that fails')
  assert.deepEqual([ran.code, failed.error?.code, failed.data?.['session']], [3, 'MODEL_FAILED', session])
  // Nothing of it waits, and it is an error of the same form.
  const resumed = envelopeOf(await place.run(['sessions', 'resume', session, '--json']), 'sessions resume')
  assert.equal(resumed.ok, false)
  envelopeOf(await place.run(['doctor', '--json']), 'doctor')
})

test('what policy shadow lists, and the row that it comes from, are as the published schema says', async (t) => {
  const place = new Place(t)
  const write = { name: 'write_file', arguments: { path: 'a.txt', content: 'a' } }
  await using server = await startModelServer({
    script: [
      { type: 'tool-calls', calls: [write] },
      { type: 'tool-calls', calls: [write, { name: 'list_directory', arguments: { path: '.' } }] },
      { type: 'text', text: 'Done.' },
    ],
  })
  mkdirSync(place.home, { recursive: true })
  writeFileSync(
    join(place.home, 'nexus.yaml'),
    'agents: [{ id: main, preset: sandboxed, shadow: strict }, { id: strict, preset: worker, tools: { ask: [list_directory] } }]\n',
  )
  const model = ['--model', 'openai-compatible/scripted', '--base-url', server.url]
  const ran = await place.run(['run', 'Write', '--trust', '--sandbox', 'none', ...model, '--json'])
  const session = String(envelopeOf(ran, 'run').data?.['session'])
  envelopeOf(await place.run(['sessions', 'show', session, '--json']), 'sessions show')
  const { data } = envelopeOf(await place.run(['policy', 'shadow', 'main', '--json']), 'policy shadow')
  const about = { agent: 'main', shadow: 'strict', own: 'allow' }
  assert.deepEqual(data?.['differences'], [
    { ...about, tool: 'write_file', decision: 'deny', rule: 'preset worker', count: 2 },
    { ...about, tool: 'list_directory', decision: 'ask', rule: 'ask list_directory', count: 1 },
  ])
  // The shadow refused nothing.
  assert.equal(readFileSync(join(place.workspace, 'a.txt'), 'utf8'), 'a')
  const shown = await place.run(['policy', 'shadow'])
  assert.match(shown.stdout, /main +write_file +allow +deny \(preset worker\) +strict +2/)
  const none = await place.run(['policy', 'shadow', 'strict'])
  assert.deepEqual(
    [none.code, none.stdout],
    [0, 'No shadow would have decided a recorded call of strict differently.\n'],
  )
  // A call without a session counts too; one of another workspace does not.
  mkdirSync(join(place.workspace, 'skills/hello'), { recursive: true })
  writeFileSync(
    join(place.workspace, 'skills/hello/SKILL.md'),
    '---\nname: hello\ndescription: Says hello.\n---\nHello.\n',
  )
  writeFileSync(
    join(place.home, 'nexus.yaml'),
    'agents: [{ id: main, preset: yolo, shadow: strict }, { id: strict, preset: yolo, tools: { deny: [exec] } }]\n',
  )
  const done = await place.run(['skills', 'run', 'hello', '--sandbox', 'none', '--trust', '--', 'echo', 'hi'])
  assert.equal(done.code, 0, done.stderr)
  assert.match(
    (await place.run(['policy', 'shadow'])).stdout,
    /main +run_command +allow +deny \(deny exec\) +strict +1/,
  )
  const elsewhere = join(place.workspace, 'other')
  mkdirSync(join(elsewhere, '.nexus'), { recursive: true })
  const other = await place.run(['policy', 'shadow'], { cwd: elsewhere })
  assert.match(other.stdout, /^No shadow would have decided a recorded call of this workspace/)
  const unknown = await place.run(['policy', 'shadow', 'strct'])
  assert.deepEqual([unknown.code, /Did you mean strict\?/.test(unknown.stderr)], [2, true], unknown.stderr)
})

test('every command has --json, and the schema knows the data of each', () => {
  const known = Object.keys(SCHEMA['$defs'] as JsonObject).flatMap((name) => /^data of (.*)$/.exec(name)?.[1] ?? [])
  const printing = COMMANDS.filter(({ options }) => options?.['json']).map(({ name }) => name)
  assert.deepEqual(
    printing,
    // Its stdout belongs to the protocol.
    COMMANDS.filter(({ isService }) => isService !== true).map(({ name }) => name),
  )
  assert.deepEqual(known.sort(), [...printing, 'version'].sort())
  // An unknown key of the data would be let through by a command that the schema does not name.
  const named = JSON.stringify(SCHEMA['allOf'])
  for (const name of known) assert.ok(named.includes(`{"const":"${name}"}`), name)
})

test('every command is held against the schema here', () => {
  const called = new Set(CALLS.map(([args]) => args.join(' ')))
  const elsewhere = ['run', 'sessions show', 'sessions resume', 'sessions compact', 'doctor', 'demo']
  for (const { name, isService } of COMMANDS)
    assert.ok(isService || elsewhere.includes(name) || [...called].some((words) => words.startsWith(name)), name)
})

test('the demo prints one document, and its show goes to stderr', async (t) => {
  const place = new Place(t)
  const ran = await place.run(['demo', '--model', 'recorded', '--sandbox', 'none', '--json'])
  const { data } = envelopeOf(ran, 'demo')
  assert.equal(ran.code, 0, ran.stderr)
  assert.match(ran.stderr, /Artifacts/)
  const { artifacts } = data as unknown as { artifacts: readonly { file: string; bytes: number }[] }
  for (const { file, bytes } of artifacts) assert.equal(statSync(file).size, bytes)
  assert.equal(artifacts.length, 2)
  rmSync(String(data?.['workspace']), { recursive: true })
})

const FAILURES: readonly (readonly [readonly string[], keyof typeof CODES])[] = [
  [['skills', 'show', 'absent'], 'SKILL_NOT_FOUND'],
  [['skills', 'show', 'broken', '--trust'], 'SKILL_INVALID'],
  [['skills', 'list', '--skills-dir', '/no/such/dir'], 'FILE_NOT_FOUND'],
  [['skills', 'list', '--agent', 'nobody'], 'INVALID_ARGUMENT'],
  [['skills', 'lost'], 'INVALID_ARGUMENT'],
  [['skills', 'list', '--alll'], 'INVALID_ARGUMENT'],
  [['skills', 'run', 'greet', '--', 'true'], 'UNTRUSTED_WORKSPACE'],
  [['run', 'hello', '--trust'], 'MODEL_NOT_CONFIGURED'],
  [['run', 'hello', '--trust', '--model', 'recorded'], 'INVALID_ARGUMENT'],
  [['sessions', 'show', 'absent'], 'FILE_NOT_FOUND'],
  [['config', 'show', 'limit'], 'INVALID_ARGUMENT'],
  [['skills', 'init', '../x'], 'INVALID_ARGUMENT'],
]

test('a failure is the same document with its code and fix, and its exit code is kept', async (t) => {
  const place = new Place(t)
  for (const [args, code] of FAILURES) {
    const ran = await place.run(withJson(args))
    const { error, data } = envelopeOf(ran, args.join(' '))
    assert.deepEqual([error?.code, data, ran.code], [code, null, CODES[code].exit], args.join(' '))
    assert.match(ran.stderr, new RegExp(`error ${code}`))
  }
})

test('a broken configuration is in the document of what stops for it', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'limits: { maxIterations: many }\n')
  const { error } = envelopeOf(await place.run(['run', 'hello', '--trust', '--json']), 'run')
  assert.equal(error?.code, 'CONFIG_INVALID')
  const { diagnostics, ok } = envelopeOf(await place.run(['skills', 'list', '--trust', '--json']), 'skills list')
  assert.deepEqual(
    [ok, diagnostics.some(({ severity, code }) => severity === 'error' && code.startsWith('config-'))],
    [true, true],
  )
})
