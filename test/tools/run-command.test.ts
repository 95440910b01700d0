import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { NexusError, type JsonObject, toSafeText } from '../../src/kernel/index.ts'
import { createScriptedSandbox, type Script, type ScriptedSandboxOptions } from '../../src/testing/scripted-sandbox.ts'
import {
  createRegistry,
  createServices,
  executeTool,
  registerBuiltins,
  SANDBOX,
  TARGET,
  toModelText,
  WORKSPACE,
} from '../../src/tools/index.ts'
import { codeOf, notesOf, run, unconfined, workspace } from './command-rig.ts'
import { contextOf, messageOf } from './rig.ts'

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
    assert.equal(
      messageOf(outcome),
      'Exit code: 3 (the command reports a failure)\n(no output; commands have no standard input)',
    )
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
    assert.deepEqual([codeOf(outcome), messageOf(outcome)], ['TIMEOUT', 'Command timed out after 0.02s'])
    assert.match(
      toModelText(outcome),
      /^Error \(TIMEOUT\): Command timed out after 0\.02s\nGive it more time: a larger timeout_sec /,
    )
    assert.deepEqual(notesOf(outcome), [])
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
    assert.match(messageOf(outcome), /killed by signal 9: it reached a limit, or something else ended it$/)
    assert.match(toModelText(outcome), /killed by signal 9[\s\S]*Note: memory limit reached/)
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
    assert.equal(messageOf(outcome), 'The command did not run: this agent has no workspace.')
  })

  it('declares network and secrets as capabilities that policy may take away, and a watchdog longer than its longest command', () => {
    const services = createServices()
    services.register(SANDBOX, createScriptedSandbox())
    const registry = createRegistry(services)
    registerBuiltins(registry)
    const { timeoutMs, capabilities } = registry.get('run_command')?.options ?? {}
    assert.deepEqual({ timeoutMs, capabilities }, { timeoutMs: 610_000, capabilities: ['network', 'secrets'] })
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
      'Run a bash command line on Linux in a sandbox. It starts in the workspace /home/me/shop. There is no network: commands cannot download or install anything. Only files in the workspace are kept. The home directory and /tmp are empty for each command. Returns exit code, stdout and stderr. The default time limit is 30 s.',
    )
  })

  it('claims neither where commands are not confined', async () => {
    const text = await describedBy({ network: true, os: 'darwin' }, 'none')
    assert.match(text ?? '', /^Run a bash command line on macOS, without a sandbox\. /)
    assert.doesNotMatch(text ?? '', /network|last/)
  })
})
