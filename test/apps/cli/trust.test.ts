import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { ended, Place } from './nexus.ts'

const NONE = 'execution: { sandbox: none }\n'

const COMMAND = 'model: {provider: openai, name: m, apiKey: {command: [sh, -c, evil]}}\n'

test('nexus trust says what it trusts: the skills, and the settings that were shown', async (t) => {
  const place = new Place(t)
  const first = await place.run(['trust'])
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stderr, /skills .*also/)
  assert.match(first.stderr, /there is no nexus\.yaml\. If you add one, run nexus trust again/)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'limits: { maxIterations: 5 }\n')
  const second = await place.run(['trust'])
  assert.equal(second.code, 0, second.stderr)
  assert.match(second.stderr, /settings {2}limits, as they are now\./)
})

test('nexus trust shows all that it trusts: every value, with nothing hidden in it but passwords of addresses', async (t) => {
  const place = new Place(t)
  const settings = `model: {provider: openai, name: m, baseUrl: "https://me:pass-word@host/v1", apiKey: {command: [sh, -c, evil]}}\n`
  writeFileSync(join(place.workspace, 'nexus.yaml'), `${settings}# \u001b[2K\u202eabc\n`)
  const { stderr } = await place.run(['trust'])
  assert.match(stderr, /apiKey: \{command: \[sh, -c, evil\]\}/)
  assert.match(stderr, /https:\/\/me:\[hidden\]@host\/v1/)
  assert.doesNotMatch(stderr, /pass-word/)
  assert.match(stderr, /^ {4}# abc$/m)
})

test('a nexus.yaml that cannot be read is not trusted, and the command fails', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'model: [a\n')
  const { code, stderr } = await place.run(['trust', '--yes'])
  assert.equal(code, 2, stderr)
  assert.match(stderr, /config-syntax/)
  assert.match(stderr, /still untrusted: Nexus cannot read .*nexus\.yaml/)
  assert.doesNotMatch(stderr, /^Trusted/m)
})

test('a secret of nexus.yaml is not printed by nexus trust', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'search: {provider: brave, apiKey: "sk-secret123"}\n')
  const { code, stdout, stderr } = await place.run(['trust', '--yes'])
  assert.equal(code, 0, stderr)
  assert.match(stderr, /apiKey: \[hidden, 12 characters\]/)
  assert.ok(!(stdout + stderr).includes('sk-secret123'))
})

const POWERFUL = String.raw`model: {provider: openai, name: m, baseUrl: "https://me:pass-word@host/v1", apiKey: {command: [sh, -c, "evil\u202e"]}}
skills:
  custom: [./evil.mjs]
  load: {extraDirs: [~/more]}
  sources: [{type: git, url: "https://git/x"}]
  entries: {greet: {apiKey: {source: exec, provider: vault, id: x}}, other: {apiKey: {file: /etc/hostname}}}
secrets: {providers: {vault: {source: exec, command: /opt/vault, args: [a, b]}}}
mcp: {servers: {local: {command: node, args: [x.js]}, far: {url: "https://mcp/"}}}
`

test('what runs as the user, and what is contacted or read, is named in full; without an answer nothing is trusted', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), POWERFUL)
  const outside = [
    String.raw`  command +model\.apiKey \(nexus\.yaml:1\): \{"command":\["sh","-c","evil\\u202e"\]\}`,
    String.raw`  command +skills\.entries\.greet\.apiKey \(nexus\.yaml:6\): \{"source":"exec","provider":"vault","id":"x"\}`,
    String.raw`  command +secrets\.providers\.vault \(nexus\.yaml:7\): .*"/opt/vault","args":\["a","b"\]\}`,
    String.raw`  module +skills\.custom\[0\] \(nexus\.yaml:3\): \./evil\.mjs`,
    String.raw`  server +mcp\.servers\.local \(nexus\.yaml:8\): \{"command":"node","args":\["x\.js"\]\}`,
  ]
  const read = [
    String.raw`  server +mcp\.servers\.far .*https://mcp/`,
    String.raw`  base URL +model\.baseUrl \(nexus\.yaml:1\): https://me:\[hidden\]@host/v1`,
    String.raw`  source +skills\.load\.extraDirs\[0\] .*: ~/more`,
    String.raw`  source +skills\.sources\[0\] .*https://git/x`,
    String.raw`  secret file +skills\.entries\.other\.apiKey .*/etc/hostname`,
  ]
  for (const args of [['trust'], ['run', 'hello', '--model', 'recorded'], ['skills', 'run', 'greet', '--', 'true']]) {
    const { code, stdout, stderr } = await place.run(args)
    assert.equal(code, 1, stderr)
    assert.equal(stdout, '')
    assert.match(stderr, /UNTRUSTED_WORKSPACE/)
    const [, first = '', second = ''] =
      /run as you, outside the sandbox.*?:\n(.*)Nexus contacts or reads these.*?:\n(.*)/s.exec(stderr) ?? []
    for (const line of outside) assert.match(first, new RegExp(`^${line}$`, 'm'))
    for (const line of read) assert.match(second, new RegExp(line))
  }
  assert.equal((await place.run(['trust', '--list'])).stdout, '')
  const { code, stderr } = await place.run(['skills', 'run', 'greet', '--trust', '--', 'true'])
  assert.equal(code, 0, stderr)
  assert.match(stderr, /run as you, outside the sandbox/)
  assert.equal((await place.run(['trust', '--list'])).stdout, '')
  assert.equal((await place.run(['trust', '--yes'])).code, 0)
  assert.match((await place.run(['trust', '--list'])).stdout, /workspace/)
})

