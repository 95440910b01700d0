import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, openSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { quotedWord } from '../../../src/kernel/index.ts'
import { whySkipped } from '../../machine/sandbox/required.ts'
import { ended, Place, type Ran } from './nexus.ts'
import { inTerminal, whyNoTerminal } from './terminal.ts'

interface Printed {
  readonly ok: boolean
  readonly data: {
    readonly exit_code: number
    readonly stdout: string
    readonly stdout_bytes: number
    readonly stdout_truncated: boolean
    readonly notes: readonly string[]
  } | null
  readonly error?: { readonly code: string; readonly message: string; readonly fix?: string }
}

const KINDS = ['local', 'none'] as const

function run(place: Place, kind: string, args: readonly string[]): Promise<Ran> {
  return place.run(['skills', 'run', 'greet', '--trust', '--sandbox', kind, ...args])
}

const noSandbox = whySkipped() ?? false

for (const kind of KINDS) {
  test(
    `everything a command prints passes through, however much it is (${kind})`,
    { skip: kind === 'local' && noSandbox },
    async (t) => {
      const place = new Place(t)
      const file = join(place.root, 'out')
      const command = 'seq 1 400000; echo end >&2'
      const child = place.start(['skills', 'run', 'greet', '--trust', '--sandbox', kind, '--', command], {
        stdout: openSync(file, 'w'),
      })
      const ran = await ended(child)
      assert.equal(ran.code, 0, ran.stderr)
      assert.match(ran.stderr, /^end$/m)
      assert.equal(statSync(file).size, 2_688_895)
    },
  )
}

test('a slow reader gets everything, and the command waits for it', { skip: noSandbox }, async (t) => {
  const place = new Place(t)
  const child = place.start(['skills', 'run', 'greet', '--trust', '--', 'seq 1 400000'])
  const closed = once(child, 'close')
  let stderr = ''
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  let length = 0
  for await (const chunk of child.stdout ?? []) {
    length += (chunk as Buffer).length
    if (length < 2_000_000) await new Promise((resolve) => setTimeout(resolve, 20))
  }
  assert.deepEqual(await closed, [0, null], stderr)
  assert.equal(length, 2_688_895)
})

test('a reader that goes away ends the command', async (t) => {
  const place = new Place(t)
  const child = place.start(['skills', 'run', 'greet', '--trust', '--sandbox', 'none', '--timeout', '300', '--', 'yes'])
  const result = ended(child)
  child.stdout?.once('data', () => child.stdout?.destroy())
  const { code, stderr } = await result
  assert.equal(code, 141, stderr)
  assert.doesNotMatch(stderr, /\n {4}at /)
})

test('a full disk is one clear sentence and exit code 1', { skip: process.platform !== 'linux' }, async (t) => {
  const place = new Place(t)
  for (const args of [
    ['skills', 'list'],
    ['--help'],
    ['skills', 'run', 'greet', '--trust', '--sandbox', 'none', '--', 'seq 1 100000'],
  ]) {
    const { code, stderr } = await ended(place.start(args, { stdout: openSync('/dev/full', 'w') }))
    assert.equal(code, 1, args.join(' '))
    assert.match(stderr, /output could not be written: .*ENOSPC/)
    assert.doesNotMatch(stderr, /\n {4}at /)
  }
})

test('json holds the whole output and says how much came', async (t) => {
  const { stdout } = await run(new Place(t), 'none', ['--json', '--', 'seq 1 100000'])
  const { ok, data } = JSON.parse(stdout) as Printed
  assert.equal(ok, true)
  assert.equal(data?.stdout.length, 588_895)
  assert.deepEqual([data.stdout_bytes, data.stdout_truncated], [588_895, false])
})

test('json says when the output is more than it holds', async (t) => {
  const { stdout } = await run(new Place(t), 'none', ['--json', '--', 'head -c 9000000 /dev/zero | tr "\\0" x'])
  const { data } = JSON.parse(stdout) as Printed
  assert.deepEqual([data?.stdout.length, data?.stdout_bytes, data?.stdout_truncated], [8_388_608, 9_000_000, true])
})

test('what the sandbox has to say about a command is on stderr and in json', async (t) => {
  const place = new Place(t)
  const ran = await run(place, 'none', ['--', 'true'])
  assert.match(ran.stderr, /^note: not confined/m)
  const { data } = JSON.parse((await run(place, 'none', ['--json', '--', 'true'])).stdout) as Printed
  assert.deepEqual(data?.notes, ['not confined: sandbox none'])
})

test('a failure without output names the code, the signal, and that its input was empty', async (t) => {
  const place = new Place(t)
  for (const [command, end] of [
    ['exit 3', 'exit code 3'],
    ['kill -SEGV $$', 'exit code 139 \\(SIGSEGV\\)'],
    ['read line', 'exit code 1'],
  ] as const) {
    const { stderr } = await run(place, 'none', ['--', command])
    assert.match(
      stderr,
      new RegExp(`^note: The command ended with ${end} and wrote nothing\\. Its standard input was empty\\.`, 'm'),
    )
  }
  for (const command of ['exit 0', 'echo out; exit 3', 'echo err >&2; exit 3'])
    assert.doesNotMatch((await run(place, 'none', ['--', command])).stderr, /wrote nothing/)
})

