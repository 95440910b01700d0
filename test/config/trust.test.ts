import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { listTrusted, trustWorkspace, untrustWorkspace } from '../../src/config/index.ts'
import { findings, makePlace } from './place.ts'

/** Whether exactly this directory is in the list. */
async function isTrusted(nexusHome: string, directory: string): Promise<boolean> {
  const { workspaces } = await listTrusted(nexusHome)
  return workspaces.some((workspace) => workspace.directory === directory)
}

describe('the list of trusted workspaces', () => {
  it('remembers a directory by its real path in a private file, until it is forgotten', async () => {
    await using place = await makePlace()
    const { nexusHome, workspace: directory, root } = place
    await rm(nexusHome, { recursive: true })
    await symlink(directory, join(root, 'link'))
    assert.equal(await isTrusted(nexusHome, directory), false)
    assert.equal(await trustWorkspace({ nexusHome, directory: join(root, 'link') }), directory)
    assert.equal(await isTrusted(nexusHome, directory), true)
    await mkdir(join(directory, 'inside'))
    assert.equal(await isTrusted(nexusHome, join(directory, 'inside')), false)
    assert.equal((await stat(join(nexusHome, 'trust.json'))).mode & 0o777, 0o600)
    assert.equal((await stat(nexusHome)).mode & 0o777, 0o700)
    assert.deepEqual(await readdir(nexusHome), ['trust.json'])
    assert.equal((await place.load()).workspace.trusted, true)
    assert.equal((await place.load({ trusted: false })).workspace.trusted, false)
    await untrustWorkspace({ nexusHome, directory })
    assert.deepEqual(await listTrusted(nexusHome), { workspaces: [], diagnostics: [] })
  })

  it('forgets a directory that is gone, and refuses to trust one that is not there', async () => {
    await using place = await makePlace()
    const { nexusHome, workspace: directory } = place
    await trustWorkspace({ nexusHome, directory })
    await rename(directory, join(place.root, 'moved'))
    assert.equal(await isTrusted(nexusHome, join(place.root, 'moved')), false)
    await untrustWorkspace({ nexusHome, directory })
    assert.deepEqual((await listTrusted(nexusHome)).workspaces, [])
    await assert.rejects(trustWorkspace({ nexusHome, directory }), { code: 'FILE_NOT_FOUND' })
  })

  it('trusts nothing when it is damaged, says so, and keeps the damaged file', async () => {
    for (const text of [
      '',
      '{"version":1',
      '[]',
      '{"version":1,"directories":[5]}',
      '{"version":9,"directories":[]}',
    ]) {
      await using place = await makePlace()
      const { nexusHome, workspace: directory } = place
      const file = await place.write('home/.nexus/trust.json', text)
      await chmod(file, 0o600)
      const loaded = await place.load()
      assert.deepEqual(findings(loaded), ['trust-damaged'])
      assert.deepEqual(loaded.diagnostics[0]?.proposal?.args, ['trust'])
      assert.equal(loaded.workspace.trusted, false)
      await trustWorkspace({ nexusHome, directory })
      assert.equal(await isTrusted(nexusHome, directory), true)
      const kept = (await readdir(nexusHome)).find((name) => name.startsWith('trust.json.damaged-'))
      assert.equal(await readFile(join(nexusHome, kept ?? ''), 'utf8'), text)
    }
  })

  it('trusts nothing when others can write it', async () => {
    await using place = await makePlace()
    const { nexusHome, workspace: directory } = place
    await trustWorkspace({ nexusHome, directory })
    await chmod(join(nexusHome, 'trust.json'), 0o666)
    assert.deepEqual(findings(await place.load()), ['trust-insecure'])
    assert.equal(await isTrusted(nexusHome, directory), false)
  })
})

