import assert from 'node:assert/strict'
import { test } from 'node:test'

import { parsePolicy } from '../../src/authorize/index.ts'
import { failed, type JsonObject, NexusError } from '../../src/kernel/index.ts'
import { codeOf, dataOf, wordsOf } from './rig.ts'
import type { SkillEntryValues } from '../../src/tools/index.ts'
import { bench, type BenchParts, KEY, keyOf } from './variables-rig.ts'

const GITHUB = { primaryEnv: 'GH_TOKEN', requires: { env: ['GH_HOST'] } }
const ENTRY = { env: { GH_HOST: 'github.example.com' }, apiKey: () => Promise.resolve(KEY) }
const GIVEN = { GH_HOST: 'github.example.com', GH_TOKEN: KEY }
const RULES = {
  entries: new Map([['github', { hasApiKey: true, env: new Set(['GH_HOST']) }]]),
  disabledSkills: [],
  configTruthy: () => false,
}
const BOTH = {
  skills: { github: GITHUB, other: { primaryEnv: 'GH_TOKEN' } },
  entries: { github: ENTRY },
  parts: { gateRules: RULES },
}

test('a command for a skill gets what the skill declares and the entry holds, and the next command gets nothing', async (t) => {
  const { load, run, lastEnv, ledger } = await bench(t, BOTH)
  assert.match(wordsOf(await load('github')), /skill_name "github"; then GH_HOST, GH_TOKEN is set/)
  const outcome = await run({ skill_name: 'github' })
  assert.deepEqual(lastEnv(), GIVEN)
  assert.deepEqual(dataOf(outcome)['variables'], ['GH_HOST', 'GH_TOKEN'])
  assert.equal(dataOf(outcome)['skill'], 'upper/github')
  await run({})
  assert.deepEqual(lastEnv(), {})
  const skills = (await ledger.list()).filter(({ call }) => call.tool === 'run_command').map(({ skill }) => skill?.name)
  assert.deepEqual(skills.toSorted(), ['upper/github', undefined])
})

test('the key of one skill is not there for another one, though both are loaded and declare the same variable', async (t) => {
  const { load, run, lastEnv, baseDir } = await bench(t, BOTH)
  await load('github')
  await load('other')
  await run({ skill_name: 'github' })
  for (const args of [
    { skill_name: 'other' },
    { command: `bash ${baseDir('other')}/print.sh` },
    { command: 'env' },
    { command: 'env', cwd: 'upper/github' },
  ] as JsonObject[]) {
    const outcome = await run(args)
    assert.equal(codeOf(outcome), 'success')
    assert.deepEqual(lastEnv(), {}, JSON.stringify(args))
  }
})

test('a command that names the directory of one loaded skill is its, one that names two is nobody’s', async (t) => {
  const { load, run, lastEnv, baseDir } = await bench(t, BOTH)
  const own = `bash '${baseDir('github')}/scripts/x.sh' list`
  await run({ command: own })
  assert.deepEqual(lastEnv(), {}, 'before it is loaded')
  await load('github')
  await run({ command: own })
  assert.deepEqual(lastEnv(), GIVEN)
  for (const beside of [`${baseDir('github')}-evil/x.sh`, `/tmp${baseDir('github')}/x.sh`]) {
    await run({ command: `bash ${beside}` })
    assert.deepEqual(lastEnv(), {}, beside)
  }
  await load('other')
  await run({ command: `${own}; bash ${baseDir('other')}/x.sh` })
  assert.deepEqual(lastEnv(), {})
})

test('a command that says it is for one skill and names files of another is not run', async (t) => {
  const { load, run, sandbox, baseDir } = await bench(t, BOTH)
  await load('github')
  await load('other')
  const outcome = await run({ skill_name: 'github', command: `bash ${baseDir('other')}/x.sh` })
  assert.equal(codeOf(outcome), 'INVALID_PARAM')
  assert.match(wordsOf(outcome), /is for 'github', but it names files of 'other'/)
  assert.equal(sandbox.requests.length, 0)
})