test('nexus trust refuses a directory that is not the workspace, and names the one that is', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), '')
  const { code, stderr } = await place.run(['trust', 'skills'])
  assert.equal(code, 2, stderr)
  assert.match(stderr, /is not a workspace[\s\S]*fix: To trust the whole workspace: nexus trust .*workspace$/m)
})

test('an edit that widens power after trust stops what runs, names the setting, and config check says so', async (t) => {
  const place = new Place(t)
  await place.run(['trust'])
  writeFileSync(join(place.workspace, 'nexus.yaml'), COMMAND)
  const { code, stderr } = await place.run(['skills', 'run', 'greet', '--', 'true'])
  assert.equal(code, 1, stderr)
  assert.match(stderr, /UNTRUSTED_WORKSPACE: .*edited after you trusted it: model\./)
  assert.match(stderr, /model\.apiKey \(nexus\.yaml:1\): .*evil/)
  const check = await place.run(['config', 'check', '--json'])
  const { data, diagnostics } = JSON.parse(check.stdout) as {
    data: { workspace: { lost: string[] } }
    diagnostics: { code: string; subject: string; fix: string }[]
  }
  assert.deepEqual(data.workspace.lost, ['model'])
  assert.deepEqual(
    [diagnostics[0]?.code, diagnostics[0]?.subject, diagnostics[0]?.fix],
    ['config-changed-since-trust', 'model', 'Run: nexus trust'],
  )
  const shown = (await place.run(['config', 'check'])).stdout
  assert.match(shown, /untrusted since you edited model: nexus trust/)
  assert.doesNotMatch(shown, /\(trusted\)/)
  assert.match((await place.run(['doctor'])).stdout, /untrusted since you edited model/)
})

const SEARCHED = '---\nname: NAME\ndescription: Reads it. Use when it is near.\n---\n# It\n\nRead it.\n'

test('after an edit that loses trust, every view of a skill says what run says', async (t) => {
  const place = new Place(t)
  const extra = join(place.root, 'extra')
  mkdirSync(join(extra, 'own'), { recursive: true })
  writeFileSync(join(extra, 'own', 'SKILL.md'), SEARCHED.replace('NAME', 'own'))
  const run = (...args: string[]) => place.run([...args, '--skills-dir', extra])
  await place.run(['trust'])
  assert.match((await run('skills', 'list')).stdout, /✓ greet/)
  writeFileSync(join(place.workspace, 'nexus.yaml'), COMMAND)
  assert.equal((await run('skills', 'run', 'greet', '--', 'true')).code, 1)
  const list = await run('skills', 'list')
  assert.doesNotMatch(list.stdout, /greet/)
  assert.match(list.stderr, /^\d+ untrusted: greet/m)
  assert.match(list.stderr, /^No command runs in this workspace until you trust it\..* nexus trust$/m)
  const why = await run('skills', 'why', 'greet')
  assert.equal(why.code, 1)
  assert.match(why.stdout, /greet is held\.[^]*its source is not trusted[^]*nexus trust/)
  assert.match((await run('skills', 'show', 'greet')).stdout, /^greet {2}held/)
  const check = await run('skills', 'check', 'greet')
  assert.equal(check.code, 1)
  assert.match(check.stdout, /workspace\/greet {2}held/)
  assert.match((await run('prompt')).stdout, /^((?!greet)[^])*$/)
  assert.equal((await run('skills', 'search', 'greet')).code, 4)
  assert.match((await place.run(['doctor'])).stdout, /skills +\d ready, [^\n]*held/)
  // A skill from elsewhere is ready, but no command runs in this workspace.
  const own = await run('skills', 'why', 'own')
  assert.match((await run('skills', 'show', 'own')).stdout, /^own {2}ready\n {2}! No command runs in this workspace/)
  assert.match(own.stdout, /^own is ready, but its commands wait until you trust the workspace\.$/m)
  assert.match(own.stdout, /\(workspace-untrusted\)[^]*fix: .*nexus trust \//)
  assert.equal((await run('skills', 'run', 'own', '--', 'true')).code, 1)
  await place.run(['trust', '--yes'])
  assert.match((await run('skills', 'list')).stdout, /✓ greet/)
  assert.doesNotMatch((await run('skills', 'why', 'own')).stdout, /workspace-untrusted/)
})

test('a nexus.yaml that appeared in a trusted workspace does not free the next command, and is reported', async (t) => {
  const place = new Place(t)
  await place.run(['trust'])
  writeFileSync(join(place.workspace, 'nexus.yaml'), NONE)
  for (const more of [[], ['--trust']]) {
    const { code, stdout, stderr } = await place.run(['skills', 'run', 'greet', ...more, '--', 'echo $NEXUS_SANDBOX'])
    assert.deepEqual([code, stdout], [0, 'local\n'], stderr)
    assert.match(stderr, /config-user-only/)
    assert.doesNotMatch(stderr, /WARNING: sandbox none/)
  }
})

test(
  'commands that only look work where no command can be confined',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const place = new Place(t)
    await place.run(['trust'])
    const under = ['--user', '--map-root-user']
    if (spawnSync('unshare', [...under, 'true']).status !== 0) return t.skip('this machine cannot make user namespaces')
    for (const args of [['skills', 'list'], ['skills', 'check', 'greet'], ['skills', 'show', 'greet'], ['prompt']]) {
      const { code, stderr } = await ended(spawn('unshare', [...under, ...place.line(args)], place.options()))
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    }
  },
)

