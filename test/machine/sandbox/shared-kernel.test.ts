/** What no namespace separates by itself: keyrings, the kernel's log, ipc, sockets without a path, cgroups, knobs of /proc, clocks. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { createSandbox, type Sandbox } from '../../../src/machine/sandbox/index.ts'
import { localOptions, openDirectory } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false
const isX64 = process.arch === 'x64'

const ENOSYS = 38
/** Exit code of a program that the kernel ended because of a call. */
const SIGSYS = 128 + 31

/** Numbers of the refused calls, as a program of this machine makes them. */
const CALLS = isX64
  ? { add_key: 248, request_key: 249, keyctl: 250, syslog: 103 }
  : { add_key: 217, request_key: 218, keyctl: 219, syslog: 116 }

/** Bit of the x32 calls of x86-64. */
const X32 = 0x4000_0000

/** Perl that prints the error of one call, or 0; arguments as the call wants them. */
const perl = (number: number, args = '0, 0, 0, 0, 0'): string =>
  `perl -e '$r = syscall(${number}, ${args}); print $r == -1 ? $! + 0 : 0'`

/** A program for 64-bit Linux that makes one 32-bit call and exits with its error. */
function program32(number: number, first: number, second: number): Buffer {
  const word = (value: number): number[] => [...Buffer.from(Uint32Array.of(value).buffer)]
  const code = Buffer.from([
    ...[0xb8, ...word(number), 0xbb, ...word(first), 0xb9, ...word(second), 0xba, ...word(0)],
    // int 0x80; ebx = -eax; eax = exit; int 0x80
    ...[0xcd, 0x80, 0x89, 0xc3, 0xf7, 0xdb, 0xb8, ...word(1), 0xcd, 0x80],
  ])
  const header = Buffer.alloc(120)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16)
  header.writeUInt16LE(62, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(0x40_0078n, 24)
  header.writeBigUInt64LE(64n, 32)
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(1, 56)
  // One segment, readable and executable, that is the whole file.
  header.writeUInt32LE(1, 64)
  header.writeUInt32LE(5, 68)
  header.writeBigUInt64LE(0x40_0000n, 80)
  header.writeBigUInt64LE(0x40_0000n, 88)
  header.writeBigUInt64LE(BigInt(120 + code.length), 96)
  header.writeBigUInt64LE(BigInt(120 + code.length), 104)
  header.writeBigUInt64LE(0x1000n, 112)
  return Buffer.concat([header, code])
}

/** One sandbox for all tests of a group. */
function useSandbox(): (command: string, program?: Buffer) => Promise<{ said: string; exitCode: number }> {
  const root = openDirectory()
  let sandbox: Sandbox
  let workspace = ''
  before(async () => {
    sandbox = await createSandbox(localOptions({}))
  })
  beforeEach(() => {
    workspace = mkdtempSync(join(root, 'work-'))
  })
  after(async () => {
    await sandbox.close()
    rmSync(root, { recursive: true, force: true })
  })
  return async (command, program) => {
    if (program) writeFileSync(join(workspace, 'program'), program, { mode: 0o755 })
    const { stdout, stderr, exitCode } = await sandbox.run({ command, workspace })
    return { said: stdout + stderr, exitCode }
  }
}

describe('system calls that reach beyond the namespaces', { skip }, () => {
  const run = useSandbox()

  for (const [name, number] of Object.entries(CALLS)) {
    it(`${name} is refused as on a kernel without it`, async () => {
      assert.equal((await run(perl(number))).said, String(ENOSYS))
    })
  }

  it('a key cannot be put into the session of the user', async () => {
    const add = perl(CALLS.add_key, '$t = "user", $n = "nexus-test", $v = "secret", 6, -3')
    assert.equal((await run(add)).said, String(ENOSYS))
  })

  it('other calls work', async () => {
    assert.equal(
      (await run("perl -e 'print syscall($ARGV[0])' " + (isX64 ? 102 : 174))).said,
      (await run('id -u')).said.trim(),
    )
  })

  for (const [name, number] of Object.entries({ add_key: 286, keyctl: 288, socket: 359, umask: 60 })) {
    it(`a program that calls ${name} through the 32-bit entry is ended`, { skip: !isX64 }, async () => {
      assert.equal((await run('./program', program32(number, 1, 1))).exitCode, SIGSYS)
    })
  }

  it('a program that makes an x32 call is ended', { skip: !isX64 }, async () => {
    assert.equal((await run(`exec ${perl(CALLS.keyctl + X32)}`)).exitCode, SIGSYS)
  })
})

