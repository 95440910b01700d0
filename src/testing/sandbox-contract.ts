/** sandbox-contract: the tests that every kind of sandbox must pass. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { isNexusError } from '../kernel/index.ts'
import type { CommandRequest, Sandbox } from '../machine/sandbox/index.ts'

/** Makes a sandbox for one test; the contract closes it. */
export type MakeSandbox = () => Promise<Sandbox>

export interface SandboxContractOptions {
  /** Why this sandbox cannot be had on this machine; all tests are then skipped with that reason. */
  readonly skip?: string | undefined
  /** False for a fake that starts nothing: only the tests of requests, facts and life are registered. */
  readonly runsCommands?: boolean
}

/** Registers the tests. */
export function sandboxContract(name: string, make: MakeSandbox, options: SandboxContractOptions = {}): void {
  const { runsCommands = true } = options
  describe(`sandbox contract: ${name}`, { skip: options.skip ?? false }, () => {
    const rig = new Rig(make)
    before(() => rig.open())
    after(() => rig.close())
    refusalTests(rig)
    lifeTests(rig)
    if (!runsCommands) return
    resultTests(rig)
    outputTests(rig)
    endingTests(rig)
  })
}

/** One sandbox and one workspace for all tests of a contract. */
class Rig {
  readonly make: MakeSandbox
  workspace = ''
  #sandbox: Sandbox | undefined

  constructor(make: MakeSandbox) {
    this.make = make
  }

  async open(): Promise<void> {
    this.workspace = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-contract-')))
    chmodSync(this.workspace, 0o755)
    mkdirSync(join(this.workspace, 'sub'))
    writeFileSync(join(this.workspace, 'in.txt'), 'from the host\n')
    this.#sandbox = await this.make()
  }

  async close(): Promise<void> {
    await this.#sandbox?.close()
    rmSync(this.workspace, { recursive: true, force: true })
  }