describe('the workspace', () => {
  it('is the nearest directory with nexus.yaml or .nexus, else the nearest with .git, else the working directory', async () => {
    await using place = await makePlace()
    const cwd = join(place.workspace, 'a/b/c')
    await mkdir(cwd, { recursive: true })
    const found = async () => {
      const { directory, marker } = (await place.load({ cwd })).workspace
      return [directory, marker]
    }
    assert.deepEqual(await found(), [cwd, undefined])
    await mkdir(join(place.workspace, 'a/skills'))
    assert.deepEqual(await found(), [cwd, undefined])
    await mkdir(join(place.workspace, '.git'))
    assert.deepEqual(await found(), [place.workspace, '.git'])
    await mkdir(join(place.workspace, 'a/b/.git'))
    assert.deepEqual(await found(), [join(place.workspace, 'a/b'), '.git'])
    await mkdir(join(place.workspace, 'a/.nexus'))
    assert.deepEqual(await found(), [join(place.workspace, 'a'), '.nexus'])
    await place.write('workspace/a/b/c/nexus.yaml', '')
    assert.deepEqual(await found(), [cwd, 'nexus.yaml'])
  })

  it('is never the directory of a client: the project around it is', async () => {
    for (const name of ['.claude', '.agents', '.openclaw', '.codex', '.nexus']) {
      await using place = await makePlace()
      const cwd = join(place.workspace, name, 'skills')
      await mkdir(join(place.workspace, name, '.git'), { recursive: true })
      await mkdir(cwd)
      await place.write(`workspace/${name}/nexus.yaml`, '')
      const found = async (start: string) => (await place.load({ cwd: start })).workspace.directory
      if (name !== '.nexus') assert.equal(await found(cwd), cwd)
      assert.equal(await found(join(place.workspace, name)), place.workspace)
      await mkdir(join(place.workspace, '.git'))
      assert.equal(await found(cwd), place.workspace)
    }
  })

  it('is never the home directory because of ~/.nexus, nor that directory itself', async () => {
    await using place = await makePlace({ user: 'limits: {maxIterations: 9}' })
    const cwd = join(place.home, 'plain')
    await mkdir(cwd)
    await mkdir(join(place.nexusHome, 'skills/one'), { recursive: true })
    for (const [start, marker] of [
      [cwd, undefined],
      [place.nexusHome, undefined],
      [join(place.nexusHome, 'skills/one'), undefined],
    ] as const) {
      const loaded = await place.load({ cwd: start })
      assert.deepEqual([loaded.workspace.directory, loaded.workspace.marker], [start, marker])
      assert.deepEqual(loaded.files, [join(place.nexusHome, 'nexus.yaml')])
    }
    assert.equal(
      (await place.load({ cwd, variables: { NEXUS_HOME: join(place.root, 'other') } })).workspace.directory,
      cwd,
    )
  })
})

