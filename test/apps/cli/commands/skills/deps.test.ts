import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../../../../src/kernel/index.ts'
import { skillText } from '../../../../skills/install/git-server.ts'
import { whySkipped } from '../../../../machine/sandbox/required.ts'
import { Place } from '../../nexus.ts'

/** A place of the user's with a skill that needs `no-such-tool`, and installers that write down how they were started. */
function ground(t: TestContext, installs: readonly string[]) {
  const place = new Place(t)
  const skill = join(place.home, 'skills/needy')
  mkdirSync(skill, { recursive: true })
  const entries = installs.map((each) => `{ bins: [no-such-tool], ${each} }`).join(', ')
  const nexus = `{ requires: { bins: [no-such-tool] }, install: [${entries}] }`
  writeFileSync(join(skill, 'SKILL.md'), skillText('needy', `metadata: { nexus: ${nexus} }\n`))
  const program = (directory: string, name: string, code = 0): void => {
    mkdirSync(directory, { recursive: true })
    const says = `#!/bin/sh\nprintf '%s\\n' "$0" "$@" >> '${place.root}/ran'\nenv > '${place.root}/env'\necho oh no >&2\nexit ${code}\n`
    writeFileSync(join(directory, name), says)
    chmodSync(join(directory, name), 0o755)
  }
  const tools = join(place.root, 'tools')
  const env = { PATH: `relative:${join(place.workspace, 'bin')}:${tools}:/usr/bin:/bin`, SECRET_TOKEN: 'hidden' }
  const deps = (...args: string[]) => place.run(['skills', 'deps', 'needy', ...args], { env })
  const ran = (): string[] => {
    const file = join(place.root, 'ran')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
    rmSync(file, { force: true })
    return lines
  }
  return { place, program, tools, deps, ran, skill }
}

const KINDS: readonly (readonly [entry: string, ...argv: string[]])[] = [
  ['kind: brew, formula: acme/tap/tool', 'brew', 'install', 'acme/tap/tool'],
  ['kind: npm, package: "@acme/tool@1.2.3"', 'npm', 'install', '-g', '--ignore-scripts', '@acme/tool@1.2.3'],
  ['kind: go, module: acme.dev/tool', 'go', 'install', 'acme.dev/tool@latest'],
  ['kind: uv, package: tool==1.0', 'uv', 'tool', 'install', 'tool==1.0'],
  ...(process.getuid?.() === 0 ? [['kind: apt, package: jq', 'apt-get', 'install', '-y', 'jq'] as const] : []),
]

test('deps shows how to install what is missing, and --run starts the installer of the PATH with exact words and no shell', async (t) => {
  for (const [entry, name = '', ...argv] of KINDS) {
    const { place, program, tools, deps, ran } = ground(t, [entry])
    program(tools, name)
    // Agents may write there.
    program(join(place.workspace, 'bin'), name)
    const shown = await deps()
    assert.equal(shown.code, 1, shown.stderr)
    assert.match(shown.stdout, /missing here: no-such-tool/)
    assert.ok(shown.stdout.includes(`install: ${name} ${argv[0]}`), shown.stdout)
    assert.match(shown.stdout, /nexus skills deps needy --run$/m)
    if (name !== 'brew') {
      await deps('--run', '--yes')
      assert.deepEqual(ran(), [join(tools, name), ...argv])
      continue
    }
    const silent = await deps('--run')
    assert.equal(silent.code, 2)
    assert.match(silent.stderr, /nexus skills deps needy --run --yes$/m)
    assert.deepEqual(ran(), [])
    const done = await deps('--run', '--yes', '--json')
    assert.deepEqual(ran(), [join(tools, name), ...argv])
    // The stand-in installed nothing.
    assert.equal(done.code, 1, done.stderr)
    assert.doesNotMatch(readFileSync(join(place.root, 'env'), 'utf8'), /hidden/)
    program(tools, name, 3)
    const failed = await deps('--run', '--yes')
    assert.equal(failed.code, 1)
    assert.match(failed.stderr, /INSTALL_FAILED.*ended with code 3\. It says: oh no/)
    ran()
  }
})

