/** Every option that confines, twice: in the line that bubblewrap gets, and by its effect on a command. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { checkSandbox, createSandbox, type Sandbox } from '../../../src/machine/sandbox/index.ts'
import { localOptions, openDirectory, STATE_DIR } from './local-rig.ts'
import { whySkipped } from './required.ts'

const LIMITS = {
  processes: 100,
  openFiles: 200,
  fileSizeBytes: 5 * 1024 ** 2,
  dataBytes: 1024 ** 3,
  sharedMemoryBytes: 1024 ** 2,
}

/** Programs of the system, with a bubblewrap of our own that begins with `script`. */
function programsWith(root: string, script: string): string {
  const directory = mkdtempSync(join(root, 'programs-'))
  chmodSync(directory, 0o755)
  writeFileSync(join(directory, 'bwrap'), `#!/bin/bash\n${script}\n`)
  chmodSync(join(directory, 'bwrap'), 0o755)
  return directory
}

interface Row {
  /** The option as it is in the line, its arguments behind it. */
  readonly option: readonly string[]
  readonly command: string
  readonly says: RegExp
}

/** Another namespace than that of this process, which never entered one. */
function ownNamespace(name: string): Pick<Row, 'command' | 'says'> {
  const outside = process.platform === 'linux' ? readlinkSync(`/proc/self/ns/${name}`) : ''
  return {
    command: `[ "$(readlink /proc/self/ns/${name})" != '${outside}' ] && readlink /proc/self/ns/${name}`,
    says: new RegExp(`^${name}:\\[\\d+\\]\n$`),
  }
}

const OPTIONS: readonly Row[] = [
  // The session is that of the first process inside; one from outside is 0 here.
  { option: ['--new-session'], command: "awk '/^NSsid/ {print $2}' /proc/self/status", says: /^1\n$/ },
  {
    option: ['--add-seccomp-fd', '4'],
    // keyctl, the same call as in shared-kernel.test.ts.
    command: `perl -e 'syscall(${process.arch === 'x64' ? 250 : 219}, 0, 0); print $! + 0'`,
    says: /^38$/,
  },
  { option: ['--unshare-net'], ...ownNamespace('net') },
  { option: ['--unshare-pid'], ...ownNamespace('pid') },
  { option: ['--unshare-user'], ...ownNamespace('user') },
  { option: ['--uid'], command: 'id -u | grep -vcx 0', says: /^1\n$/ },
  { option: ['--gid'], command: 'id -g | grep -vcx 0', says: /^1\n$/ },
  { option: ['--unshare-ipc'], ...ownNamespace('ipc') },
  { option: ['--unshare-uts'], ...ownNamespace('uts') },
  { option: ['--unshare-cgroup-try'], ...ownNamespace('cgroup') },
  { option: ['--hostname', 'sandbox'], command: 'cat /proc/sys/kernel/hostname', says: /^sandbox\n$/ },
  {
    option: ['--cap-drop', 'ALL'],
    command: "grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status | grep -vc 0000000000000000",
    says: /^0\n$/,
  },
  { option: ['--remount-ro', '/'], command: 'awk \'$5 == "/" {print $6}\' /proc/self/mountinfo', says: /^ro,/ },
  { option: ['--dev', '/dev'], command: 'ls /dev', says: /^(?!(?:.*\n)*(?:sda|vda|mem|kmsg|loop))(?:.*\n)*null\n/ },
  {
    option: ['--proc', '/proc'],
    command: 'awk \'$5 == "/proc" {print $6}\' /proc/self/mountinfo | tail -1',
    says: /^rw,nosuid,nodev,noexec/,
  },
  {
    option: ['--ro-bind', '/proc/sys', '/proc/sys'],
    // Without the mount this is writable: its owner is the one who has the ipc namespace.
    command: 'echo 1 2>&1 > /proc/sys/kernel/msgmax; awk \'$5 == "/proc/sys" {print $6}\' /proc/self/mountinfo',
    says: /Read-only file system[^]*^ro,/m,
  },
  {
    option: ['--size', String(LIMITS.sharedMemoryBytes)],
    command: 'stat -f -c "%b %S" /dev/shm',
    says: new RegExp(`^${LIMITS.sharedMemoryBytes / 4096} 4096\n$`),
  },
  {
    option: ['--tmpfs', '/dev/shm'],
    command: 'head -c 2000000 /dev/zero > /dev/shm/x; stat -c %s /dev/shm/x; ls -A /dev/shm',
    says: /^1048576\nx\n/,
  },
  { option: ['--remount-ro', '/dev'], command: 'touch /dev/x 2>&1', says: /Read-only file system/ },
  {
    option: ['--setenv', 'SRT_ALLOW_NESTED_USERNS', '0'],
    command: 'echo "${SRT_ALLOW_NESTED_USERNS-unset}"',
    says: /^unset\n$/,
  },
]