  get sandbox(): Sandbox {
    assert.ok(this.#sandbox)
    return this.#sandbox
  }

  run(command: string, more: Partial<CommandRequest> = {}, signal?: AbortSignal): ReturnType<Sandbox['run']> {
    return this.sandbox.run({ command, workspace: this.workspace, ...more }, signal)
  }
}

function hasCode(code: string, words = /./): (error: unknown) => boolean {
  return (error) => isNexusError(error) && error.code === code && words.test(`${error.message} ${error.fix ?? ''}`)
}

function resultTests(rig: Rig): void {
  it('returns both streams and exit code 0 of a command that went well', async () => {
    const result = await rig.run('echo out; echo err >&2')
    const { end, exitCode, stdout, stderr, stdoutBytes, stdoutTruncated } = result
    assert.deepEqual(
      { end, exitCode, stdout, stderr, stdoutBytes, stdoutTruncated },
      { end: 'exit', exitCode: 0, stdout: 'out\n', stderr: 'err\n', stdoutBytes: 4, stdoutTruncated: false },
    )
    assert.ok(result.durationMs >= 0)
  })

  it('reports an exit code other than 0 as a result, not as an error', async () => {
    const { end, exitCode } = await rig.run('exit 37')
    assert.deepEqual([end, exitCode], ['exit', 37])
  })

  it('shows the files of the workspace to the command, and its changes to the host', async () => {
    const result = await rig.run('cat in.txt && echo "from inside" > out.txt')
    assert.equal(result.stdout, 'from the host\n')
    assert.equal(readFileSync(join(rig.workspace, 'out.txt'), 'utf8'), 'from inside\n')
  })

  it('starts in the directory asked for', async () => {
    assert.equal((await rig.run('pwd', { cwd: 'sub' })).stdout.trim(), join(rig.workspace, 'sub'))
  })

  it('reports the files that a command left in its home, without hidden ones', async () => {
    const command = 'mkdir -p ~/reports ~/.cache && touch ~/reports/a.csv ~/b.txt ~/.cache/x ~/.rc'
    assert.deepEqual((await rig.run(command)).leftInHome?.toSorted(), ['b.txt', 'reports/a.csv'])
    assert.equal((await rig.run('touch ~/.rc')).leftInHome, undefined)
    assert.equal((await rig.run('rm -r ~')).leftInHome, undefined)
  })

  it('gives stdin to the command, and an empty one when there is none', async () => {
    assert.equal((await rig.run('cat', { stdin: 'one\ntwo\n' })).stdout, 'one\ntwo\n')
    assert.equal((await rig.run('cat; echo end')).stdout, 'end\n')
  })

  it('reads a stream as far as the command reads, and ends with the command while the stream is open', async () => {
    const sent = new PassThrough()
    sent.write('one\n')
    assert.equal((await rig.run('head -n 1', { stdin: sent })).stdout, 'one\n')
    assert.ok(sent.destroyed)
    const failing = Readable.from(
      (async function* () {
        yield Buffer.from('two\n')
        throw new Error('broken')
      })(),
    )
    assert.equal((await rig.run('cat; echo end', { stdin: failing })).stdout, 'two\nend\n')
  })

  it('gives the declared variables to the command as they are', async () => {
    const value = 'a b "c" $HOME `id` \'d\'\nsecond line'
    const result = await rig.run('printf %s "$MY_VALUE"', { env: { MY_VALUE: value } })
    assert.equal(result.stdout, value)
  })
}

function outputTests(rig: Rig): void {
  it('keeps a bounded part of each stream and counts the rest', async () => {
    const result = await rig.run("printf '%05000d' 0; printf '%0100d' 0 >&2", { maxOutputBytes: 1000 })
    assert.deepEqual([result.stdout.length, result.stdoutBytes, result.stdoutTruncated], [1000, 5000, true])
    assert.deepEqual([result.stderr.length, result.stderrBytes, result.stderrTruncated], [100, 100, false])
  })

  it('hands output on while it comes, and the pieces are the whole', async () => {
    const pieces: string[] = []
    const onOutput = (chunk: { stream: string; text: string }): void =>
      void pieces.push(`${chunk.stream}:${chunk.text}`)
    const result = await rig.run('echo one; echo two >&2', { onOutput })
    assert.deepEqual(pieces.sort(), ['stderr:two\n', 'stdout:one\n'])
    assert.equal(result.stdout, 'one\n')
  })

  it('hands on more than it keeps when it is asked to', async () => {
    let seen = ''
    const onOutput = ({ text }: { text: string }): void => void (seen += text)
    const live = { maxOutputBytes: 100, maxLiveBytes: 3000, onOutput }
    const result = await rig.run("printf '%05000d' 0", live)
    assert.deepEqual([result.stdout.length, result.stdoutTruncated, seen.length], [100, true, 3000])
  })

  it('turns bytes that are no UTF-8 into U+FFFD', async () => {
    assert.equal((await rig.run(String.raw`printf 'a\xffb\xc3\xa4'`)).stdout, 'a\ufffdbä')
  })
}

function refusalTests(rig: Rig): void {
  const refused: readonly [string, Partial<CommandRequest>, string][] = [
    ['an empty command', { command: '  ' }, 'INVALID_ARGUMENT'],
    ['a command with NUL', { command: 'echo \0' }, 'INVALID_ARGUMENT'],
    ['a command that is too long', { command: `: ${'x'.repeat(100_001)}` }, 'INVALID_ARGUMENT'],
    ['a variable that steers a loader', { env: { LD_PRELOAD: '/x.so' } }, 'INVALID_ARGUMENT'],
    ['a variable whose name is no name', { env: { 'A=B': 'x' } }, 'INVALID_ARGUMENT'],
    ['a timeout of 0', { timeoutMs: 0 }, 'INVALID_ARGUMENT'],
    ['a relative workspace', { workspace: 'here' }, 'INVALID_ARGUMENT'],
    ['a workspace that does not exist', { workspace: '/does/not/exist' }, 'FILE_NOT_FOUND'],
    ['a cwd outside the workspace', { cwd: '..' }, 'PATH_OUTSIDE'],
    ['an absolute cwd', { cwd: '/tmp' }, 'PATH_OUTSIDE'],
  ]
  for (const [what, request, code] of refused) {
    it(`refuses ${what} with ${code}`, async () => {
      await assert.rejects(rig.run('true', request), hasCode(code))
    })
  }

  it('names the variable that it refuses', async () => {
    await assert.rejects(rig.run('true', { env: { NODE_OPTIONS: 'x' } }), hasCode('INVALID_ARGUMENT', /NODE_OPTIONS/))
  })
}

function endingTests(rig: Rig): void {
  it('ends a command at its time limit and keeps the output until then', async () => {
    const { end, exitCode, stdout } = await rig.run('echo begun; sleep 60', { timeoutMs: 500 })
    assert.deepEqual([end, exitCode, stdout], ['timeout', -1, 'begun\n'])
  })

  it('ends a command when its signal aborts', async () => {
    const controller = new AbortController()
    const onOutput = (): void => controller.abort()
    const { end, exitCode } = await rig.run('echo begun; sleep 60', { onOutput }, controller.signal)
    assert.deepEqual([end, exitCode], ['cancelled', -1])
  })
}

function lifeTests(rig: Rig): void {
  it('never starts a command whose signal has aborted before', async () => {
    const { end, stdout } = await rig.run('echo begun', {}, AbortSignal.abort())
    assert.deepEqual([end, stdout], ['cancelled', ''])
  })

  it('says what gating may rely on', async () => {
    const facts = await rig.sandbox.facts()
    assert.equal(facts.hasBin('bash'), true)
    assert.equal(facts.hasBin('no-such-program-anywhere'), false)
    assert.equal(facts.hasBin('../bin/bash'), false)
    assert.equal(facts.hasEnv('PATH'), true)
    assert.equal(facts.hasEnv('NO_SUCH_VARIABLE'), false)
    assert.equal(facts.hasEnv('constructor'), false)
    assert.notEqual(facts.target, '')
  })

  it('refuses work after it was closed, and closes twice without harm', async () => {
    const sandbox = await rig.make()
    await sandbox.close()
    await sandbox.close()
    await assert.rejects(sandbox.run({ command: 'true', workspace: rig.workspace }), hasCode('SANDBOX_FAILED'))
  })
}
