import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type ProgramRequest, type ProgramResult, runProgram } from '../../../src/machine/host/index.ts'
import { ROOT } from '../../source-tree.ts'

/** Runs a shell script; only the tests use a shell. */
const sh = (script: string, more: Partial<ProgramRequest> = {}): Promise<ProgramResult> =>
  runProgram({ command: ['sh', '-c', script], environment: {}, timeoutMs: 20_000, maxOutputBytes: 1000, ...more })

async function endedOf(running: Promise<ProgramResult>) {
  const result = await running
  assert.ok(result.type === 'ended', JSON.stringify(result))
  const { code, signal, stdout, stderr } = result
  return { code, signal, stdout: String(stdout), stderr: String(stderr) }
}

/** One that waits to be collected has ended. */
function isRunning(pid: string): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid.trim()}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('a program on the host', () => {
  it('gives its exit code, its output and the beginning of its error output', async () => {
    const script = 'printf out; printf error >&2; exit 7'
    assert.deepEqual(await endedOf(sh(script)), { code: 7, signal: undefined, stdout: 'out', stderr: '' })
    assert.equal((await endedOf(sh(script, { maxErrorBytes: 3 }))).stderr, 'err')
    const killed = await endedOf(sh('kill -9 $$'))
    assert.deepEqual([killed.code, killed.signal], [-1, 'SIGKILL'])
  })

  it('starts in the given directory, else in /', async () => {
    assert.equal((await endedOf(sh('pwd'))).stdout, '/\n')
    assert.equal((await endedOf(sh('pwd', { cwd: '/usr' }))).stdout, '/usr\n')
    assert.equal((await sh('pwd', { cwd: '/not-there' })).type, 'failed')
  })

  it('takes output up to the limit, and is ended by one byte more', async () => {
    assert.equal((await endedOf(sh('head -c 1000 /dev/zero'))).stdout.length, 1000)
    const tooMuch = await sh('head -c 1001 /dev/zero; sleep 60')
    assert.ok(tooMuch.type === 'failed')
    assert.deepEqual([tooMuch.reason, tooMuch.why], ['output', 'wrote more than 1000 bytes'])
    assert.equal(tooMuch.stdout?.length, 1000)
    assert.equal((await endedOf(sh('head -c 5000000 /dev/zero >&2; echo done'))).stdout, 'done\n')
  })

  it('leaves nothing of its group behind, also when it ends by itself', async () => {
    const { stdout } = await endedOf(sh('sleep 600 >/dev/null 2>&1 & echo $!'))
    assert.ok(!isRunning(stdout))
    const late = await sh('echo began; sleep 600 & wait', { timeoutMs: 500 })
    assert.ok(late.type === 'failed')
    assert.deepEqual([late.reason, late.why], ['time', 'took longer than 0.5 s'])
    assert.equal(Buffer.from(late.stdout ?? []).toString(), 'began\n')
  })

  it('does not wait for a process that left its group and has the pipes', async () => {
    const place = mkdtempSync(join(tmpdir(), 'nexus-host-'))
    const script = `setsid sh -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 600' & while [ ! -e pid ]; do sleep 0.01; done; sleep 600`
    const ending = new AbortController()
    const ended = assert.rejects(sh(script, { cwd: place, signal: ending.signal }), /enough/)
    while (!existsSync(join(place, 'pid'))) await setTimeout(5)
    ending.abort(new Error('enough'))
    await ended
    process.kill(Number(readFileSync(join(place, 'pid'), 'utf8')), 'SIGKILL')
    rmSync(place, { recursive: true })
  })

  it('is refused when an argument cannot be one', async () => {
    const result = await runProgram({
      command: ['printf', 'a\0b'],
      environment: {},
      timeoutMs: 1000,
      maxOutputBytes: 10,
    })
    assert.equal(result.type === 'failed' && result.reason, 'not-started')
  })

  it('inherits no descriptor: neither of Nexus, nor one that Nexus itself was started with', () => {
    const host = join(ROOT, 'src/machine/host/index.ts')
    const program = `import { runProgram } from ${JSON.stringify(host)}
      import { openSync } from 'node:fs'
      openSync('/etc/passwd')
      const { stdout } = await runProgram({ command: ['ls', '-l', '/proc/self/fd'], environment: {}, timeoutMs: 9000, maxOutputBytes: 9999 })
      process.stdout.write(stdout)`
    const line = `exec '${process.execPath}' --input-type=module -e "$PROGRAM" 3</etc/hosts 14</etc/hosts 16</etc/hosts 200</etc/hosts`
    const ran = spawnSync('bash', ['-c', line], { env: { PROGRAM: program }, encoding: 'utf8' })
    const targets = [...ran.stdout.matchAll(/ (\d+) -> (\S+)$/gm)].filter(([, fd]) => Number(fd) > 2)
    assert.ok(targets.length > 0, ran.stderr)
    // One of them is the directory that `ls` reads.
    for (const [, , target = ''] of targets) assert.match(target, /^\/dev\/null$|^\/proc\/\d+\/fd$/)
  })
})
