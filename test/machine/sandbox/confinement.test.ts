import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { IS_ROOT, openDirectory, openRig, STATE_DIR } from './local-rig.ts'
import { whySkipped } from './required.ts'

const HOMES = [homedir()].filter((path) => existsSync(path))
const skip = whySkipped() ?? false

/** Runs the command and returns what it said on both streams. */
async function says(context: TestContext, command: string): Promise<string> {
  const { run } = await openRig(context)
  const { stdout, stderr } = await run(command)
  return `${stdout}\n${stderr}`
}

test('the shadow file cannot be read', { skip }, async (context) => {
  const said = await says(context, "cat /etc/shadow; node -e \"require('fs').readFileSync('/etc/shadow')\"")
  assert.match(said, /Permission denied/)
  assert.doesNotMatch(said, /root:/)
})

test(
  'home directories, the state of other projects and unrelated directories are not there',
  { skip },
  async (context) => {
    const secret = openDirectory('nexus-secret-')
    context.after(() => rmSync(secret, { recursive: true }))
    writeFileSync(join(secret, 'key'), 'TOP-SECRET')
    const { run } = await openRig(context)
    const { stdout } = await run(
      `cat ${secret}/key ${homedir()}/.ssh/* ${homedir()}/.bashrc /root/.ssh/* 2>/dev/null; ls -A ${STATE_DIR}/projects/default`,
    )
    assert.doesNotMatch(stdout, /TOP-SECRET/)
    assert.equal(stdout, 'revisions\n', 'of its own project only the placed skills are visible')
  },
)

test('the environment holds the documented variables and nothing of the host', { skip }, async (context) => {
  process.env['HOST_SECRET_FOR_TEST'] = 'TOP-SECRET'
  context.after(() => delete process.env['HOST_SECRET_FOR_TEST'])
  const { run } = await openRig(context)
  const { stdout } = await run(
    "env -0 | tr '\\0\\n' '\\n ' | cut -d= -f1 | sort; cat /proc/self/environ /proc/1/environ",
    { env: { MINE: 'x' } },
  )
  assert.doesNotMatch(stdout, /TOP-SECRET|proxy|PROXY|SRT_|CLAUDE/)
  const names = stdout.split('\n').filter((line) => /^[A-Z_]+$/.test(line))
  const expected = [
    'GIT_CONFIG_COUNT',
    'GIT_OPTIONAL_LOCKS',
    'HOME',
    'LANG',
    'MINE',
    'NEXUS_PROJECT',
    'NEXUS_SANDBOX',
    'NEXUS_WORKSPACE',
    'PATH',
    'PWD',
    'SHLVL',
    'TMPDIR',
    'TZ',
    '_',
  ]
  assert.deepEqual(names.sort(), expected)
})

test('nothing outside the workspace and the temp can be written', { skip }, async (context) => {
  const other = openDirectory('nexus-other-')
  context.after(() => rmSync(other, { recursive: true }))
  const { run, workspace } = await openRig(context)
  const places = [
    '/etc',
    '/usr',
    '/usr/bin',
    '/',
    '/var',
    '/home',
    '/root',
    '/opt',
    '/dev',
    '/sys',
    '/run',
    other,
    `${STATE_DIR}/projects/default/revisions`,
  ]
  const { stdout } = await run(
    `for d in ${places.join(' ')}; do touch $d/nexus-x 2>/dev/null && echo "wrote $d"; done; touch here $TMPDIR/t $HOME/h && echo ok`,
  )
  assert.equal(stdout, 'ok\n')
  assert.equal(existsSync(join(workspace, 'here')), true)
  assert.equal(existsSync(join(other, 'nexus-x')), false)
})

test('the temp is private, writable and gone afterwards', { skip }, async (context) => {
  const { run } = await openRig(context)
  assert.equal((await run('mktemp >/dev/null && echo kept > /tmp/kept && ls -A /tmp')).stdout.includes('kept'), true)
  assert.equal((await run('ls -A /tmp')).stdout.includes('kept'), false)
})

