import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as requestHttp, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { skillText, startGitServer } from '../../../../skills/install/git-server.ts'
import { processesWith, until } from '../../../mcp/client.ts'
import { ended, Place } from '../../nexus.ts'
import { inTerminal, whyNoTerminal } from '../../terminal.ts'

/** Writes skills into `from` beside the workspace, and empties the workspace. */
function placeWith(t: TestContext, skills: Readonly<Record<string, string>>): Place {
  const place = new Place(t)
  rmSync(join(place.workspace, 'skills'), { recursive: true, force: true })
  for (const [name, more] of Object.entries(skills)) {
    mkdirSync(join(place.root, 'from', name), { recursive: true })
    writeFileSync(join(place.root, 'from', name, 'SKILL.md'), skillText(name, more))
  }
  return place
}

const requiring = (skills: string, more = '') => `metadata: { nexus: { requires: { skills: [${skills}]${more} } } }\n`

test('the plan names skills that are missing with the command to type, cycles, and what else is missing here', async (t) => {
  const place = placeWith(t, {
    one: requiring('two, "acme/tools@three", four', ', bins: [no-such-program], env: [NO_SUCH_KEY]'),
    two: requiring('one'),
    lone: requiring('two'),
  })
  const plan = (skill: string) =>
    place.run(['skills', 'install', '../from', '--skill', skill, '--scope', 'workspace', '--dry-run'])
  const both = await plan('one,two')
  assert.equal(both.code, 0, both.stderr)
  for (const line of [
    /missing binary: no-such-program\. Install no-such-program/,
    /missing env: NO_SUCH_KEY\. Set skills\.entries\.one\.env\.NO_SUCH_KEY/,
    /requires the skill acme\/tools@three, which is not here.* nexus skills install acme\/tools@three$/m,
    /requires the skill four, which is not here/,
    /requires itself: one → two → one/,
  ])
    assert.match(both.stderr, line)
  assert.doesNotMatch(both.stderr, /requires the skill two/)
  const lone = await plan('lone')
  assert.match(lone.stderr, /requires the skill two, which is not here.* nexus skills install \.\.\/from --skill two$/m)
  assert.doesNotMatch(lone.stderr, /requires itself/)
})