/** What the first thing that runs inside sets before it becomes the command. */
const ENTRY: readonly Row[] = [
  { option: ['umask 022'], command: 'umask', says: /^0022\n$/ },
  { option: ['ulimit -c 0'], command: 'ulimit -Hc', says: /^0\n$/ },
  { option: [`ulimit -f ${LIMITS.fileSizeBytes / 1024}`], command: 'ulimit -Hf', says: /^5120\n$/ },
  { option: [`ulimit -n ${LIMITS.openFiles}`], command: 'ulimit -Hn', says: /^200\n$/ },
  { option: [`ulimit -d ${LIMITS.dataBytes / 1024}`], command: 'ulimit -Hd', says: /^1048576\n$/ },
  { option: [`ulimit -u ${LIMITS.processes + 16}`], command: 'ulimit -Hu', says: /^116\n$/ },
  { option: ['exec $NEXUS_ITEM>&-'], command: 'ls /proc/self/fd | tr "\\n" " "', says: /^0 1 2 3 $/ },
  { option: ['/apply-seccomp '], command: "awk '/^Seccomp:/ {print $2}' /proc/self/status", says: /^2\n$/ },
]

const skip = whySkipped() ?? false

describe('every option that confines a command', { skip }, () => {
  const root = openDirectory()
  const workspace = join(root, 'work')
  const log = join(root, 'log')
  let sandbox: Sandbox
  let line: readonly string[] = []

  const says = async (command: string): Promise<string> => {
    const { stdout, stderr } = await sandbox.run({ command, workspace })
    return stdout + stderr
  }

  before(async () => {
    mkdirSync(workspace)
    mkdirSync(log)
    chmodSync(log, 0o777)
    const programs = programsWith(root, `printf '%s\\0' "$@" > ${log}/line\nexec /usr/bin/bwrap "$@"`)
    sandbox = await createSandbox(localOptions({ programDirectories: [programs], limits: LIMITS }))
    await sandbox.run({ command: 'true', workspace })
    line = readFileSync(join(log, 'line'), 'utf8').split('\0')
  })
  after(async () => {
    await sandbox.close()
    rmSync(root, { recursive: true, force: true })
  })

  /** Where the option begins in the line, before the command; -1 when it is not there. */
  const indexOf = (option: readonly string[]): number =>
    line
      .slice(0, line.indexOf('--'))
      .findIndex((_, index) => option.every((word, offset) => line[index + offset] === word))

  for (const { option, command, says: expected } of OPTIONS) {
    it(`${option.join(' ')} is in the line, and a command meets it`, async () => {
      assert.notEqual(indexOf(option), -1, line.join(' '))
      assert.match(await says(command), expected)
    })
  }

  for (const { option, command, says: expected } of ENTRY) {
    it(`${option.join(' ')} is in the script that starts the command, and it meets it`, async () => {
      const script = line.slice(line.indexOf('--')).join(' ')
      assert.ok(script.includes(option.join(' ')), script)
      assert.match(await says(command), expected)
    })
  }

  it('--die-with-parent is in the line', () => {
    assert.notEqual(indexOf(['--die-with-parent']), -1)
  })

  it('the kernel settings are closed after /proc is mounted, and /dev after its memory', () => {
    assert.ok(indexOf(['--proc', '/proc']) < indexOf(['--ro-bind', '/proc/sys', '/proc/sys']))
    assert.ok(indexOf(['--dev', '/dev']) < indexOf(['--tmpfs', '/dev/shm']))
    assert.ok(indexOf(['--tmpfs', '/dev/shm']) < indexOf(['--remount-ro', '/dev']))
    assert.equal(line[indexOf(['--tmpfs', '/dev/shm']) - 1], String(LIMITS.sharedMemoryBytes), '--size is of /dev/shm')
  })

  it('the host is not mounted, and what is there of it is read-only although its owner is the command', async () => {
    assert.equal(indexOf(['--ro-bind', '/', '/']), -1)
    const hosts = ['/home', '/root', '/var', '/run', '/srv', '/opt', '/mnt', '/media', '/boot']
    const hidden = hosts.filter((path) => !`${workspace} ${STATE_DIR}`.includes(`${path}/`))
    const list = ['/', '/usr', '/etc', '/sys', ...hidden].join(' ')
    assert.equal(
      await says(`ls -A ${hidden.join(' ')} 2>/dev/null; for d in ${list}; do touch $d/x 2>/dev/null && echo $d; done`),
      '',
    )
    assert.notEqual(indexOf(['--remount-ro', '/']), -1)
  })

  it('nothing but the workspace, the temp, caches of commands and what is bound read-only is mounted', () => {
    const options = line.slice(0, line.indexOf('--'))
    const writable = options.flatMap((word, index) => (word === '--bind' ? [options[index + 2]] : []))
    assert.deepEqual(writable, ['/tmp', '/tmp/home/.cache', '/tmp/home/.npm', workspace])
    const names = new Set(options.filter((word) => word.startsWith('--')))
    const known = [
      ...OPTIONS.map(({ option }) => option[0]),
      '--die-with-parent',
      '--bind',
      '--ro-bind-try',
      '--symlink',
    ]
    assert.deepEqual(
      [...names].filter((name) => !known.includes(name)),
      [],
      'an option without a test',
    )
  })
})

describe('the trial command before the first', { skip }, () => {
  const root = openDirectory()
  after(() => rmSync(root, { recursive: true, force: true }))

  for (const [what, script] of [
    ['starts nothing and ends well', 'exit 0'],
    ['says that the command began, and ends well without running it', 'printf b >&3; exit 0'],
    ['runs another command', 'printf b >&3; exit 3'],
  ] as const) {
    it(`refuses a bubblewrap that ${what}`, async () => {
      const [found] = await checkSandbox(localOptions({ programDirectories: [programsWith(root, script)] }))
      assert.equal(found?.code, 'sandbox-unavailable')
    })
  }
})