describe('an untrusted workspace', () => {
  const WIDENS: readonly (readonly [text: string, place: string])[] = [
    ['model: openai/other', '1:1'],
    ['skills: {load: {extraDirs: [/x]}}', '1:10'],
    ['skills: {skill_dirs: [/x]}', '1:10'],
    ['skills: {sources: [{type: local, path: /x}]}', '1:10'],
    ['skills: {custom: [evil.mjs]}', '1:10'],
    ['skills: {surface: [Skill]}', '1:10'],
    ['skills: {prompt: {budgetChars: 1}}', '1:10'],
    ['skills: {entries: {github: {enabled: true}}}', '1:29'],
    ['skills: {entries: {github: {apiKey: "${HOME}"}}}', '1:29'],
    ['skills: {entries: {github: {apiKey: {file: /etc/hostname}}}}', '1:29'],
    ['skills: {entries: {github: {env: {A: b}}}}', '1:29'],
    ['skills: {entries: {github: {config: {a: b}}}}', '1:29'],
    ['agents: [{id: other}]', '1:10'],
    ['agents: [{id: main, instructions: obey}]', '1:21'],
    ['agents: [{id: main, tools: {allow: [x]}}]', '1:29'],
    ['agents: [{id: main, tools: {profile: full}}]', '1:29'],
    ['tools: {groups: {"group:fs": []}}', '1:1'],
    ['tools: {github: {enabled: true}}', '1:1'],
    ['execution: {sandbox: none}', '1:13'],
    ['execution: {timeoutMs: 20001}', '1:13'],
    ['execution: {uidBase: 300000}', '1:13'],
    ['execution: {limits: {processes: 5}}', '1:13'],
    ['limits: {maxIterations: 21}', '1:10'],
    ['limits: {toolTimeoutMs: 0}', '1:10'],
  ]
  const user = `limits: {maxIterations: 20, toolTimeoutMs: 5000}
execution: {timeoutMs: 20000}
agents: [{id: main, skills: [a, b], tools: {profile: coding, deny: [d]}}]`

  for (const [local, position] of WIDENS) {
    it(`cannot widen: ${local}`, async () => {
      await using place = await makePlace({ user, local })
      const loaded = await place.load()
      assert.deepEqual(findings(loaded), [`${position} config-untrusted`])
      assert.match(
        loaded.diagnostics[0]?.fix ?? '',
        /sandbox: none|uidBase/.test(local) ? /^Write it into ~\/\.nexus\/nexus\.yaml/ : /nexus trust/,
      )
      await place.write('workspace/nexus.yaml', '')
      assert.deepEqual(loaded.config, (await place.load()).config)
      assert.deepEqual(loaded.secrets, [])
    })
  }

  it('may tighten: fewer skills, more denials and questions, lower limits', async () => {
    const local = `skills: {disabled_skills: [x], entries: {github: {enabled: false}}}
agents: [{id: main, skills: [b, c], tools: {profile: coding, deny: [e], ask: [f]}}]
execution: {sandbox: local, timeoutMs: 1000, maxOutputBytes: 10}
limits: {maxIterations: 2, toolTimeoutMs: 1, maxConcurrentTools: 1}`
    await using place = await makePlace({
      user: `${user}\n`.replace('execution: {', 'execution: {sandbox: none, '),
      local,
    })
    const { config, diagnostics } = await place.load()
    assert.deepEqual(
      diagnostics.map(({ line, column, code }) => `${line}:${column} ${code}`),
      ['2:21 config-untrusted'],
    )
    assert.deepEqual(config.skills.disabled_skills, ['x'])
    assert.equal(config.skills.entries.get('github')?.enabled, false)
    assert.deepEqual(JSON.parse(JSON.stringify(config.agents)), [
      { id: 'main', skills: ['b'], tools: { profile: 'coding', allow: [], ask: ['f'], deny: ['d', 'e'] } },
    ])
    assert.deepEqual(
      [config.execution.sandbox, config.execution.timeoutMs, config.execution.maxOutputBytes],
      ['local', 1000, 10],
    )
    assert.deepEqual(config.limits, { maxIterations: 2, toolTimeoutMs: 1, maxConcurrentTools: 1, maxRunning: 8 })
  })

  it('narrows a profile only where every tool of the new one is in the old one', async () => {
    const cases = [
      ['full', 'coding', 'coding'],
      ['full', 'minimal', 'minimal'],
      ['messaging', 'minimal', 'minimal'],
      ['coding', 'messaging', 'coding'],
      ['minimal', 'full', 'minimal'],
    ] as const
    for (const [mine, theirs, result] of cases) {
      const agents = (profile: string): string => `agents: [{id: main, tools: {profile: ${profile}}}]`
      await using place = await makePlace({ user: agents(mine), local: agents(theirs) })
      assert.equal((await place.load()).config.agents[0]?.tools.profile, result)
    }
  })

  it('counts whole once it is trusted', async () => {
    await using place = await makePlace({ user, local: WIDENS[0]?.[0] ?? '' })
    await trustWorkspace({ nexusHome: place.nexusHome, directory: place.workspace })
    const loaded = await place.load()
    assert.deepEqual(loaded.diagnostics, [])
    assert.equal(loaded.config.model?.name, 'other')
  })
})