test('a model runs commands only for skills that it loaded in the session; another session, agent or front does not count', async (t) => {
  const policy = parsePolicy({ profile: 'full' }).rules
  const agents = [
    { id: 'main', policy },
    { id: 'second', policy },
  ]
  const { load, run, sandbox, lastEnv } = await bench(t, { ...BOTH, parts: { ...BOTH.parts, agents } })
  await load('github')
  for (const more of [{ sessionId: 's2' }, { agentId: 'second' }, { origin: 'rpc', sessionId: 's3' }] as JsonObject[]) {
    const outcome = await run({ skill_name: 'github' }, more)
    assert.equal(codeOf(outcome), 'INVALID_PARAM')
    assert.match(wordsOf(outcome), /was not loaded in this session/)
  }
  assert.equal(sandbox.requests.length, 0)
  await run({ skill_name: 'github' }, { turnId: 't2' })
  assert.deepEqual(lastEnv(), GIVEN)
})

test('people and programs name the skill outright; a name that means nothing is refused', async (t) => {
  const { run, lastEnv } = await bench(t, BOTH)
  await run({ skill_name: '$github' }, { origin: 'cli', sessionId: undefined, turnId: undefined } as never)
  assert.deepEqual(lastEnv(), GIVEN)
  const outcome = await run({ skill_name: 'githab' }, { origin: 'library' })
  assert.equal(codeOf(outcome), 'NOT_FOUND')
  assert.match(JSON.stringify(outcome), /Did you mean 'github'/)
})

test('every command gets variables of its own, and those of this process stay as they are', async (t) => {
  const { run, sandbox } = await bench(t, {
    skills: { a: { primaryEnv: 'TOKEN' }, b: { primaryEnv: 'TOKEN' } },
    entries: { a: keyOf('value-of-a'), b: keyOf('value-of-b') },
  })
  const before = JSON.stringify(process.env)
  const names = ['a', 'b', 'a', 'b']
  await Promise.all(names.map((name) => run({ skill_name: name }, { origin: 'library' })))
  const envs = sandbox.requests.map(({ env }) => env)
  assert.deepEqual(envs.map((env) => env?.['TOKEN']).toSorted(), names.map((name) => `value-of-${name}`).toSorted())
  assert.equal(new Set(envs).size, 4)
  assert.equal(JSON.stringify(process.env), before)
})

test('a refused or undeclared name is not given and said, the rest is; what the sandbox sets stays', async (t) => {
  const { run, lastEnv } = await bench(t, {
    skills: {
      tool: {
        primaryEnv: 'TOOL_KEY',
        requires: {},
        envVars: [{ name: 'TOOL_HOST', required: false }, 'NODE_OPTIONS', 'TZ', '__proto__'],
      },
    },
    entries: {
      tool: {
        env: Object.fromEntries(
          ['TOOL_HOST', 'NODE_OPTIONS', 'LD_PRELOAD', 'STRAY', 'TZ', '__proto__'].map((name) => [name, `v-${name}`]),
        ),
        apiKey: () => Promise.resolve(KEY),
      },
    },
  })
  const outcome = await run({ skill_name: 'tool' }, { origin: 'library' })
  const expected = Object.fromEntries([
    ['TOOL_HOST', 'v-TOOL_HOST'],
    ['TOOL_KEY', KEY],
  ])
  assert.deepEqual(Object.entries(lastEnv()), Object.entries(expected))
  const notes = JSON.stringify(dataOf(outcome)['notes'])
  for (const name of ['NODE_OPTIONS', 'LD_PRELOAD', 'STRAY', '__proto__']) assert.ok(notes.includes(name), name)
  assert.doesNotMatch(notes, /v-/)
})

