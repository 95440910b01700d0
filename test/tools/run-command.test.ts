import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { NexusError, type JsonObject, type Outcome, toSafeText } from '../../src/kernel/index.ts'
import {
  createScriptedSandbox,
  type Script,
  type ScriptedSandbox,
  type ScriptedSandboxOptions,
} from '../../src/testing/scripted-sandbox.ts'
import {
  createRegistry,
  createServices,
  EXECUTION,
  type ExecutionSettings,
  executeTool,
  registerBuiltins,
  SANDBOX,
  TARGET,
  toModelText,
  WORKSPACE,
} from '../../src/tools/index.ts'
import { contextOf, messageOf } from './rig.ts'

let workspace = ''
before(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'nexus-tools-')))
  for (const name of ['data', '..data']) await mkdir(join(workspace, name))
})
after(() => rm(workspace, { recursive: true, force: true }))

interface Ran {
  readonly outcome: Outcome
  readonly sandbox: ScriptedSandbox
}

async function run(
  args: JsonObject,
  more: { script?: Script; execution?: ExecutionSettings; signal?: AbortSignal; isUnconfined?: boolean } = {},
): Promise<Ran> {
  const sandbox = createScriptedSandbox(more.script ? { script: more.script } : {})
  const services = createServices()
  services.register(SANDBOX, more.isUnconfined ? unconfined(sandbox) : sandbox)
  services.register(WORKSPACE, workspace)
  if (more.execution) services.register(EXECUTION, more.execution)
  const registry = createRegistry(services)
  registerBuiltins(registry)
  const tool = registry.get('run_command')
  assert.ok(tool)
  const outcome = await executeTool(tool, args, contextOf({ services, ...(more.signal && { signal: more.signal }) }))
  return { outcome, sandbox }
}

/** The same commands, run by a sandbox that confines nothing. */
function unconfined(sandbox: ScriptedSandbox): Sandbox {
  return {
    kind: 'none',
    facts: () => sandbox.facts(),
    place: (skill, signal) => sandbox.place(skill, signal),
    run: (request, signal) => sandbox.run(request, signal),
    close: () => sandbox.close(),
  }
}

const notesOf = (outcome: Outcome): readonly string[] => (outcome.data?.notes ?? []) as string[]
const codeOf = (outcome: Outcome): string => (outcome.type === 'failed' ? outcome.code : outcome.type)

