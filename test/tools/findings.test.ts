import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { JsonObject } from '../../src/kernel/index.ts'
import { found, outcomeOf, workspace } from './finding-rig.ts'

before(() => mkdir(join(workspace, 'data')))

describe('a command without network', () => {
  const failures: readonly (readonly [program: string, host: string, stderr: string, exitCode: number])[] = [
    ['curl', 'example.com', '  0     0    0     0\rcurl: (6) Could not resolve host: example.com\n', 6],
    ['curl', '93.184.216.34', 'curl: (7) Failed to connect to 93.184.216.34 port 80 after 1 ms: x\n', 7],
    ['wget', 'example.com', 'wget: unable to resolve host address ‘example.com’\n', 4],
    [
      'git',
      'github.com',
      "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com\n",
      128,
    ],
    [
      'npm',
      'registry.npmjs.org',
      'npm error code EAI_AGAIN\nnpm error request to https://x failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org\n',
      1,
    ],
    ['node', 'example.com', 'TypeError: fetch failed\n  [cause]: Error: getaddrinfo EAI_AGAIN example.com\n', 1],
    ['node', '1.1.1.1:443', 'Error: connect ENETUNREACH 1.1.1.1:443 - Local (0.0.0.0:0)\n', 1],
    [
      'pip',
      'pypi.org',
      "WARNING: Retrying: HTTPSConnection(host='pypi.org', port=443): NewConnectionError: [Errno -3] Temporary failure in name resolution\n",
      1,
    ],
    ['requests', 'api.x.com', 'NameResolutionError("…: Failed to resolve \'api.x.com\' ([Errno -3] …)")\n', 1],
    ['python', 'another machine', 'socket.gaierror: [Errno -3] Temporary failure in name resolution\n', 1],
    ['python', 'another machine', 'OSError: [Errno 101] Network is unreachable\n', 1],
    ['apt', 'deb.debian.org', "Err:1 http://deb.debian.org\n  Temporary failure resolving 'deb.debian.org'\n", 100],
    ['go', 'proxy.golang.org', 'dial tcp: lookup proxy.golang.org: no such host\n', 1],
    ['ssh', 'another machine', 'No user exists for uid 200000\n', 255],
    [
      'git over ssh',
      'another machine',
      'No user exists for uid 200000\nfatal: Could not read from remote repository.\n',
      128,
    ],
  ]
  for (const [program, host, stderr, exitCode] of failures) {
    it(`is explained for ${program} (${host})`, async () => {
      const { rows, notes } = await found({ result: { stderr, exitCode } })
      assert.deepEqual(rows, [{ code: 'no-network', subject: host }])
      assert.ok(notes[0]?.startsWith(`The command could not reach ${host}: the sandbox has no network. `), notes[0])
    })
  }

  it('learns when its time is up that there is no network', async () => {
    const outcome = await outcomeOf({ command: 'npm install', result: { end: 'timeout', exitCode: -1 } })
    assert.ok(outcome.type === 'failed')
    assert.match(outcome.fix ?? '', /^The sandbox has no network\. Give it more time: /)
  })

  it('is found in stdout only when the command sends its errors there or failed', async () => {
    const stdout = 'curl: (6) Could not resolve host: a.b\n'
    assert.equal((await found({ command: 'curl a.b 2>&1 | tail', result: { stdout } })).rows.length, 1)
    assert.equal((await found({ result: { stdout, exitCode: 1 } })).rows.length, 1)
    assert.equal((await found({ command: 'cat log', result: { stdout } })).rows.length, 0)
  })

  it('is not claimed where there is a network', async () => {
    const stderr = 'curl: (6) Could not resolve host: exampel.com\n'
    assert.deepEqual((await found({ network: true, result: { stderr, exitCode: 6 } })).rows, [])
  })

  it('names a server of this machine as out of reach', async () => {
    const stderr = 'Error: connect ECONNREFUSED 127.0.0.1:3000\n'
    const { notes } = await found({ result: { stderr, exitCode: 1 } })
    assert.match(notes[0] ?? '', /^Nothing answered at 127\.0\.0\.1:3000\. .*Start the server in the same command\./)
  })

  it('repeats nothing of a line but the host', async () => {
    const stderr = `curl: (6) Could not resolve host: a.b \u001b[31m\u202e"x" ${'y'.repeat(500)}\n`
    const { notes } = await found({ result: { stderr, exitCode: 6 } })
    assert.doesNotMatch(notes[0] ?? '', /[\u001b\u202e\n]/)
    assert.ok((notes[0] ?? '').length < 200)
  })
})