test('commands that only look work without a state directory that can be written, and one that runs says what to set', async (t) => {
  const place = new Place(t)
  await place.run(['trust'])
  const closed = join(place.root, 'closed')
  mkdirSync(closed)
  chmodSync(closed, 0o500)
  // Not even root can make a directory there.
  const env = { NEXUS_STATE_DIR: process.getuid?.() === 0 ? '/proc/x' : join(closed, 'state') }
  for (const args of [['skills', 'list'], ['skills', 'check', 'greet'], ['skills', 'show', 'greet'], ['prompt']]) {
    const { code, stderr } = await place.run(args, { env })
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
  }
  const { code, stderr } = await place.run(['skills', 'run', 'greet', '--trust', '--', 'true'], { env })
  assert.notEqual(code, 0)
  assert.match(stderr, /fix:.*NEXUS_STATE_DIR/)
})

test('a system directory as workspace is a wrong argument, with what to do', async (t) => {
  const place = new Place(t)
  const { code, stderr } = await place.run(
    ['skills', 'run', 'greet', '--trust', '--skills-dir', join(place.workspace, 'skills'), '--', 'true'],
    { cwd: '/' },
  )
  assert.equal(code, 2, stderr)
  assert.match(
    stderr,
    /INVALID_ARGUMENT: .*workspace \/: it is a system directory\.\n +fix: Use the directory of one project/,
  )
})

test('a damaged list of trusted workspaces is told, and trusts nothing', async (t) => {
  const place = new Place(t)
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'trust.json'), 'not a list', { mode: 0o600 })
  const { code, stdout, stderr } = await place.run(['trust', '--list'])
  assert.deepEqual([code, stdout], [0, ''])
  assert.match(stderr, /warning trust-damaged/)
  const { diagnostics } = JSON.parse((await place.run(['trust', '--list', '--json'])).stdout) as {
    diagnostics: { code: string }[]
  }
  assert.deepEqual(
    diagnostics.map(({ code: found }) => found),
    ['trust-damaged'],
  )
})

test('taking back a trust that was never given is no failure, and says so', async (t) => {
  const { code, stderr } = await new Place(t).run(['trust', '--remove'])
  assert.equal(code, 0)
  assert.match(stderr, /was not trusted/)
})

test('--list with --remove or with a directory is wrong use', async (t) => {
  const place = new Place(t)
  for (const args of [
    ['trust', '--list', '--remove'],
    ['trust', '.', '--list'],
  ]) {
    const { code, stderr } = await place.run(args)
    assert.equal(code, 2)
    assert.match(stderr, /takes no .*\n {2}fix: Type: nexus trust --list/)
  }
})

test('a file given as a directory is reported as a file, with its directory as the fix', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'skills: {}\n')
  for (const args of [
    ['trust', 'nexus.yaml'],
    ['skills', 'list', '--skills-dir', 'nexus.yaml'],
  ]) {
    const { code, stderr } = await place.run(args)
    assert.equal(code, 2)
    assert.match(
      stderr,
      /nexus\.yaml is a file, not a directory\.\n {2}fix: Give its directory: (?:\.|\/\S+\/workspace)$/m,
    )
  }
})
