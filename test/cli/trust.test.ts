import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { ended, Place } from './nexus.ts'

const NONE = 'execution: { sandbox: none }\n'

test('nexus trust says what it trusts: the skills, and the nexus.yaml as it is now', async (t) => {
  const place = new Place(t)
  const first = await place.run(['trust'])
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stderr, /skills .*also/)
  assert.match(first.stderr, /no nexus\.yaml.*counts only after nexus trust/s)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'limits: { maxIterations: 5 }\n')
  const second = await place.run(['trust'])
  assert.match(second.stderr, /nexus\.yaml as it is now \(sha256:[0-9a-f]{12}…\), which sets: limits/)
})

test('nexus trust shows all that it trusts: every value, with nothing hidden in it but passwords of addresses', async (t) => {
  const place = new Place(t)
  const settings = `model: {provider: openai, name: m, baseUrl: "https://me:pass-word@host/v1", apiKey: {command: [sh, -c, evil]}}\n`
  writeFileSync(join(place.workspace, 'nexus.yaml'), `${settings}# \u001b[2K\u202eabc\n`)
  const { stderr } = await place.run(['trust'])
  assert.match(stderr, /apiKey: \{command: \[sh, -c, evil\]\}/)
  assert.match(stderr, /https:\/\/me:\[hidden\]@host\/v1/)
  assert.match(stderr, /^    # abc$/m)
})

test('a nexus.yaml that appeared in a trusted workspace does not free the next command, and is reported', async (t) => {
  const place = new Place(t)
  await place.run(['trust'])
  writeFileSync(join(place.workspace, 'nexus.yaml'), NONE)
  for (const more of [[], ['--trust']]) {
    const { code, stdout, stderr } = await place.run(['skills', 'run', 'greet', ...more, '--', 'echo $NEXUS_SANDBOX'])
    assert.deepEqual([code, stdout], [0, 'local\n'], stderr)
    assert.match(stderr, more.length === 0 ? /config-changed-since-trust/ : /config-user-only/)
    assert.doesNotMatch(stderr, /WARNING: sandbox none/)
  }
  await place.run(['trust'])
  const { stdout, stderr } = await place.run(['skills', 'run', 'greet', '--', 'echo $NEXUS_SANDBOX'])
  assert.equal(stdout, 'local\n', stderr)
  assert.match(stderr, /config-user-only/)
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
    /INVALID_ARGUMENT: the workspace \/ is a system directory\n +fix: use the directory of one project/,
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
    assert.match(stderr, /takes no .*\n {2}fix: nexus trust --list/)
  }
})
