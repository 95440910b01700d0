/** A program that opens an untrusted workspace by the library, with all tools and no person to ask. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { readEnvironment, trustWorkspace } from '../../src/config/index.ts'
import { type LocalOptions, openLocal } from '../../src/local/index.ts'
import { createFolderSource, createRuntime } from '../../src/public/index.ts'
import { createSandbox } from '../../src/machine/sandbox/index.ts'

const SKILL = { 'work/skills/evil/SKILL.md': '---\nname: evil\ndescription: Does it.\n---\nDo it.\n' }
const SCRIPT = { 'work/skills/evil/run.sh': 'touch ran\n' }

function place(t: TestContext, files: Readonly<Record<string, string>>) {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-library-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  for (const [path, text] of Object.entries({ 'home/.keep': '', 'work/.nexus/.keep': '', ...files })) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  const [cwd, nexusHome] = [join(directory, 'work'), join(directory, 'home')]
  const environment = readEnvironment({ HOME: directory, NEXUS_HOME: nexusHome, PATH: process.env['PATH'] })
  return { cwd, nexusHome, environment, ran: () => existsSync(join(cwd, 'ran')) }
}

/** Runs the script of the skill as a model would, and reports what was decided and offered. */
async function tryToRun(at: ReturnType<typeof place>, options: LocalOptions = {}, command = 'sh skills/evil/run.sh') {
  const { cwd, environment } = at
  // A person says yes to everything, so that nothing but trust refuses.
  const approve = async (): Promise<boolean> => true
  const local = await openLocal({ cwd, environment, sandbox: 'none', record: 'memory', approve, ...options })
  try {
    const agent = local.runtime.openAgent()
    const offered = agent.definitions().map(({ name }) => name)
    const { decision } = await agent.call({ tool: 'run_command', arguments: { command }, origin: 'model' })
    return { decision, isOffered: offered.includes('run_command') }
  } finally {
    await local.close()
  }
}

const REASON = /workspace is not trusted.*nexus trust.*trusted: true/

for (const [what, files] of Object.entries({
  'a skill': SKILL,
  'a skill whose name a trusted one has': {
    ...SKILL,
    'home/skills/evil/SKILL.md': '---\nname: evil\ndescription: Does more.\n---\nDo more.\n',
  },
  'a skill that cannot be read': { 'work/skills/evil/SKILL.md': '---\n: [\n---\n' },
})) {
  test(`without trust no command runs beside ${what} of the workspace, and the model is not offered any`, async (t) => {
    const at = place(t, { ...SCRIPT, ...files })
    const { decision, isOffered } = await tryToRun(at)
    assert.equal(decision.type, 'deny')
    assert.match(decision.type === 'deny' ? decision.reason : '', REASON)
    assert.equal(isOffered, false)
    assert.equal(at.ran(), false)
  })
}

test('no answer of a person opens it, and neither does a policy', async (t) => {
  const at = place(t, {
    ...SCRIPT,
    ...SKILL,
    'home/nexus.yaml': 'agents: [{ id: main, tools: { profile: full, allow: [run_command] } }]\n',
  })
  const { decision } = await tryToRun(at, { approve: async () => ({ isAllowed: true, by: 'test' }) })
  assert.equal(decision.type, 'deny')
  assert.equal(at.ran(), false)
})

test('settings that were edited after they were trusted stop it as well', async (t) => {
  const at = place(t, { ...SCRIPT, ...SKILL })
  await trustWorkspace({ nexusHome: at.nexusHome, directory: at.cwd })
  writeFileSync(
    join(at.cwd, 'nexus.yaml'),
    'model: { provider: openai, name: m, apiKey: { command: [sh, evil.sh] } }\n',
  )
  assert.equal((await tryToRun(at)).decision.type, 'deny')
  assert.equal(at.ran(), false)
})

test('the word of the caller, and that of the user, are trust', async (t) => {
  const said = place(t, { ...SCRIPT, ...SKILL })
  assert.equal((await tryToRun(said, { trusted: true })).decision.type, 'allow')
  assert.equal(said.ran(), true)
  const remembered = place(t, { ...SCRIPT, ...SKILL })
  await trustWorkspace({ nexusHome: remembered.nexusHome, directory: remembered.cwd })
  assert.equal((await tryToRun(remembered)).decision.type, 'allow')
  assert.equal(remembered.ran(), true)
})

test('a workspace with nothing of its own to trust runs commands', async (t) => {
  const at = place(t, {})
  assert.equal((await tryToRun(at, {}, 'touch ran')).decision.type, 'allow')
  assert.equal(at.ran(), true)
})

test('parts handed to createRuntime are the word of the caller', async (t) => {
  const at = place(t, { ...SCRIPT, ...SKILL })
  const sandbox = await createSandbox({ kind: 'none', projectId: 'default' })
  const path = join(at.cwd, 'skills')
  const runtime = await createRuntime({
    sources: [createFolderSource({ id: 'mine', tier: 'workspace', rank: 0, path, trusted: true })],
    sandbox,
    workspace: at.cwd,
  })
  const command = 'sh skills/evil/run.sh'
  const { decision } = await runtime.openAgent().call({ tool: 'run_command', arguments: { command } })
  await runtime.close()
  assert.equal(decision.type, 'allow')
  assert.equal(at.ran(), true)
})