for (const kind of KINDS)
  test(
    `a command reads what a pipe or a file sends, in a sandbox of kind ${kind}`,
    { skip: kind === 'local' && noSandbox },
    async (t) => {
      const place = new Place(t)
      const line = (command: string): string =>
        place.line(['skills', 'run', 'greet', '--trust', '--sandbox', kind, '--', command]).map(quotedWord).join(' ')
      const shell = (script: string): Promise<Ran> => ended(spawn('bash', ['-c', script], place.options()))
      const data = join(place.root, 'data')
      writeFileSync(data, 'line\n'.repeat(600_000))
      const sum = createHash('sha256').update('line\n'.repeat(600_000)).digest('hex')
      assert.equal((await shell(`cat ${data} | ${line('sha256sum')}`)).stdout, `${sum}  -\n`)
      // The sender stays open: the command ends all the same, and so do we.
      const open = '(echo first; exec sleep 20 2>&-)'
      assert.equal((await shell(`${line('head -n 1; exit 0')} < <${open}`)).stdout, 'first\n')
      // The rest stays for the next one, but for the pieces that were on their way.
      const rest = (await shell(`{ ${line('head -c 1 >/dev/null')}; wc -c; } < ${data}`)).stdout
      assert.match(rest, /^2[5-9]\d{5}$/m)
    },
  )

test('a command without input reads its end, whatever is open, and nothing says more', async (t) => {
  const place = new Place(t)
  const line = place
    .line(['skills', 'run', 'greet', '--trust', '--sandbox', 'none', '--', 'cat; exit 3'])
    .map(quotedWord)
    .join(' ')
  for (const [empty, note] of [
    ['</dev/null', / Its standard input was empty\.$/m],
    ['<&-', / Its standard input was empty\.$/m],
    ['< <(true)', /wrote nothing\.$/m],
  ] as const)
    assert.match((await ended(spawn('bash', ['-c', `${line} ${empty}`], place.options()))).stderr, note)
})

test('a person types the answer that a command asks for', { skip: whyNoTerminal() || noSandbox }, async (t) => {
  const args = [
    'skills',
    'run',
    'greet',
    '--trust',
    '--',
    'printf "Name? "; read -r name; echo "hello $name"; cat; echo end',
  ]
  const { code, screen } = await inTerminal(
    new Place(t),
    args,
    { prompt: /Name\? /, keys: 'Ada\r' },
    { prompt: /hello Ada/, keys: 'more\r\u0004' },
  )
  assert.equal(code, 0, screen)
  assert.match(screen, /hello Ada\r?\n(?:more\r?\n){2}end/)
})

test('errors name the files of a skill where the person has them', { skip: noSandbox }, async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'skills/greet/scripts/bad.sh'), 'cat "$0.txt"; sleep 0.1; exit 3\n')
  const { stderr } = await run(place, 'local', ['--', 'sh {baseDir}/scripts/bad.sh; {baseDir}/scripts/bad.sh'])
  assert.match(stderr, /^cat: \.\/skills\/greet\/scripts\/bad\.sh\.txt: No such file/m)
  assert.match(
    stderr,
    /^note: .*Name its interpreter in the command, such as: bash \.\/skills\/greet\/scripts\/bad\.sh/m,
  )
  assert.doesNotMatch(stderr, /[0-9a-f]{64}/)
  const { stdout } = await run(place, 'local', ['--', 'echo {baseDir}'])
  assert.match(stdout, /\/[0-9a-f]{64}\/greet$/m, 'data stays as it is')
})

test('a command that runs out of time ends with TIMEOUT and the flag that gives it more', async (t) => {
  const place = new Place(t)
  const { code, stderr } = await run(place, 'none', ['--timeout', '0.2', '--', 'sleep 60'])
  assert.equal(code, 1)
  assert.match(stderr, /error TIMEOUT: .*\n {2}fix: .*--timeout SECONDS \(at most 600\)/)
})

test('a time limit that cannot be given is wrong use of --timeout', async (t) => {
  const place = new Place(t)
  for (const seconds of ['100000', '0', 'soon']) {
    const { code, stderr } = await run(place, 'none', ['--timeout', seconds, '--', 'true'])
    assert.equal(code, 2, seconds)
    assert.match(stderr, /INVALID_ARGUMENT: --timeout/)
  }
})

test('a command that policy denies ends with CALL_DENIED', async (t) => {
  const place = new Place(t)
  writeFileSync(join(place.workspace, 'nexus.yaml'), 'agents: [{ id: main, tools: { deny: [run_command] } }]\n')
  const { code, stderr } = await run(place, 'none', ['--', 'true'])
  assert.equal(code, 1)
  assert.match(stderr, /error CALL_DENIED: /)
  assert.match(stderr, /fix: .*remove run_command from tools\.deny of the agent in nexus\.yaml/)
})

test('where commands cannot be confined the error is SANDBOX_UNAVAILABLE with a fix, also in json', async (t) => {
  const place = new Place(t)
  // A PATH does not lead the sandbox to its programs, so a kernel setting or a missing program is what it can meet.
  const empty = join(place.root, 'empty')
  mkdirSync(empty)
  const hidden = spawn(
    'unshare',
    [
      '--mount',
      'sh',
      '-c',
      'for f in $(command -v bwrap); do mount --bind /dev/null $f; done; exec "$0" "$@"',
      ...place.line(['skills', 'run', 'greet', '--trust', '--json', '--', 'true']),
    ],
    place.options(),
  )
  const ran = await ended(hidden)
  if (ran.stdout === '') return t.skip(`programs cannot be hidden here: ${ran.stderr.trim()}`)
  const { ok, error } = JSON.parse(ran.stdout) as Printed
  assert.equal(ok, false)
  assert.equal(error?.code, 'SANDBOX_UNAVAILABLE', ran.stderr)
  assert.ok(error.fix !== undefined)
  assert.match(ran.stderr, /error SANDBOX_UNAVAILABLE[\s\S]*fix: /)
})