test('the kernel settings cannot be written', { skip }, async (context) => {
  const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8')
  const said = await says(
    context,
    'echo "|/tmp/x" > /proc/sys/kernel/core_pattern; echo 3 > /proc/sys/vm/drop_caches; echo done',
  )
  assert.match(said, /Read-only file system|Permission denied/)
  assert.equal(readFileSync('/proc/sys/kernel/core_pattern', 'utf8'), before)
})

test('no network is reached by curl, by bash or by node, not even on the host itself', { skip }, async (context) => {
  let reached = 0
  const server = createServer((socket) => {
    reached++
    socket.end('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  context.after(() => server.close())
  const { port } = server.address() as { port: number }
  const { run } = await openRig(context)
  const { stdout } = await run(
    [
      `curl -s -m 2 http://127.0.0.1:${port} && echo CURL`,
      `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo BASH`,
      `node -e "require('net').connect(${port},'127.0.0.1').on('connect',()=>console.log('NODE')).on('error',()=>{})"`,
      `getent hosts example.com && echo DNS`,
      `ls /sys/class/net 2>/dev/null | grep -v lo; echo end`,
    ].join('; '),
  )
  assert.equal(/CURL|BASH|NODE|DNS/.test(stdout), false, stdout)
  assert.equal(reached, 0)
})

test('unix sockets and new namespaces are refused', { skip }, async (context) => {
  const said = await says(
    context,
    `node -e "require('net').createServer().on('error',e=>console.log(e.code)).listen('/tmp/s')"; unshare -Ur true && echo UNSHARED; bwrap --ro-bind / / true && echo NESTED; mount -t tmpfs x /tmp && echo MOUNTED; mknod /tmp/d b 8 0 && echo NODE`,
  )
  assert.match(said, /EPERM/)
  assert.doesNotMatch(said, /UNSHARED|NESTED|MOUNTED|NODE/)
})

test(
  'as root the command runs as the uid of its project, and each project has its own',
  { skip: skip || (!IS_ROOT && 'needs root') },
  async (context) => {
    const one = await openRig(context, { projectId: 'one' })
    const two = await openRig(context, { projectId: 'two' })
    const uids = [
      (await one.run('id -u')).stdout,
      (await two.run('id -u')).stdout,
      (await one.run('id -G')).stdout,
    ].map(Number)
    assert.ok((uids[0] ?? 0) >= 200_000 && (uids[1] ?? 0) >= 200_000)
    assert.notEqual(uids[0], uids[1])
    assert.equal(uids[2], uids[0], 'no group of root is left')
  },
)

test('processes of the host are neither seen nor reached', { skip }, async (context) => {
  const said = await says(
    context,
    `ls /proc | grep -c '^[0-9]'; kill -9 ${process.pid} && echo KILLED; kill -9 $PPID; kill -9 -1; echo after`,
  )
  assert.doesNotMatch(said, /KILLED/)
  const visible = Number(said.split('\n', 1)[0])
  assert.ok(visible > 0 && visible < 10, `${visible} processes seen`)
})

test('descriptors of the host are not handed down', { skip }, async (context) => {
  // 3 is the directory that ls itself has open.
  assert.equal((await says(context, 'ls /proc/self/fd | tr "\\n" " "')).trim(), '0 1 2 3')
})

test('no capability is left and no new privilege can be had', { skip }, async (context) => {
  const said = await says(
    context,
    "grep -E 'CapEff|CapPrm|NoNewPrivs' /proc/self/status | tr -d '\\t '; su -c id root </dev/null",
  )
  assert.match(said, /CapPrm:0000000000000000\nCapEff:0000000000000000\nNoNewPrivs:1/)
  assert.doesNotMatch(said, /uid=0/)
})

test('a workspace that is a system directory, a home or the state directory is refused', { skip }, async (context) => {
  const { sandbox } = await openRig(context)
  mkdirSync(join(STATE_DIR, 'inside'), { recursive: true })
  for (const workspace of ['/', '/etc', '/usr', '/usr/lib', '/tmp', ...HOMES, join(STATE_DIR, 'inside')]) {
    await assert.rejects(sandbox.run({ command: 'true', workspace }), { code: 'INVALID_ARGUMENT' }, workspace)
  }
})
