/** Smaller ways around: names, encodings, hidden characters, and what is not a file where one is expected. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { consentOf, listTrusted, loadConfig, readEnvironment } from '../../src/config/index.ts'
import { checkLenient, parseSkill } from '../../src/skills/format/index.ts'
import { createRedactor, hiddenIn, nameKey, succeeded } from '../../src/kernel/index.ts'
import { openLocal } from '../../src/local/index.ts'
import { refusedVariable } from '../../src/machine/sandbox/index.ts'
import { toModelText } from '../../src/tools/index.ts'

function place(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-details-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries({ 'home/.keep': '', 'work/.nexus/.keep': '', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const environment = readEnvironment({ HOME: root, NEXUS_HOME: join(root, 'home'), PATH: process.env['PATH'] })
  return { root, cwd: join(root, 'work'), nexusHome: join(root, 'home'), environment }
}

const NO_FILES = ['a FIFO', 'a device', 'a directory', 'a socket of another program'] as const

function put(path: string, kind: (typeof NO_FILES)[number]): void {
  if (kind === 'a FIFO') execFileSync('mkfifo', [path])
  else if (kind === 'a device') symlinkSync('/dev/zero', path)
  else if (kind === 'a directory') mkdirSync(path)
  else execFileSync(process.execPath, ['-e', 'net.createServer().listen(process.argv[1], () => process.exit(0))', path])
}

describe('what is not a file', () => {
  for (const kind of NO_FILES) {
    it(`${kind} in place of trust.json, of nexus.yaml and of a secret is reported, and nothing waits for it`, async (t) => {
      const at = place(t, { 'home/nexus.yaml': 'model: { provider: openai, name: m, apiKey: { file: ../key } }\n' })
      put(join(at.nexusHome, 'trust.json'), kind)
      put(join(at.cwd, 'nexus.yaml'), kind)
      put(join(at.root, 'key'), kind)
      const list = await listTrusted(at.nexusHome)
      assert.deepEqual(list.workspaces, [])
      assert.equal(list.diagnostics.length, 1)
      const { diagnostics } = await loadConfig({ cwd: at.cwd, environment: at.environment })
      assert.deepEqual(
        diagnostics.filter(({ path }) => path === join(at.cwd, 'nexus.yaml')).map(({ code }) => code),
        ['config-unreadable'],
      )
    })
  }
})

describe('a nexus.yaml that is a link', () => {
  it('out of the workspace is not read, whoever trusts it, and no line of its target is shown', async (t) => {
    const at = place(t, { 'private/notes.yaml': 'model: { name: my-private-line }\n' })
    symlinkSync('../private/notes.yaml', join(at.cwd, 'nexus.yaml'))
    for (const trusted of [false, true]) {
      const loaded = await loadConfig({ cwd: at.cwd, environment: at.environment, trusted })
      const shown = JSON.stringify([loaded.diagnostics, loaded.config, await consentOf(loaded)])
      assert.match(shown, /link to a file outside the workspace/)
      assert.doesNotMatch(shown, /my-private-line/)
    }
  })

  it('to a file of the workspace is read', async (t) => {
    const at = place(t, { 'work/conf/own.yaml': 'limits: { maxIterations: 7 }\n' })
    symlinkSync('conf/own.yaml', join(at.cwd, 'nexus.yaml'))
    const { config } = await loadConfig({ cwd: at.cwd, environment: at.environment, trusted: true })
    assert.equal(config.limits.maxIterations, 7)
  })
})

describe('variables', () => {
  it('that name a database or its password, and those that objects reserve, are given to no command', () => {
    for (const name of [
      'PGPASSWORD',
      'pgpassfile',
      'PGSERVICEFILE',
      'MYSQL_PWD',
      'REDISCLI_AUTH',
      'PGHOST',
      '__proto__',
    ])
      assert.notEqual(refusedVariable(name), undefined, name)
    for (const name of ['PGP_KEY', 'MYSQL_PASSWORD', 'constructor'])
      assert.equal(refusedVariable(name), undefined, name)
  })
})

describe('names that look alike', () => {
  it('by a character that is not shown have one key', () => {
    for (const hidden of [
      '\u034f',
      '\u115f',
      '\u1160',
      '\u17b4',
      '\u180b',
      '\u180f',
      '\u3164',
      '\uffa0',
      '\ufff0',
      '\u2800',
      '\u{e0061}',
    ])
      assert.equal(nameKey(`re${hidden}port`).replace(' ', ''), 'report', JSON.stringify(hidden))
  })
})

describe('a secret', () => {
  const secret = 'pa/ss w+ord~(ü)'
  const redact = createRedactor([secret])
  for (const [what, text] of Object.entries({
    'percent-encoded': encodeURIComponent(secret),
    'percent-encoded in lower case': encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    'as a form sends it': new URLSearchParams({ key: secret }).toString().slice(4),
    'as a form sends it, in lower case': new URLSearchParams({ key: secret })
      .toString()
      .slice(4)
      .replace(/%../g, (code) => code.toLowerCase()),
  })) {
    it(`${what} is blanked`, () => assert.equal(redact(`<${text}>`), '<[redacted]>'))
  }

  it('with control characters inside neither reaches the model, nor do they', async (t) => {
    const at = place(t, { 'home/nexus.yaml': `model: { provider: openai, name: m, apiKey: hunter2hunter2 }\n` })
    const { cwd, environment } = at
    const local = await openLocal({ cwd, environment, sandbox: 'none', record: 'memory' })
    t.after(() => local.close())
    const command = String.raw`printf 'hunter2\033[31mhunter2 \033]0;title\007end'`
    const { outcome } = await local.runtime.openAgent().call({ tool: 'run_command', arguments: { command } })
    const text = toModelText(outcome)
    assert.match(text, /\[redacted\] end/)
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(text, /hunter2|\u001b|\u0007/)
  })
})

describe('what a tool returns', () => {
  it('reaches the model without control characters, in every part', () => {
    const evil = `\u001b[2J\u202e${'x'.repeat(300)}`
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(toModelText(succeeded('ok', { long: evil, short: '\u202e\u001b' })), /[\u001b\u202e]/)
  })
})

describe('hidden characters', () => {
  const BODY = 'Run it.\u202e\u{e0041}\u{e0042} Done.'
  const SKILL = `---\nname: evil\ndescription: Does it.\n---\n${BODY}\n`

  it('in instructions and files are named to the model', async (t) => {
    const name = 'references/a (3 bytes) and b.md'
    const at = place(t, {
      'home/skills/evil/SKILL.md': SKILL,
      [`home/skills/evil/${name}`]: 'x\u200by\n',
    })
    const { cwd, environment } = at
    const local = await openLocal({ cwd, environment, sandbox: 'none', record: 'memory' })
    t.after(() => local.close())
    const agent = local.runtime.openAgent()
    const call = async (tool: string, args: Record<string, string>) =>
      toModelText((await agent.call({ tool, arguments: args })).outcome)
    const loaded = await call('load_skill', { skill_name: 'evil' })
    assert.match(loaded, /a person does not see: U\+202E, U\+E0041, U\+E0042/)
    // A name is one string, and no part of it can be taken for a part of the list.
    assert.match(loaded, /^- "references\/a \(3 bytes\) and b\.md" \(\d+ bytes\)$/m)
    assert.match(await call('read_skill_file', { skill_name: 'evil', file_path: name }), /does not see: U\+200B/)
  })

  it('in instructions are a warning of validate, with their place', () => {
    const { diagnostics } = checkLenient(SKILL, { path: 'SKILL.md' })
    assert.deepEqual(
      diagnostics.filter(({ code }) => code === 'body-hidden').map(({ severity, line }) => [severity, line]),
      [['warning', 5]],
    )
    assert.ok(parseSkill(SKILL, { path: 'SKILL.md' }).document)
  })

  it('that shape emoji and words of their script are no hidden ones', () => {
    for (const text of ['👩‍💻 ❤️ 1️⃣', 'می‌خواهم', 'क्‍ष', '葛󠄀']) assert.equal(hiddenIn(text), '', text)
  })
})