describe('run_command', () => {
  it('runs in the workspace and gives exit code, stdout and stderr', async () => {
    const { outcome, sandbox } = await run(
      { command: 'echo hi' },
      { script: () => ({ stdout: 'hi\n', stderr: 'well\n' }) },
    )
    assert.equal(outcome.type, 'success')
    assert.deepEqual(outcome.data, { exit_code: 0, stdout: 'hi\n', stderr: 'well\n' })
    assert.equal(toModelText(outcome), 'Exit code: 0\nstdout:\nhi\nstderr:\nwell')
    const [request] = sandbox.requests
    assert.deepEqual(
      [request?.command, request?.workspace, request?.cwd, request?.timeoutMs],
      ['echo hi', workspace, '.', 30_000],
    )
  })

  it('calls another exit code a result and says so', async () => {
    const { outcome } = await run({ command: 'false' }, { script: () => ({ exitCode: 3 }) })
    assert.equal(outcome.type, 'success')
    assert.equal(messageOf(outcome), 'Exit code: 3 (the command reports a failure)\n(no output)')
  })

  it('starts where it is told, inside the workspace only', async () => {
    for (const cwd of ['data', './data/', join(workspace, 'data')]) {
      assert.equal((await run({ command: 'ls', cwd })).sandbox.requests[0]?.cwd, 'data')
    }
    for (const cwd of ['..', `${workspace}-evil`, '/etc', 'data/../../x']) {
      const { outcome, sandbox } = await run({ command: 'ls', cwd })
      assert.equal(codeOf(outcome), 'ACCESS_DENIED')
      assert.equal(sandbox.requests.length, 0)
    }
    assert.equal((await run({ command: 'ls', cwd: '..data' })).sandbox.requests[0]?.cwd, '..data')
  })

  it('fails with TIMEOUT at its own limit and keeps the output so far', async () => {
    const { outcome } = await run(
      { command: 'sleep 9', timeout_sec: 0.02 },
      { script: () => ({ hang: true, stdout: 'so far\n' }) },
    )
    assert.deepEqual(
      [codeOf(outcome), messageOf(outcome)],
      ['TIMEOUT', `Command timed out after 0.02s\nNote: ${notesOf(outcome)[0]}`],
    )
    assert.match(toModelText(outcome), /stdout:\nso far/)
  })

  it('takes its limits from the service execution, and no longer time than allowed', async () => {
    const { sandbox } = await run({ command: 'ls' }, { execution: { timeoutMs: 5000, maxOutputBytes: 100 } })
    assert.deepEqual([sandbox.requests[0]?.timeoutMs, sandbox.requests[0]?.maxOutputBytes], [5000, 100])
    const { outcome } = await run({ command: 'ls', timeout_sec: 601 })
    assert.match(messageOf(outcome), /timeout_sec must be <= 600/)
  })

  it('is cancelled with the call', async () => {
    const stop = new AbortController()
    const ending = run({ command: 'sleep 9' }, { signal: stop.signal, script: () => (stop.abort(), { hang: true }) })
    assert.equal(codeOf((await ending).outcome), 'CANCELLED')
  })

  it('says that something else ended the command', async () => {
    const { outcome } = await run(
      { command: ':' },
      { script: () => ({ end: 'killed', exitCode: 137, notes: ['memory limit reached'] }) },
    )
    assert.equal(codeOf(outcome), 'EXECUTION_ERROR')
    assert.match(messageOf(outcome), /killed by signal 9[\s\S]*Note: memory limit reached/)
  })

  it('cuts long output at 10,000 bytes each and says so', async () => {
    const { outcome } = await run(
      { command: 'yes' },
      { script: () => ({ stdout: 'y\n'.repeat(300), stderr: 'e'.repeat(30_000) }) },
    )
    assert.equal(outcome.type, 'partial')
    const { stdout, stderr, truncated } = outcome.data as JsonObject
    assert.equal(stdout, 'y\n'.repeat(300))
    assert.equal(stderr, `${'e'.repeat(10_000)}\n... (output truncated)`)
    assert.equal(truncated, true)
    assert.match(messageOf(outcome), /The output is cut: send it to a file/)
  })

  it('never passes the limits of an outcome, however much is configured', async () => {
    const script: Script = () => ({ stdout: 'a\n'.repeat(90_000), stderr: 'b\n'.repeat(90_000) })
    const { outcome } = await run({ command: 'yes' }, { script, execution: { maxOutputBytes: 204_800 } })
    assert.equal((outcome.data as JsonObject).exit_code, 0)
    assert.ok(Buffer.byteLength(toModelText(outcome)) < 52_000)
  })

  it('shows no escape sequences and tells nothing twice', async () => {
    const stdout = '\u001b[31mred\u001b[0m \u202eevil\n'
    const { outcome } = await run({ command: 'ls' }, { script: () => ({ stdout }) })
    assert.equal(messageOf(outcome), `Exit code: 0\nstdout:\n${toSafeText(stdout).trimEnd()}`)
    assert.equal(toModelText(outcome), messageOf(outcome))
    assert.equal((outcome.data as JsonObject).stdout, stdout)
  })

  it('passes live output on', async () => {
    const services = createServices()
    services.register(SANDBOX, createScriptedSandbox({ script: () => ({ stdout: 'live' }) }))
    services.register(WORKSPACE, workspace)
    const registry = createRegistry(services)
    registerBuiltins(registry)
    const chunks: string[] = []
    const tool = registry.get('run_command')
    assert.ok(tool)
    await executeTool(
      tool,
      { command: 'ls' },
      { ...contextOf({ services }), onOutput: ({ text }) => chunks.push(text) },
    )
    assert.deepEqual(chunks, ['live'])
  })

  it('says why when nothing can be confined', async () => {
    const { outcome } = await run(
      { command: 'ls' },
      {
        script: () => {
          throw new NexusError('SANDBOX_UNAVAILABLE', 'bubblewrap is missing.', { fix: 'apt-get install bubblewrap' })
        },
      },
    )
    assert.equal(messageOf(outcome), 'bubblewrap is missing.')
    assert.deepEqual(outcome.type === 'failed' && [outcome.error, outcome.fix], [
      'SANDBOX_UNAVAILABLE',
      'apt-get install bubblewrap',
    ])
  })

  it('runs nothing without a workspace', async () => {
    const services = createServices()
    services.register(SANDBOX, createScriptedSandbox())
    const registry = createRegistry(services)
    registerBuiltins(registry)
    const tool = registry.get('run_command')
    assert.ok(tool)
    const outcome = await executeTool(tool, { command: 'ls' }, contextOf({ services }))
    assert.equal(messageOf(outcome), 'No workspace is set, so no command can run.')
  })

  it('declares network and secrets as capabilities that policy may take away, and a watchdog longer than its longest command', () => {
    const services = createServices()
    services.register(SANDBOX, createScriptedSandbox())
    const registry = createRegistry(services)
    registerBuiltins(registry)
    assert.deepEqual(registry.get('run_command')?.options, { timeoutMs: 610_000, capabilities: ['network', 'secrets'] })
  })
})

