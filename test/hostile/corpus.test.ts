/** The inputs of the attack fixtures, where they are: commands, paths, strings and skills. Variables are in test/machine/sandbox/environment.test.ts. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readEnvironment } from '../../src/config/index.ts'
import { hasHidden } from '../../src/kernel/index.ts'
import { inspectSkills, openLocal } from '../../src/local/index.ts'
import { createSandbox, type Sandbox } from '../../src/machine/sandbox/index.ts'
import { toModelText } from '../../src/tools/index.ts'
import { localOptions, openDirectory } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const corpus = process.env['NEXUS_CORPUS'] ?? join(import.meta.dirname, '../../../shared/corpus')
const attacks = join(corpus, '../attacks')
const skip = !existsSync(join(attacks, 'gen-skills.mjs')) && 'the attack fixtures are not here'

interface Case {
  readonly id: string
  readonly expect: string
  readonly [name: string]: string
}

async function load(name: string, values: Readonly<Record<string, string>> = {}): Promise<readonly Case[]> {
  const { load: all } = (await import(join(attacks, 'gen-lists.mjs'))) as {
    load: (name: string, values: object) => readonly Case[]
  }
  return all(name, values)
}

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-attacks-')))
after(() => rmSync(directory, { recursive: true, force: true }))
const canaries = join(directory, 'canaries')
mkdirSync(canaries)
const generate = (script: string, name: string): string => {
  const out = join(directory, name)
  const env = { ...process.env, NEXUS_CANARY_DIR: canaries }
  execFileSync(process.execPath, [join(attacks, script), out], { env, stdio: 'ignore' })
  return out
}
const environment = readEnvironment({ HOME: join(directory, 'user'), PATH: process.env['PATH'] })
const work = join(directory, 'work')
for (const each of [work, join(directory, 'user')]) mkdirSync(each)

describe('commands (X)', { skip: skip || (whySkipped() ?? false) }, () => {
  const root = openDirectory()
  let sandbox: Sandbox
  before(async () => {
    sandbox = await createSandbox(localOptions({}))
  })
  after(async () => {
    await sandbox.close()
    rmSync(root, { recursive: true, force: true })
  })

  it('have no effect outside of the workspace and reach no port', { timeout: 300_000 }, async () => {
    const [outside, canaryDirectory, workspace] = ['outside', 'kept', 'work'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ]
    for (const each of [outside, canaryDirectory, workspace]) mkdirSync(each)
    const canary = join(canaryDirectory, 'canary.txt')
    writeFileSync(canary, 'still here')
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.destroy()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    const values = { CANARY: canary, CANARYDIR: canaryDirectory, OUTSIDE: outside, PORT: String(port) }
    const cases = (await load('shell', values)).filter(({ cmd, run }) => cmd && run !== 'decide')
    assert.ok(cases.length > 20)
    try {
      for (const { id, cmd = '', expect } of cases) {
        rmSync(workspace, { recursive: true })
        mkdirSync(workspace)
        for (const name of ['f', 'evil']) writeFileSync(join(workspace, name), 'x')
        const exitCode = await sandbox.run({ command: cmd, workspace, timeoutMs: 2_000 }).then(
          (result) => result.exitCode,
          (error: { code?: string }) => error.code,
        )
        assert.ok(typeof exitCode === 'number' || exitCode === 'INVALID_ARGUMENT', `${id} ${exitCode}`)
        assert.equal(readFileSync(canary, 'utf8'), 'still here', id)
        assert.deepEqual(readdirSync(outside), [], id)
        assert.equal(connections, 0, id)
        if (expect === 'ok') assert.equal(exitCode, 0, id)
      }
    } finally {
      server.close()
    }
  })
})

describe('paths (P)', { skip }, () => {
  it('read no byte outside of the skill, and end', { timeout: 60_000 }, async (t) => {
    const out = generate('gen-root.mjs', 'paths')
    const root = join(out, 'root')
    const values = { ROOT: root, BASENAME: 'root', OUT: out, OUTSIDE: join(out, 'outside') }
    const local = await openLocal({ cwd: work, environment, sandbox: 'none', record: 'memory', skillsDirs: [out] })
    t.after(() => local.close())
    const agent = local.runtime.openAgent()
    const all = local.runtime.openAgent().catalog()
    const skill = all.skills.find(({ directory: at }) => at === root)
    assert.ok(skill, JSON.stringify(all.invalid.map(({ diagnostics }) => diagnostics)))
    const secrets = ['outside/secret.txt', 'root-evil/secret.txt', 'outside.txt'].map((name) =>
      readFileSync(join(out, name), 'utf8').trim(),
    )
    for (const { id, path = '', op, expect } of await load('paths', values)) {
      const call = { tool: 'read_skill_file', arguments: { skill_name: skill.name, file_path: path } }
      const { outcome } = await agent.call(call)
      const text = toModelText(outcome)
      if (op !== 'write') for (const secret of secrets) assert.ok(!secret || !text.includes(secret), `${id}: ${text}`)
      if (op !== 'write' && ['deny', 'error', 'dir', 'notfound'].includes(expect))
        assert.equal(outcome.type, 'failed', `${id} ${path}`)
    }
  })
})

describe('strings (N)', { skip }, () => {
  it('stay inside of their place and hide nothing in what a model is told', async (t) => {
    const cases = (await load('prompt-strings')).filter(({ field }) => field === 'description')
    assert.ok(cases.length > 5)
    const skills = join(directory, 'strings')
    for (const { id, value = '' } of cases) {
      mkdirSync(join(skills, id.toLowerCase()), { recursive: true })
      const text = JSON.stringify(value.toWellFormed())
      writeFileSync(
        join(skills, id.toLowerCase(), 'SKILL.md'),
        `---\nname: ${id.toLowerCase()}\ndescription: ${text}\n---\nx\n`,
      )
    }
    const options = { cwd: work, environment, sandbox: 'none', record: 'memory', skillsDirs: [skills] } as const
    for (const style of ['xml', 'markdown', 'list'] as const) {
      const local = await openLocal({ ...options, prompt: { style, budgetChars: 100_000 } })
      t.after(() => local.close())
      const { text } = local.runtime.openAgent().index()
      assert.equal(hasHidden(text), false, style)
      assert.equal(text.isWellFormed(), true)
      if (style === 'xml') assert.equal(text.split('</available_skills>').length, 2)
      assert.doesNotMatch(text, /^SYSTEM:|^# New section|^```/m, style)
    }
  })
})

describe('skills (K, D)', { skip }, () => {
  it('stop no other skill, run nothing, and are offered only where that is right', { timeout: 120_000 }, async () => {
    const out = generate('gen-skills.mjs', 'skills')
    const cases = JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8')) as readonly Case[]
    for (const { id, dir = '', load: wanted, class: kind } of cases) {
      const set = join(out, dir === '' ? `${id}-set` : dirname(dir))
      const inspection = await inspectSkills({ cwd: work, environment, skillsDirs: [set] })
      const catalog = inspection.catalog()
      const at = join(out, dir)
      const offered = catalog.skills.some(({ directory: each }) => each === at)
      if (kind === 'control' && wanted === 'loads') assert.ok(offered, id)
      if (wanted === 'held' && dir !== '') assert.equal(offered, false, id)
    }
    const left = [...readdirSync(canaries), ...readdirSync(tmpdir()).filter((name) => name.startsWith('nexus-pwned-'))]
    assert.deepEqual(left, [])
  })
})
