import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { runSecretCommand } from '../../../src/machine/host/index.ts'

const place = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-secret-')))
after(() => rmSync(place, { recursive: true, force: true }))

/** Runs a shell script as the program of a secret; only the tests use a shell. */
const sh = (
  script: string,
  more: { input?: string; signal?: AbortSignal; environment?: Record<string, string> } = {},
) => runSecretCommand({ command: ['sh', '-c', script], environment: {}, ...more })

describe('a program that gives a secret', () => {
  it('is found in the system directories, gets its arguments as they are, and its output is returned whole', async () => {
    const command = ['printf', '%s|', 'a b', '$(id)', '`x`', '*']
    const result = await runSecretCommand({ command, environment: {} })
    assert.deepEqual(result, { type: 'done', output: 'a b|$(id)|`x`|*|' })
  })

  it('has the variables it is given, PATH and LANG, and no others', async () => {
    const result = await sh('env', { environment: { HOME: '/h', PATH: '/evil' } })
    assert.equal(result.type, 'done')
    const names = result.output
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '')
    assert.deepEqual(names.filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name)).toSorted(), [
      'HOME',
      'LANG',
      'PATH',
    ])
    assert.doesNotMatch(result.output, /evil/)
  })

  it('reads what is asked of it, and may leave it unread', async () => {
    assert.deepEqual(await sh('cat', { input: 'question' }), { type: 'done', output: 'question' })
    assert.deepEqual(await sh('echo ok', { input: 'x'.repeat(1_000_000) }), { type: 'done', output: 'ok\n' })
  })

  it('is refused when it is relative, missing, not executable, or can be changed by anyone', async () => {
    const plain = join(place, 'plain')
    writeFileSync(plain, '#!/bin/sh\necho x\n', { mode: 0o644 })
    const open = join(place, 'open')
    writeFileSync(open, '#!/bin/sh\necho x\n')
    chmodSync(open, 0o777)
    for (const [program, why] of [
      ['./plain', /is not in \/usr/],
      ['no-such-program-here', /is not in \/usr/],
      [plain, /not an executable file/],
      [place, /not an executable file/],
      [open, /anyone can change/],
    ] as const) {
      const result = await runSecretCommand({ command: [program], environment: {} })
      assert.equal(result.type, 'failed')
      assert.match(result.why, why)
    }
  })

  it('fails with its exit code or signal, and its error output is not told', async () => {
    assert.deepEqual(await sh('echo the-secret >&2; exit 3'), { type: 'failed', why: 'ended with code 3' })
    assert.deepEqual(await sh('kill -TERM $$'), { type: 'failed', why: 'ended with SIGTERM' })
  })

  it('is ended when it writes too much or something that is no text', async () => {
    assert.deepEqual(await sh('yes'), { type: 'failed', why: 'wrote more than 65536 bytes' })
    assert.deepEqual(await sh(String.raw`printf '\377\376'`), {
      type: 'failed',
      why: 'wrote something that is not UTF-8 text',
    })
  })

  it('ends together with what it started, when it takes too long', async () => {
    const file = join(place, 'pid')
    const result = await sh(`sleep 600 & echo $! > ${file}; wait`)
    assert.deepEqual(result, { type: 'failed', why: 'took longer than 5 s' })
    const pid = Number(readFileSync(file, 'utf8'))
    assert.throws(() => assertAlive(pid), { code: 'ESRCH' })
  })

  it('ends when the caller cancels', async () => {
    const cancel = new AbortController()
    const running = sh('sleep 600', { signal: cancel.signal })
    setTimeout(() => cancel.abort(new Error('enough')), 100)
    await assert.rejects(running, /enough/)
    await assert.rejects(sh('echo x', { signal: cancel.signal }), /enough/)
  })
})

/** Throws ESRCH when the process is gone; one that waits to be collected by init counts as gone. */
function assertAlive(pid: number): void {
  process.kill(pid, 0)
  const state = /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (state === 'Z') throw Object.assign(new Error('collected soon'), { code: 'ESRCH' })
}