describe('the courtesy list of run_command', () => {
  const refused: readonly (readonly [string, string])[] = [
    ['', 'Command is required'],
    [' \n', 'Empty command'],
    ['rm -rf x', `Command 'rm' is blocked for safety`],
    ['ls;rm x', `Command 'rm' is blocked for safety`],
    ['env A=1 rm x', `Command 'rm' is blocked for safety`],
    ['ls && sudo id', `Command 'sudo' is blocked for safety`],
    ['echo $(rm x)', `Command 'rm' is blocked for safety`],
    ['echo `dd if=a`', `Command 'dd' is blocked for safety`],
    ['find . | xargs rm', `Command 'rm' is blocked for safety`],
    [`r''m x`, `Command 'rm' is blocked for safety`],
    ['/bin/mv a b', `Command 'mv' is blocked for safety`],
    ['if true; then chmod 777 x; fi', `Command 'chmod' is blocked for safety`],
    ['cat x > /dev/sda', 'Command contains dangerous pattern: > /dev/'],
    ['ls\u200b', 'Command contains the hidden character U+200B; leave it out.'],
    ['echo ok\rrm x', 'Command contains the hidden character U+000D; leave it out.'],
    ['ls \u0000', 'Command contains the hidden character U+0000; leave it out.'],
    ['echo \u202e', 'Command contains the hidden character U+202E; leave it out.'],
    ['x'.repeat(100_001), 'Command is longer than 100000 bytes; write it to a file and run that.'],
  ]
  for (const [command, message] of refused) {
    it(`refuses ${JSON.stringify(command.slice(0, 40))}`, async () => {
      const { outcome, sandbox } = await run({ command }, { isUnconfined: true })
      assert.equal(outcome.type, 'failed')
      assert.equal(messageOf(outcome), message)
      assert.equal(sandbox.requests.length, 0)
    })
  }

  const passed = [
    'ls > /dev/null 2>&1',
    'echo "a; rm b"',
    'git rm x',
    'npm init -y',
    `python3 - <<'EOF'\ndel x\nformat = 1\nEOF`,
    'for f in *.csv; do node make.mjs "$f"; done',
    'echo 👩‍💻 > x',
    'printf "%s\\n" rm',
    'cat a\t|\nsort',
  ]
  for (const command of passed) {
    it(`lets ${JSON.stringify(command)} through`, async () => {
      assert.equal((await run({ command }, { isUnconfined: true })).outcome.type, 'success')
    })
  }

  it('refuses no word where commands are confined', async () => {
    for (const command of ['rm -rf x', 'chmod +x run.sh', 'mv a b', 'cat x > /dev/sda'])
      assert.equal((await run({ command })).outcome.type, 'success', command)
  })

  it('can be replaced, switched off, or turned into a list of what is allowed', async () => {
    assert.equal(
      (await run({ command: 'rm x' }, { execution: { blockedCommands: [] }, isUnconfined: true })).outcome.type,
      'success',
    )
    assert.match(
      messageOf((await run({ command: 'curl x' }, { execution: { blockedCommands: ['curl'] } })).outcome),
      /'curl' is blocked/,
    )
    const allowed = { allowedCommands: ['ls', 'rm'] }
    assert.equal((await run({ command: 'ls | rm x' }, { execution: allowed })).outcome.type, 'success')
    assert.equal(
      messageOf((await run({ command: 'ls | cat' }, { execution: allowed })).outcome),
      `Command 'cat' is not in the allowed list`,
    )
  })
})

describe('the description of run_command', () => {
  async function describedBy(options: ScriptedSandboxOptions, kind?: 'none'): Promise<string | undefined> {
    const sandbox = createScriptedSandbox(options)
    const services = createServices()
    services.register(SANDBOX, kind ? unconfined(sandbox) : sandbox)
    services.register(TARGET, await sandbox.facts())
    services.register(WORKSPACE, '/home/me/shop')
    const registry = createRegistry(services)
    registerBuiltins(registry)
    return registry.get('run_command')?.description
  }

  it('names system, directory, what is not there and what does not last', async () => {
    assert.equal(
      await describedBy({}),
      'Run a bash command line on Linux in a sandbox. It starts in the workspace /home/me/shop. There is no network: commands cannot download or install anything. Files last only in the workspace; the home directory and /tmp are empty for each command. Returns exit code, stdout and stderr. Default time limit 30 s.',
    )
  })

  it('claims neither where commands are not confined', async () => {
    const text = await describedBy({ network: true, os: 'darwin' }, 'none')
    assert.match(text ?? '', /^Run a bash command line on macOS, without a sandbox\. /)
    assert.doesNotMatch(text ?? '', /network|last/)
  })
})