describe('what the host shares with other programs', { skip }, () => {
  const run = useSandbox()
  const says = async (command: string): Promise<string> => (await run(command)).said

  it('shared memory, queues and semaphores of the host are not seen', async (context) => {
    const make = "print shmget(0x4e58, 4096, 0666 | 01000), ' ', msgget(0x4e58, 0666 | 01000)"
    const made = execFileSync('perl', ['-e', make], { encoding: 'utf8' }).split(' ')
    context.after(() => execFileSync('perl', ['-e', `shmctl(${made[0]}, 0, 0); msgctl(${made[1]}, 0, 0)`]))
    const seen = await says(
      "perl -e 'print defined shmget(0x4e58, 1, 0) ? q(SHM) : 0, defined msgget(0x4e58, 0) ? q(MSG) : 0'",
    )
    assert.equal(seen, '00')
  })

  it('files in the shared memory of the host are not seen', { skip: process.platform !== 'linux' }, async (context) => {
    const path = `/dev/shm/nexus-${randomUUID()}`
    writeFileSync(path, 'host')
    context.after(() => rmSync(path))
    assert.doesNotMatch(await says(`ls /dev/shm; cat ${path} 2>/dev/null; ls /dev/mqueue`), /host|nexus-/)
  })

  it('a socket without a path, which has no file to hide, is not reached', async (context) => {
    const name = `nexus-${randomUUID()}`
    let reached = 0
    const server = createServer((socket) => {
      reached++
      socket.end()
    })
    await new Promise<void>((resolve) => server.listen(`\0${name}`, resolve))
    context.after(() => server.close())
    const said = await says(
      `cat /proc/net/unix | grep -c ${name}; node -e "require('net').connect('\\0${name}').on('error',e=>console.log(e.code))"`,
    )
    assert.match(said, /^0\n(?:EPERM|EACCES|ECONNREFUSED)/)
    assert.equal(reached, 0)
  })

  it('no cgroup can be changed or left', async () => {
    const said = await says(
      'for f in $(find /sys/fs/cgroup -name "cgroup.procs" 2>/dev/null | head -5); do echo $$ > $f && echo LEFT; done; mkdir /sys/fs/cgroup/x && echo MADE; ls /sys/fs/cgroup 2>/dev/null | head -3',
    )
    assert.doesNotMatch(said, /LEFT|MADE/)
  })

  for (const [knob, value] of [
    ['/proc/sysrq-trigger', 'h'],
    ['/proc/sys/kernel/ns_last_pid', '100'],
    ['/proc/sys/fs/inotify/max_user_instances', '1'],
    ['/proc/self/oom_score_adj', '-1000'],
    ['/proc/1/oom_score_adj', '-1000'],
    ['/proc/self/timens_offsets', 'monotonic 1000 0'],
    ['/proc/self/uid_map', '0 0 1'],
    ['/proc/self/setgroups', 'allow'],
  ] as const) {
    it(`${knob} takes no value`, async () => {
      assert.doesNotMatch(await says(`{ echo '${value}' > ${knob}; } 2>/dev/null && echo TAKEN`), /TAKEN/)
    })
  }

  for (const path of [
    '/proc/kcore',
    '/proc/kmsg',
    '/dev/kmsg',
    '/dev/mem',
    '/proc/1/environ',
    '/proc/1/root/etc/shadow',
  ]) {
    it(`${path} gives nothing of the host`, async () => {
      assert.equal(await says(`timeout 2 head -c 100 ${path} 2>/dev/null | tr -d '\\0' | grep -c SECRET`), '0\n')
      assert.doesNotMatch(await says(`timeout 2 head -c 1 ${path} > /dev/null 2>&1 && echo READ`), /READ/)
    })
  }

  it('the clock of the host is not set', async () => {
    const before = Date.now()
    const said = await says(
      `date -s '2001-01-01' >/dev/null 2>&1 && echo SET; perl -e '$t = pack("q2", 1000, 0); print syscall(${isX64 ? 227 : 112}, 0, $t) == 0 ? "SET" : "no"'`,
    )
    assert.equal(said, 'no')
    assert.ok(Date.now() >= before)
  })

  it('priority is only ever lowered, and no real-time class is had', async () => {
    assert.match(await says('nice -n -5 true; chrt -f 1 true && echo REAL'), /cannot set niceness|Permission denied/)
    assert.doesNotMatch(await says('chrt -f 1 true 2>/dev/null && echo REAL'), /REAL/)
  })
})