test('the plan shows the changed lines of what it replaces, long ones whole with --dry-run only', async (t) => {
  const place = placeWith(t, { one: '' })
  const file = join(place.root, 'from/one/SKILL.md')
  const install = (...more: string[]) => place.run(['skills', 'install', '../from', '--scope', 'workspace', ...more])
  assert.equal((await install('--yes')).code, 0)
  const lines = Array.from({ length: 150 }, (_, index) => `line ${index}`).join('\n')
  writeFileSync(file, `${skillText('one').replace('# one', '# other')}${lines}\u001b[2J\n`)
  const dry = await install('--dry-run')
  assert.match(dry.stderr, /^ +-# one$/m)
  assert.match(dry.stderr, /^ +\+# other$/m)
  assert.match(dry.stderr, /\+line 149/)
  assert.ok(!dry.stderr.includes('\u001b[2J'))
  const short = await install()
  assert.equal(short.code, 2)
  assert.match(short.stderr, /… \d+ more lines; --dry-run shows every line/)
  assert.doesNotMatch(short.stderr, /\+line 149/)
})

test('the plan names the hosts of texts and scripts, and those that an update adds', async (t) => {
  const place = placeWith(t, { one: '' })
  const script = join(place.root, 'from/one/scripts/go.sh')
  mkdirSync(join(script, '..'))
  writeFileSync(script, '#!/bin/sh\ncurl https://api.acme.dev/v1\n')
  const install = (...more: string[]) => place.run(['skills', 'install', '../from', '--scope', 'workspace', ...more])
  const first = await install('--yes')
  assert.match(first.stderr, /^ +asks for hosts: api\.acme\.dev$/m)
  writeFileSync(script, '#!/bin/sh\ncurl https://api.acme.dev/v1 https://evil.io:8443\n')
  const second = await install('--dry-run', '--json')
  const { data } = JSON.parse(second.stdout) as { data: { skills: { widens: { hosts: string[] } }[] } }
  assert.deepEqual(data.skills[0]?.widens.hosts, ['evil.io'])
})

test('a command that is proposed has the options that were typed, and none that was consent', async (t) => {
  const place = placeWith(t, { one: '', two: '' })
  const args = ['skills', 'install', '../from', '--skill', 'two', '--scope', 'workspace', '--client', 'codex']
  const stopped = await place.run(args)
  assert.equal(stopped.code, 2)
  assert.match(stopped.stderr, /: nexus skills install \.\.\/from --skill two --scope workspace --client codex --yes$/m)
  assert.equal((await place.run([...args, '--yes'])).code, 0)
  rmSync(join(place.workspace, 'skills/two'), { recursive: true })
  const frozen = await place.run(['skills', 'install', '--frozen', '--scope', 'workspace'])
  assert.match(frozen.stderr, /: nexus skills ci --scope workspace --yes$/m)
})

test('a place without skills is an error, also for --list, and so is an archive that is not there', async (t) => {
  const place = placeWith(t, { one: '' })
  for (const [source, says] of [
    ['.', /no SKILL\.md/],
    ['./x.zip', /x\.zip is no file/],
  ] as const) {
    const { code, stderr } = await place.run(['skills', 'install', source, '--list'])
    assert.notEqual(code, 0, source)
    assert.match(stderr, says)
  }
})

test('a password in the address of a skills-lock.json is not shown', async (t) => {
  const place = placeWith(t, {})
  const entry = { source: 'https://user:hidden@127.0.0.1/x.git', sourceType: 'git' }
  writeFileSync(join(place.workspace, 'skills-lock.json'), JSON.stringify({ version: 1, skills: { a: entry } }))
  const { code, stderr, stdout } = await place.run(['skills', 'ci', '--scope', 'workspace', '--json'])
  assert.equal(code, 2)
  assert.doesNotMatch(stderr + stdout, /hidden/)
})

test('install --frozen is ci: it restores the lock, and takes no source', async (t) => {
  const place = placeWith(t, { one: '' })
  assert.equal((await place.run(['skills', 'install', '../from', '--scope', 'workspace', '--yes'])).code, 0)
  rmSync(join(place.workspace, 'skills'), { recursive: true })
  const frozen = (...more: string[]) => place.run(['skills', 'install', '--frozen', '--scope', 'workspace', ...more])
  const restored = await frozen('--yes')
  assert.equal(restored.code, 0, restored.stderr)
  assert.match(restored.stdout, /1 skill restored from the lock/)
  assert.ok(existsSync(join(place.workspace, 'skills/one/SKILL.md')))
  const refused = await frozen('../from')
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /--frozen restores the lock and takes no source/)
})

test(
  'in a terminal a person chooses among skills, and types the name that the policy warns of',
  { skip: whyNoTerminal() },
  async (t) => {
    const place = placeWith(t, { one: '', two: '', three: '' })
    const program = join(place.root, 'policy.sh')
    mkdirSync(place.home, { recursive: true })
    writeFileSync(join(place.home, 'nexus.yaml'), `skills: { install: { policy: '${program}' } }\n`)
    writeFileSync(
      program,
      `#!/bin/sh\ncat >/dev/null\necho '{"protocolVersion":1,"decision":"warn","reason":"because"}'\n`,
    )
    chmodSync(program, 0o755)
    const args = ['skills', 'install', '../from', '--scope', 'workspace']
    const dry = await place.run([...args, '--skill', 'two', '--dry-run'])
    assert.equal(dry.code, 0, dry.stderr)
    assert.match(dry.stderr, /policy, two: warns: because/)
    const { code, screen } = await inTerminal(
      place,
      args,
      { prompt: /Which ones\?/, keys: ',\r' },
      { prompt: /Type numbers or names of the list/, keys: 'four\r' },
      { prompt: /Type numbers or names of the list/, keys: '3\r' },
      { prompt: /type its name: three/, keys: 'y\r' },
      { prompt: /Type three, or Enter/, keys: 'three\r' },
      { prompt: /Place them\?/, keys: 'y\r' },
    )
    assert.equal(code, 0, screen)
    assert.ok(existsSync(join(place.workspace, 'skills/three/SKILL.md')), screen)
    assert.ok(!existsSync(join(place.workspace, 'skills/one')))
    const none = await inTerminal(place, args, { prompt: /Which ones\?/, keys: '\r' })
    assert.equal(none.code, 2)
  },
)

test('Ctrl-C while files come leaves nothing: no copy, no lock, no repository, no process; a pipe gets one plain line', async (t) => {
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    // As git's server begins, then nothing more.
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': 5_000 })
    response.write(Buffer.alloc(1_000))
    held.push(response)
    request.resume()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => (server.closeAllConnections(), server.close()))
  const { port } = server.address() as AddressInfo
  const upstream = await startGitServer(t)
  upstream.upstream('tools').write('SKILL.md', skillText('one')).publish()
  const behind = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      if (body.includes('command=fetch')) return void held.push(response)
      const { host: _, ...headers } = request.headers
      const passed = { method: request.method, headers }
      const inner = requestHttp(new URL(request.url ?? '', upstream.url('tools')), passed, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(response)
      })
      inner.end(body)
    })
  })
  behind.listen(0, '127.0.0.1')
  await once(behind, 'listening')
  t.after(() => (behind.closeAllConnections(), behind.close()))
  const git = `http://127.0.0.1:${(behind.address() as AddressInfo).port}/tools.git`
  for (const what of [`http://127.0.0.1:${port}/one.zip`, git]) {
    const place = placeWith(t, {})
    const child = place.start(['skills', 'install', what, '--scope', 'workspace', '--yes'])
    const result = ended(child)
    await until(() => held.length > 0)
    child.kill('SIGINT')
    const { code, stderr } = await result
    assert.equal(code, 130, stderr)
    assert.equal(stderr.split('\n').filter((line) => line === `fetching ${what}`).length, 1, stderr)
    const left = readdirSync(place.home, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    // Compiled code of the command stays.
    const compiled = `-${process.version}-${process.arch}`
    assert.deepEqual(
      left.map(({ name }) => name).filter((name) => !name.endsWith('.db') && !name.endsWith(compiled)),
      [],
    )
    const repositories = join(place.home, 'cache/git')
    assert.deepEqual(existsSync(repositories) ? readdirSync(repositories) : [], [])
    assert.ok(!existsSync(join(place.workspace, 'skills')))
    assert.ok(!existsSync(join(place.workspace, 'nexus-skills.lock')))
    assert.deepEqual(processesWith(what), [])
    held.length = 0
  }
})

test('a terminal says how much came', { skip: whyNoTerminal() }, async (t) => {
  let finish = (): void => undefined
  const server = createServer((_, response) => {
    response.writeHead(200)
    response.write(Buffer.alloc(123_000))
    finish = () => void response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => (server.closeAllConnections(), server.close()))
  const { port } = server.address() as AddressInfo
  const args = ['skills', 'install', `http://127.0.0.1:${port}/one.zip`]
  const { screen } = await inTerminal(placeWith(t, {}), args, { prompt: /one\.zip, 123 kB … \d+ s/, keys: '\u0003' })
  assert.match(screen, /Cancelled/)
  finish()
})
