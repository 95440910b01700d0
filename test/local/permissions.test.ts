/** Permissions of the configuration, through the library as a program uses it. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { readEnvironment } from '../../src/config/index.ts'
import { openLocal } from '../../src/local/open-local.ts'

/** A runtime with these agents, and a trusted skill that allows Bash beforehand. */
async function open(
  context: TestContext,
  settings: string,
  given: { frontmatter?: string; sandbox?: 'none' | 'local'; isAsking?: boolean } = {},
) {
  const { frontmatter = 'allowed-tools: Bash', sandbox = 'none', isAsking = true } = given
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-permissions-')))
  context.after(() => rmSync(directory, { recursive: true, force: true }))
  const [cwd, nexusHome] = [join(directory, 'work'), join(directory, 'home')]
  mkdirSync(cwd)
  mkdirSync(join(nexusHome, 'skills/tidy'), { recursive: true })
  writeFileSync(join(nexusHome, 'nexus.yaml'), settings)
  writeFileSync(
    join(nexusHome, 'skills/tidy/SKILL.md'),
    `---\nname: tidy\ndescription: Tidies the workspace.\n${frontmatter}\n---\nRun: echo tidy\n`,
  )
  const asked: string[] = []
  const environment = readEnvironment({ HOME: directory, NEXUS_HOME: nexusHome, PATH: process.env['PATH'] ?? '' })
  const local = await openLocal({
    ...{ cwd, environment, sandbox, record: 'memory' },
    ...(isAsking && {
      approve: ({ tool }) => {
        asked.push(tool)
        return Promise.resolve(false)
      },
    }),
  })
  context.after(() => local.close())
  const agent = local.runtime.openAgent({ sessionId: 's' })
  const call = async (tool: string, args: Record<string, string>) => {
    const { decision, outcome } = await agent.call({ tool, arguments: args, origin: 'model', turnId: 't' })
    if (tool === 'load_skill' && args['skill_name'] === 'tidy') assert.equal(outcome.type, 'success')
    return decision
  }
  return { local, agent, asked, call, skillFile: join(nexusHome, 'skills/tidy/SKILL.md') }
}

/** Nothing but the skill refuses a call. */
const YOLO = 'agents: [{ id: main, preset: yolo }]\n'
const RESTRICTS = { frontmatter: 'allowed-tools: read_skill_file\nmetadata: { restrict: true }' }
const RUN = { command: 'echo hello' }

describe('an agent with a preset', () => {
  it('trusted is asked about a command, and not while a trusted skill that allows it is in use', async (context) => {
    const { call, asked } = await open(context, 'agents: [{ id: main, preset: trusted }]\n', { sandbox: 'local' })
    assert.equal((await call('run_command', RUN)).type, 'deny')
    assert.deepEqual(asked, ['run_command'])
    assert.equal((await call('load_skill', { skill_name: 'tidy' })).type, 'allow')
    const allowed = await call('run_command', RUN)
    assert.deepEqual([allowed.type, allowed.rule], ['allow', 'allowed-tools of tidy'])
    assert.deepEqual(asked, ['run_command'])
  })

  it('trusted is not asked about a command that cannot run: without a sandbox nothing keeps it in the workspace', async (context) => {
    const { agent, asked } = await open(context, 'agents: [{ id: main, preset: trusted }]\n')
    const { outcome } = await agent.call({ tool: 'run_command', arguments: RUN, origin: 'model', turnId: 't' })
    assert.deepEqual([outcome.type, outcome.type === 'failed' && outcome.code], ['failed', 'PERMISSION_DENIED'])
    assert.deepEqual(asked, [])
  })

  it('is asked in another turn again, and by an ask rule whatever a skill allows', async (context) => {
    const { agent, call, asked } = await open(
      context,
      'agents: [{ id: main, preset: trusted, tools: { ask: [run_command] } }]\n',
      { sandbox: 'local' },
    )
    await call('load_skill', { skill_name: 'tidy' })
    await call('run_command', RUN)
    assert.deepEqual(asked, ['run_command'])
    await agent.call({ tool: 'run_command', arguments: RUN, origin: 'model', turnId: 'later' })
    assert.deepEqual(asked, ['run_command', 'run_command'])
  })

  it('is offered no tool that is off for it, and told why when it calls one', async (context) => {
    const { agent, call } = await open(
      context,
      'agents: [{ id: main, preset: quiet }]\npermissions: { presets: { quiet: { extends: sandboxed, disableTools: [exec] } } }\n',
    )
    assert.equal(
      agent.definitions().some(({ name }) => name === 'run_command'),
      false,
    )
    const decision = await call('run_command', RUN)
    assert.match(
      decision.type === 'deny' ? decision.reason : '',
      /disabled by the permissions of this agent \(preset quiet\)/,
    )
  })
})