test('deps runs nothing that is unsafe, of an untrusted skill, without a digest, or for the rights of root', async (t) => {
  const hostile = [
    'kind: npm, package: "--global-style"',
    'kind: brew, formula: "a;touch x"',
    'kind: go, module: "../evil"',
    'kind: apt, package: "jq-"',
    'kind: cargo, package: x',
    'kind: download, url: "http://127.0.0.1/x", sha256: "00"',
    'kind: download, url: "https://127.0.0.1/x"',
  ]
  for (const entry of hostile) {
    const { program, tools, deps, ran, place } = ground(t, [entry])
    for (const name of ['npm', 'brew', 'go', 'apt-get', 'curl', 'sudo', 'sh']) program(tools, name)
    const { code, stderr } = await deps('--run', '--yes')
    assert.equal(code, 1, entry)
    assert.match(stderr, /CALL_DENIED: Nothing was installed for needy/, entry)
    assert.deepEqual(ran(), [], entry)
    assert.ok(!existsSync(join(place.home, 'tools')), entry)
  }
  const { place, skill, program, tools, ran } = ground(t, ['kind: npm, package: x'])
  program(tools, 'npm')
  const inside = join(place.workspace, 'skills/needy')
  mkdirSync(inside, { recursive: true })
  writeFileSync(join(inside, 'SKILL.md'), readFileSync(join(skill, 'SKILL.md')))
  rmSync(skill, { recursive: true })
  const untrusted = await place.run(['skills', 'deps', 'needy', '--run', '--yes'], { env: { PATH: tools } })
  assert.equal(untrusted.code, 1)
  assert.match(untrusted.stderr, /its source is untrusted/)
  assert.deepEqual(ran(), [])
})

test('deps places a download only where its digest is the one that the skill says, and unpacks it', async (t) => {
  const { place } = ground(t, [])
  const cert = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'cert.pem', '-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'], { cwd: place.root }) // oxfmt-ignore
  if (cert.status !== 0) return t.skip('openssl is not here')
  mkdirSync(join(place.root, 'pack/tool-1'), { recursive: true })
  writeFileSync(join(place.root, 'pack/tool-1/no-such-tool'), '#!/bin/sh\necho it runs\n', { mode: 0o755 })
  assert.equal(spawnSync('tar', ['-czf', 'tool.tar.gz', '-C', 'pack', 'tool-1'], { cwd: place.root }).status, 0)
  const file = (name: string) => readFileSync(join(place.root, name))
  const bytes = file('tool.tar.gz')
  const server = createServer({ key: file('key.pem'), cert: file('cert.pem') }, (_, response) => response.end(bytes))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => (server.closeAllConnections(), server.close()))
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/tool.tar.gz`
  const digest = createHash('sha256').update(bytes).digest('hex')
  const entry = (sha256: string) =>
    `kind: download, url: "${url}", sha256: "${sha256}", extract: true, stripComponents: 1`
  const env = { NODE_EXTRA_CA_CERTS: join(place.root, 'cert.pem') }
  const run = async (sha256: string) => {
    const here = ground(t, [entry(sha256)])
    const ended = await here.place.run(['skills', 'deps', 'needy', '--run', '--yes', '--json'], { env })
    return { ...ended, here, tools: join(here.place.home, 'tools') }
  }
  const wrong = await run('0'.repeat(64))
  assert.equal(wrong.code, 1)
  assert.match(wrong.stdout, /has the sha256 /)
  assert.ok(!existsSync(wrong.tools))
  const right = await run(digest)
  assert.ok(existsSync(join(right.tools, 'no-such-tool')), right.stdout + right.stderr)
  const { data } = JSON.parse(right.stdout) as { data: JsonObject }
  assert.deepEqual(data['missing'], ['no-such-tool'], 'commands get it when a setting names it')
  if (whySkipped()) return
  const { deps, place: there } = right.here
  const [line] = /execution: \{.*\}$/m.exec((await deps()).stdout) ?? []
  assert.equal(line, 'execution: { programs: [no-such-tool] }')
  writeFileSync(join(there.home, 'nexus.yaml'), `${line}\n`)
  const done = await deps()
  assert.equal(done.code, 0, done.stdout + done.stderr)
  const ran = await there.run(['skills', 'run', 'needy', '--trust', '--', 'no-such-tool'])
  assert.equal(ran.stdout, 'it runs\n', ran.stderr)
})