describe('a command that wrote where it may not', () => {
  const refused: readonly (readonly [line: string, path: string | undefined])[] = [
    ['/bin/bash: line 1: /etc/foo: Read-only file system', '/etc/foo'],
    ['mkdir: cannot create directory ‘/opt/foo’: Read-only file system', '/opt/foo'],
    ['sh: 1: cannot create /root/out/x.txt: Directory nonexistent', '/root/out/x.txt'],
    ["OSError: [Errno 30] Read-only file system: '/opt/x'", '/opt/x'],
    ["Error: EROFS: read-only file system, open '/usr/x'", '/usr/x'],
    ["cp: cannot create regular file '/opt/a b.sh': Read-only file system", '/opt/a b.sh'],
    ['/bin/bash: line 1: /home/u/foo: No such file or directory', '/home/u/foo'],
    ["PermissionError: [Errno 13] Permission denied: '/srv/x'", '/srv/x'],
    ['cat: /tmp/home/.ssh/id_rsa: No such file or directory', '/tmp/home/.ssh/id_rsa'],
    ['/bin/bash: line 1: ./x.sh: Permission denied', undefined],
    ['cat: /etc/nothing: No such file or directory', undefined],
    ['cat: data/nothing: No such file or directory', undefined],
    ["touch: cannot touch '/tmp/a/b': No such file or directory", undefined],
    ['python3: the paths / and /opt are fine', undefined],
  ]
  for (const [line, path] of refused) {
    it(`${path === undefined ? 'is left alone' : `learns of ${path}`}: ${line}`, async () => {
      const { rows, notes } = await found({ result: { stderr: `${line}\n`, exitCode: 1 } })
      assert.deepEqual(rows, path === undefined ? [] : [{ code: 'outside-workspace', subject: path }])
      if (path !== undefined) assert.ok(notes[0]?.endsWith(`Use a path in ${workspace}.`), notes[0])
    })
  }

  it('is left alone inside the workspace, and for a relative path that stays there', async () => {
    const stderr = `touch: cannot touch '${workspace}/x': Permission denied\ntouch: cannot touch '../${workspace.split('/').at(-1)}/x': Permission denied\n`
    assert.deepEqual((await found({ result: { stderr, exitCode: 1 } })).rows, [])
  })

  it('learns which files of its home are gone', async () => {
    const { rows, notes } = await found({ result: { leftInHome: ['reports/a.csv', 'b', 'c'] } })
    assert.deepEqual(rows, [{ code: 'home-discarded', subject: '~/reports/a.csv' }])
    assert.match(notes[0] ?? '', /^~\/reports\/a\.csv and 2 more were not kept\. /)
    assert.ok(notes[0]?.endsWith(`Write to a path in ${workspace} instead.`), notes[0])
  })
})

describe('a program that did not start', () => {
  const failures: readonly (readonly [stderr: string, exitCode: number, row: JsonObject, note: RegExp])[] = [
    [
      '/bin/bash: line 1: nosuch: command not found\n',
      127,
      { code: 'program-missing', subject: 'nosuch' },
      /'nosuch': it is not installed here/,
    ],
    ['sh: 1: nosuch: not found\n', 127, { code: 'program-missing', subject: 'nosuch' }, /not installed/],
    [
      '/bin/bash: line 3: jq: command not found\n',
      0,
      { code: 'program-missing', subject: 'jq' },
      /commands do not see \/home\/me\/bin\/jq/,
    ],
    [
      '/usr/bin/env: ‘python9’: No such file or directory\n',
      127,
      { code: 'program-missing', subject: 'python9' },
      /not installed/,
    ],
    ...[
      ['/usr/bin/env: ‘python3\\r’: No such file or directory', 'python3', 127] as const,
      ['/bin/bash: line 1: ./cr.sh: cannot execute: required file not found', './cr.sh', 127] as const,
      ['/bin/bash: line 1: ./run.sh: Permission denied', './run.sh', 126] as const,
      [
        '/bin/bash: line 1: ./old.sh: /bin/nosuch: bad interpreter: No such file or directory',
        './old.sh',
        126,
      ] as const,
      ['/bin/bash: line 1: ./tool: cannot execute binary file: Exec format error', './tool', 126] as const,
    ].map(
      ([line, subject, exitCode]) =>
        [
          `${line}\n`,
          exitCode,
          { code: 'not-executable', subject },
          new RegExp(`such as: bash ${subject.includes('/') ? subject : 'FILE'}\\. If .* carriage return`),
        ] as const,
    ),
  ]
  const execution = { findOnHost: (name: string) => (name === 'jq' ? '/home/me/bin/jq' : undefined) }
  for (const [stderr, exitCode, row, note] of failures) {
    it(`is explained: ${stderr.trim()}`, async () => {
      const { rows, notes } = await found({ command: './cr.sh', execution, result: { stderr, exitCode } })
      assert.deepEqual(rows, [row])
      assert.match(notes[0] ?? '', note)
    })
  }
})

describe('a command that took too long', () => {
  it('learns its limit, the most it may ask for, and the setting with its file', async () => {
    const execution = { timeoutMs: 20, settingsFile: '~/.nexus/nexus.yaml' }
    const { rows, text } = await found({ execution, result: { end: 'timeout', exitCode: -1 } })
    assert.deepEqual(rows, [{ code: 'time-limit', subject: '0.02 s' }])
    assert.match(
      text,
      /larger timeout_sec \(at most 600\)\. For all commands, the user can set execution\.timeoutMs in ~\/\.nexus\/nexus\.yaml\./,
    )
    assert.doesNotMatch(text, /--timeout/)
  })

  it('is explained to a person with the option of the command line', async () => {
    const { text } = await found({ result: { end: 'timeout', exitCode: -1 }, origin: 'cli' })
    assert.match(text, /--timeout SECONDS \(at most 600\)\. For all commands, set execution\.timeoutMs/)
    assert.doesNotMatch(text, /timeout_sec/)
  })
})

it('every note keeps to short sentences', async () => {
  const stderr = [
    'curl: (6) Could not resolve host: a.b',
    '/bin/bash: line 1: jq: command not found',
    'mkdir: cannot create directory ‘/opt/foo’: Read-only file system',
  ].join('\n')
  const { notes } = await found({ result: { stderr, exitCode: 1, leftInHome: ['a'] } })
  assert.equal(notes.length, 4)
  for (const sentence of notes.flatMap((note) => note.split(/\. (?=[A-Z])/)))
    assert.ok(sentence.split(' ').length <= 20, sentence)
})