test('apiKey stands for primaryEnv only; env goes before it, and then it is not read', async (t) => {
  let reads = 0
  const apiKey = () => Promise.resolve(`${KEY}${++reads}`)
  const { run, lastEnv } = await bench(t, {
    skills: { plain: { envVars: ['A'] }, both: { primaryEnv: 'A' }, refused: { primaryEnv: 'LD_PRELOAD' } },
    entries: { plain: { env: {}, apiKey }, both: { env: { A: 'from-env' }, apiKey }, refused: { env: {}, apiKey } },
  })
  for (const [name, env] of [
    ['plain', {}],
    ['both', { A: 'from-env' }],
    ['refused', {}],
  ] as const) {
    await run({ skill_name: name }, { origin: 'library' })
    assert.deepEqual({ ...lastEnv() }, env, name)
  }
  assert.equal(reads, 0)
})

test('a secret that cannot be had ends the call before anything runs, with the place and the fix', async (t) => {
  const apiKey = () =>
    Promise.reject(new NexusError('CONFIG_INVALID', 'nexus.yaml:3:5 skills.entries.a.apiKey: no.', { fix: 'Mend it.' }))
  const { run, sandbox } = await bench(t, { skills: { a: { primaryEnv: 'A' } }, entries: { a: { env: {}, apiKey } } })
  const outcome = await run({ skill_name: 'a' }, { origin: 'library' })
  assert.deepEqual(
    outcome,
    failed('EXECUTION_ERROR', 'nexus.yaml:3:5 skills.entries.a.apiKey: no.', {
      error: 'CONFIG_INVALID',
      fix: 'Mend it.',
    }),
  )
  assert.equal(sandbox.requests.length, 0)
})

test('an untrusted copy gets nothing, whatever it is called and whatever key it claims', async (t) => {
  const skills = { github: GITHUB, thief: { primaryEnv: 'GH_TOKEN', skillKey: 'github' } }
  const { runtime, run, sandbox } = await bench(t, { ...BOTH, skills, upperTrusted: false })
  for (const name of ['github', 'upper/github', 'thief']) {
    const outcome = await run({ skill_name: name }, { origin: 'library' })
    assert.equal(outcome.type, 'failed', name)
  }
  assert.equal(sandbox.requests.length, 0)
  assert.deepEqual(runtime.openAgent().catalog().skills, [])
})

test('with an untrusted copy above it, the trusted copy of that name gets the key', async (t) => {
  const { run, lastEnv } = await bench(t, {
    ...BOTH,
    skills: { github: GITHUB },
    lower: { github: GITHUB },
    upperTrusted: false,
  })
  const outcome = await run({ skill_name: 'github' }, { origin: 'library' })
  assert.equal(dataOf(outcome)['skill'], 'lower/github')
  assert.deepEqual(lastEnv(), GIVEN)
})

test('a shadowed copy that is called by its address runs without the variables, and says so', async (t) => {
  const { run, lastEnv } = await bench(t, { ...BOTH, lower: { github: { ...GITHUB, emoji: 'x' } } })
  const outcome = await run({ skill_name: 'lower/github' }, { origin: 'library' })
  assert.deepEqual(lastEnv(), {})
  assert.match(
    JSON.stringify(dataOf(outcome)['notes']),
    /GH_TOKEN: 'lower\/github' is not the active copy of its skill/,
  )
})

test('skillKey reaches an entry unless a trusted skill has that name', async (t) => {
  const thief = { primaryEnv: 'GH_TOKEN', skillKey: 'github' }
  const alone = await bench(t, { ...BOTH, skills: { thief } })
  await alone.run({ skill_name: 'thief' }, { origin: 'library' })
  assert.equal(alone.lastEnv()['GH_TOKEN'], KEY)
  const beside = await bench(t, { ...BOTH, skills: { thief, github: GITHUB } })
  await beside.run({ skill_name: 'thief' }, { origin: 'library' })
  assert.deepEqual(beside.lastEnv(), {})
})