describe('an agent whose preset turns off what it needs', () => {
  it('worker writes the file when write_file is enabled, and nothing outside of its paths', async (context) => {
    const settings = 'agents: [{ id: main, preset: worker, permissions: { enableTools: [write_file] } }]\n'
    const { agent, local } = await open(context, settings)
    assert.ok(agent.definitions().some(({ name }) => name === 'write_file'))
    const write = async (path: string) => {
      const call = { tool: 'write_file', arguments: { path, content: 'x' }, origin: 'model' as const }
      return (await agent.call(call)).outcome
    }
    assert.equal((await write('a.txt')).type, 'success')
    assert.equal(readFileSync(join(local.workspace.directory, 'a.txt'), 'utf8'), 'x')
    const outside = await write('../a.txt')
    assert.match(outside.type === 'failed' ? outside.message : '', /outside the directories that this agent may change/)
  })

  it('without any path is offered no tool of files or commands, and the others still', async (context) => {
    const { agent } = await open(context, 'agents: [{ id: main, preset: yolo, permissions: { allowedPaths: [] } }]\n')
    const offered = agent.definitions().map(({ name }) => name)
    for (const name of ['run_command', 'read_file', 'list_directory', 'write_file', 'edit_file'])
      assert.equal(offered.includes(name), false, name)
    assert.ok(offered.includes('load_skill') && offered.includes('web_fetch'))
  })

  it('stays without the network when a group is replaced', async (context) => {
    const { agent } = await open(
      context,
      "agents: [{ id: main, preset: sandboxed }]\ntools: { groups: { 'group:web': [web_search] } }\n",
    )
    assert.equal(agent.explain({ tool: 'web_fetch', arguments: {}, origin: 'model' }).decision.type, 'deny')
  })
})

describe('an agent without a preset', () => {
  it('is trusted in the workspace: its model asks before a command, unless a trusted skill in use allows it', async (context) => {
    const { call, asked } = await open(context, '')
    const decision = await call('run_command', RUN)
    assert.deepEqual([decision.type, decision.rule, asked], ['deny', 'preset trusted', ['run_command']])
    await call('load_skill', { skill_name: 'tidy' })
    assert.equal((await call('run_command', RUN)).rule, 'allowed-tools of tidy')
  })

  it('is not asked about commands of a person, of the program, or of an MCP client, which asks by itself', async (context) => {
    const { agent, asked } = await open(context, '')
    for (const origin of ['cli', 'library', 'mcp'] as const) {
      const { decision } = await agent.call({ tool: 'run_command', arguments: RUN, origin })
      assert.equal(decision.type, 'allow', origin)
    }
    assert.deepEqual(asked, [])
  })

  it('is asked over MCP too where settings give it a preset or permissions', async (context) => {
    for (const settings of [
      'agents: [{ id: main, preset: trusted }]\n',
      'agents: [{ id: main, permissions: { disableTools: [sleep] } }]\n',
      'agents: [{ id: main }]\npermissions: { defaultPreset: trusted }\n',
    ]) {
      const { agent, asked } = await open(context, settings, { sandbox: 'local' })
      await agent.call({ tool: 'run_command', arguments: RUN, origin: 'mcp' })
      assert.deepEqual(asked, ['run_command'], settings)
    }
  })

  it('is kept in its workspace, and without a sandbox only its file tools are', async (context) => {
    const { local, agent } = await open(context, '', { sandbox: 'local' })
    const { limits } = agent.explain({ tool: 'run_command', arguments: RUN }).decision
    assert.deepEqual(limits, { readPaths: [local.workspace.directory], writePaths: [local.workspace.directory] })
    const unconfined = await open(context, '')
    const limitsOf = (tool: string) => unconfined.agent.explain({ tool, arguments: {} }).decision.limits.writePaths
    assert.deepEqual([limitsOf('run_command'), limitsOf('write_file')], [['/'], [unconfined.local.workspace.directory]])
  })

  it('is told why a command is refused when no person can be asked, and what would allow it', async (context) => {
    const { agent } = await open(context, '', { isAsking: false })
    const { outcome } = await agent.call({ tool: 'run_command', arguments: RUN, origin: 'model' })
    assert.ok(outcome.type === 'failed')
    assert.match(outcome.message, /refused \(preset trusted\): May 'run_command' run with .* no terminal to ask in/)
    assert.match(outcome.fix ?? '', /--yes/)
  })
})

