import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { checkSandbox, createSandbox, NONE_WARNING, type Sandbox } from '../../../src/machine/sandbox/index.ts'
import { createScriptedSandbox } from '../../../src/testing/scripted-sandbox.ts'
import { openDirectory } from './local-rig.ts'

async function openNone(context: TestContext): Promise<{ sandbox: Sandbox; workspace: string }> {
  const workspace = openDirectory()
  const sandbox = await createSandbox({ kind: 'none', projectId: 'default' })
  context.after(async () => {
    await sandbox.close()
    rmSync(workspace, { recursive: true, force: true })
  })
  return { sandbox, workspace }
}

function processesWith(mark: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark)
    } catch {
      // It ended while we looked.
      return false
    }
  })
}

test('without a sandbox the environment of the host is not handed down all the same', async (context) => {
  process.env['HOST_SECRET_FOR_TEST'] = 'TOP-SECRET'
  context.after(() => delete process.env['HOST_SECRET_FOR_TEST'])
  const { sandbox, workspace } = await openNone(context)
  const { stdout } = await sandbox.run({ command: 'env; cat /proc/self/environ', workspace })
  assert.doesNotMatch(stdout, /TOP-SECRET/)
  assert.match(stdout, /^NEXUS_SANDBOX=none$/m)
})

test(
  'without a sandbox descendants are killed, also those that left the group',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (context) => {
    const mark = `nexus-none-${process.pid}`
    const { sandbox, workspace } = await openNone(context)
    const result = await sandbox.run({
      command: `setsid bash -c "trap '' TERM HUP; exec -a ${mark} sleep 300" & (exec -a ${mark} sleep 300) & sleep 0.3; echo done`,
      workspace,
    })
    assert.deepEqual([result.end, result.stdout], ['exit', 'done\n'])
    for (let tries = 0; tries < 100 && processesWith(mark).length > 0; tries++) await setTimeout(20)
    assert.deepEqual(processesWith(mark), [])
  },
)

test(
  'closing waits until commands without a sandbox have ended, also one that takes its time',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (context) => {
    const mark = `nexus-closed-${process.pid}`
    const { sandbox, workspace } = await openNone(context)
    const slow = `exec -a ${mark} bash -c 'trap "sleep 0.3; exit 3" TERM; echo > ready; while :; do sleep 0.05; done'`
    const running = sandbox.run({ command: slow, workspace })
    while (!existsSync(join(workspace, 'ready'))) await setTimeout(10)
    assert.equal(processesWith(mark).length > 0, true)
    await sandbox.close()
    assert.deepEqual(processesWith(mark), [])
    assert.equal((await running).end, 'cancelled')
  },
)

test('no sandbox is loud about it', async () => {
  assert.match(NONE_WARNING, /Nothing confines them/)
  assert.deepEqual(
    (await checkSandbox({ kind: 'none', projectId: 'default' })).map(({ severity, message }) => [severity, message]),
    [['warning', NONE_WARNING]],
  )
})

test('a sandbox of an unknown kind is refused by name', async () => {
  await assert.rejects(createSandbox({ kind: 'docker', projectId: 'x' } as never), {
    code: 'INVALID_ARGUMENT',
    message: /docker/,
  })
})

test('the scripted sandbox answers from its script and keeps what it was asked', async (context) => {
  const workspace = openDirectory()
  context.after(() => rmSync(workspace, { recursive: true }))
  const heard: string[] = []
  const sandbox = createScriptedSandbox({
    script: ({ command }) => (command === 'wait' ? { stdout: 'half', hang: true } : { stdout: 'über', exitCode: 3 }),
  })
  const result = await sandbox.run({
    command: 'x',
    workspace,
    maxOutputBytes: 1,
    maxLiveBytes: 5,
    onOutput: ({ text }) => void heard.push(text),
  })
  assert.deepEqual(
    [result.exitCode, result.stdout, result.stdoutBytes, result.stdoutTruncated, heard],
    [3, '', 5, true, ['über']],
  )
  const waiting = await sandbox.run({ command: 'wait', workspace, timeoutMs: 1 })
  assert.deepEqual([waiting.end, waiting.exitCode, waiting.stdout], ['timeout', -1, 'half'])
  assert.deepEqual((await sandbox.run({ command: 'wait', workspace }, AbortSignal.timeout(1))).end, 'cancelled')
  assert.deepEqual(
    sandbox.requests.map(({ command }) => command),
    ['x', 'wait', 'wait'],
  )
})