test('policy takes the variables away with run_command.secrets, and the command still runs', async (t) => {
  const policy = parsePolicy({ profile: 'full', deny: ['run_command.secrets'] }).rules
  const { load, run, lastEnv } = await bench(t, { ...BOTH, parts: { ...BOTH.parts, agents: [{ id: 'main', policy }] } })
  assert.doesNotMatch(wordsOf(await load('github')), /GH_TOKEN/)
  assert.equal(codeOf(await run({ skill_name: 'github' })), 'success')
  assert.deepEqual(lastEnv(), {})
})

test('an agent that may not use the skill cannot run commands for it', async (t) => {
  const policy = parsePolicy({ profile: 'full' }).rules
  const agents = [{ id: 'main', policy, skills: ['other'] }]
  const { run, sandbox } = await bench(t, { ...BOTH, parts: { ...BOTH.parts, agents } })
  assert.equal((await run({ skill_name: 'github' }, { origin: 'library' })).type, 'failed')
  assert.equal(sandbox.requests.length, 0)
})

test('a failed command says which declared variable it did not get, and why', async (t) => {
  const failing = { script: () => ({ exitCode: 1, stderr: 'GH_TOKEN is not set\n' }) }
  const notesAfter = async (given: BenchParts, args: JsonObject, more: JsonObject = {}): Promise<string> => {
    const { load, run } = await bench(t, { ...failing, ...given })
    await load('github')
    return JSON.stringify(dataOf(await run(args, more))['notes'] ?? [])
  }
  const named = { skill_name: 'github' }
  const skills = { github: { primaryEnv: 'GH_TOKEN', envVars: ['GH_DEBUG'] } }
  assert.match(
    await notesAfter({ skills }, named),
    /GH_TOKEN: no configuration sets it\. Set skills\.entries\.github\.apiKey/,
  )
  assert.doesNotMatch(await notesAfter({ skills }, named), /GH_DEBUG/)
  assert.match(await notesAfter({ skills }, { ...named, command: 'echo $GH_DEBUG' }), /GH_DEBUG: no configuration/)
  assert.match(
    await notesAfter({ skills, entries: { github: keyOf(KEY) } }, { command: 'gh api' }),
    /GH_TOKEN: the call names no skill\. Call again with skill_name \\"github\\"\./,
  )
  const policy = parsePolicy({ deny: ['run_command.secrets'] }).rules
  const parts = { agents: [{ id: 'main', policy }] }
  assert.match(await notesAfter({ skills, entries: { github: keyOf(KEY) }, parts }, named), /GH_TOKEN: the policy of/)
  const explained = { script: () => ({ exitCode: 127, stderr: 'bash: line 1: gh: command not found\n' }) }
  assert.doesNotMatch(await notesAfter({ skills, ...explained }, named), /GH_TOKEN/)
  const quiet = { script: () => ({}) }
  assert.equal(await notesAfter({ skills, ...quiet }, named), '[]')
})

test('a masked value has its placeholder for its own hosts; one too short to be found in answers runs no command', async (t) => {
  const skills = { long: { primaryEnv: 'K' }, short: { primaryEnv: 'K' } }
  const maskedFor = [{ host: 'api.org', port: undefined }]
  const masked = (value: string): SkillEntryValues => ({
    ...keyOf(value),
    maskedFor,
    hosts: [{ host: 'other.org', port: undefined }],
  })
  const { load, run, lastEnv, sandbox } = await bench(t, {
    skills,
    entries: { long: masked(KEY), short: masked('12345') },
  })
  for (const name of ['long', 'short']) await load(name)
  await run({ skill_name: 'long' })
  const placeholder = lastEnv()['K'] ?? ''
  assert.match(placeholder, /^nexus_masked_[0-9a-f]{32}$/)
  assert.deepEqual(sandbox.requests.at(-1)?.network?.masks, [{ placeholder, value: KEY, hosts: maskedFor }])
  const count = sandbox.requests.length
  const refused = await run({ skill_name: 'short' })
  assert.match(
    JSON.stringify(refused),
    /value of K is masked and has fewer than 6 characters.*credentials: mask from skills\.entries\.short/,
  )
  assert.equal(sandbox.requests.length, count)
})