describe('the fix of a question that no person can be asked', () => {
  const SILENT = 'permissions: { toolOverrides: { run_command: { requiresConfirmation: false } } }'

  /** The decision about a command of the model, and the fix that the model reads. */
  async function refused(context: TestContext, settings: string, sandbox: 'none' | 'local' = 'none') {
    const { agent } = await open(context, settings, { isAsking: false, sandbox })
    const { outcome, decision } = await agent.call({ tool: 'run_command', arguments: RUN, origin: 'model' })
    return { fix: outcome.type === 'failed' ? (outcome.fix ?? '') : '', type: decision.type, outcome }
  }

  it('begins with an answer, then the narrowest setting, and never names a wider preset', async (context) => {
    const presets = 'permissions: { presets: { site: { allowedPaths: [./site] } } }\n'
    const ask = 'tools: { ask: [run_command] }'
    const cases = {
      '': [/To be asked no more, write permissions: \{ toolOverrides: .*\. Or write preset: sandboxed/, SILENT],
      'agents: [{ id: main, preset: trusted }]\n': [/requiresConfirmation: false.* preset: sandboxed/, SILENT],
      [`agents: [{ id: main, preset: site }]\n${presets}`]: [/requiresConfirmation: false[^.]*nexus\.yaml\.$/, SILENT],
      [`agents: [{ id: main, preset: sandboxed, ${ask} }]\n`]: [
        /more, remove run_command from tools\.ask for the agent in nexus\.yaml\.$/,
      ],
      [`agents: [{ id: main, preset: site, ${ask} }]\n${presets}`]: [
        /tools\.ask and write permissions: .*nexus\.yaml\.$/,
        SILENT,
      ],
    } as const
    for (const [settings, [says, text = '']] of Object.entries(cases)) {
      const { fix } = await refused(context, settings, 'local')
      assert.match(fix, /^Only the user can allow it: in a terminal, with --yes, or with --wait\. /)
      assert.match(fix, /^[^.]*\. With --wait .*: nexus approvals answer ID --allow --remember exact\. To be asked/)
      assert.match(fix, says, settings)
      assert.ok(fix.includes(text), fix)
      assert.doesNotMatch(fix, /yolo|preset: trusted/)
    }
    const unconfined = await refused(context, '')
    assert.doesNotMatch(unconfined.fix, /preset:/)
  })

  it('of a confirmation that is required each time is an answer, and nothing else', async (context) => {
    const confirmed = SILENT.replace('false', 'true')
    for (const rules of ['', ', tools: { ask: [run_command] }']) {
      const { fix } = await refused(context, `agents: [{ id: main, preset: trusted, ${confirmed}${rules} }]\n`)
      assert.equal(fix, 'Only the user can allow it: in a terminal, with --yes, or with --wait.')
    }
  })

  it('lets the command run when it is followed, without a sandbox and without a preset too', async (context) => {
    for (const preset of ['', 'preset: site, ']) {
      const settings = `agents: [{ id: main, ${preset}${SILENT} }]\npermissions: { presets: { site: { allowedPaths: null } } }\n`
      const { type, outcome } = await refused(context, settings)
      assert.deepEqual([type, outcome.type], ['allow', 'success'], JSON.stringify(outcome))
    }
  })
})

describe('a skill with metadata.restrict', () => {
  it('leaves its own tools and those of skills, to the end of the turn', async (context) => {
    const { agent, call } = await open(context, YOLO, RESTRICTS)
    assert.equal((await call('run_command', RUN)).type, 'allow')
    await call('load_skill', { skill_name: 'tidy' })
    const denied = await call('run_command', RUN)
    assert.deepEqual([denied.type, denied.rule], ['deny', 'metadata.restrict of tidy'])
    const { decision } = await agent.call({ tool: 'run_command', arguments: RUN, origin: 'model', turnId: 'later' })
    assert.equal(decision.type, 'allow')
    const person = await agent.call({ tool: 'run_command', arguments: RUN, origin: 'cli', turnId: 't' })
    assert.equal(person.decision.type, 'allow')
  })

  it('still does when its file is changed or removed within the turn', async (context) => {
    const { call, skillFile } = await open(context, YOLO, RESTRICTS)
    await call('load_skill', { skill_name: 'tidy' })
    assert.equal((await call('run_command', RUN)).type, 'deny')
    writeFileSync(skillFile, '---\nname: tidy\ndescription: Tidies the workspace.\n---\nRun: echo tidy\n')
    await call('load_skill', { skill_name: 'tidy' })
    assert.equal((await call('run_command', RUN)).type, 'deny')
    rmSync(skillFile)
    assert.equal((await call('run_command', RUN)).type, 'deny')
  })
})
