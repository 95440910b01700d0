import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processesWith } from '../../../src/machine/sandbox/runner/process-tree.ts'
import { openRig } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false

test('SIGTERM reaches the command itself, and its trap runs', { skip }, async (context) => {
  const controller = new AbortController()
  const { run } = await openRig(context)
  const { end, stdout } = await run(
    "trap 'echo trapped; exit 5' TERM; echo ready; while :; do sleep 0.05; done",
    { onOutput: () => controller.abort() },
    controller.signal,
  )
  assert.deepEqual([end, stdout], ['cancelled', 'ready\ntrapped\n'])
})

test('a command that ignores SIGTERM is killed after the grace time', { skip }, async (context) => {
  const controller = new AbortController()
  const { run } = await openRig(context)
  let cancelledAt = Infinity
  const { end, exitCode } = await run(
    "trap '' TERM; echo ready; while :; do sleep 1; done",
    {
      onOutput: () => {
        cancelledAt = performance.now()
        controller.abort()
      },
    },
    controller.signal,
  )
  assert.deepEqual([end, exitCode], ['cancelled', -1])
  const waitedMs = performance.now() - cancelledAt
  assert.ok(waitedMs >= 1900, `the grace time was given (${waitedMs} ms)`)
})

test('grandchildren that leave the session and hold the pipes die with the command', { skip }, async (context) => {
  const mark = `nexus-mark-${process.pid}-a`
  const { run } = await openRig(context)
  const { end, stdout } = await run(
    `(exec -a ${mark} sleep 300) & setsid bash -c 'exec -a ${mark} sleep 300' & nohup setsid bash -c "trap '' TERM HUP; exec -a ${mark} sleep 300" & sleep 0.2; echo done`,
  )
  assert.deepEqual([end, stdout], ['exit', 'done\n'])
  assert.deepEqual(processesWith('cmdline', mark), [])
})

test('a cancelled command leaves no process', { skip }, async (context) => {
  const mark = `nexus-mark-${process.pid}-b`
  const controller = new AbortController()
  const { run } = await openRig(context)
  const { end } = await run(
    `setsid bash -c "trap '' TERM; exec -a ${mark} sleep 300" & echo begun; wait`,
    { onOutput: () => controller.abort() },
    controller.signal,
  )
  assert.equal(end, 'cancelled')
  assert.deepEqual(processesWith('cmdline', mark), [])
})

test('a gigabyte of output is counted and dropped', { skip }, async (context) => {
  const { run } = await openRig(context)
  const before = process.memoryUsage().rss
  const result = await run('head -c 1000000000 /dev/zero', { maxOutputBytes: 1000 })
  assert.deepEqual(
    [result.end, result.stdoutBytes, result.stdout.length, result.stdoutTruncated],
    ['exit', 1_000_000_000, 1000, true],
  )
  assert.ok(process.memoryUsage().rss - before < 100e6)
})

test('an endless stream ends with its time', { skip }, async (context) => {
  const { run } = await openRig(context)
  const result = await run('yes', { timeoutMs: 2000 })
  assert.deepEqual([result.end, result.stdout.length, result.stdoutTruncated], ['timeout', 204_800, true])
})

test('a file larger than the limit cannot be written, and the note says why', { skip }, async (context) => {
  const { run } = await openRig(context, { limits: { fileSizeBytes: 1_000_000 } })
  const { exitCode, notes } = await run('exec head -c 2000000 /dev/zero > big')
  assert.equal(exitCode, 153)
  assert.match(notes.join(), /file size limit/)
})

test('memory of a process is limited, and node works within it', { skip }, async (context) => {
  const { run } = await openRig(context, { limits: { dataBytes: 1024 ** 3 } })
  const { stdout } = await run(`node -e "
    console.log('started')
    const held = []
    try { for (;;) held.push(Buffer.alloc(50e6, 1)) } catch { console.log(held.length > 5 && held.length < 25 ? 'limited' : held.length) }"`)
  assert.equal(stdout, 'started\nlimited\n')
})

test('output can be written through /dev/stdout and /dev/stderr', { skip }, async (context) => {
  const { run } = await openRig(context)
  const { stdout, stderr } = await run(
    'echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee -a /dev/stderr',
  )
  assert.deepEqual([stdout, stderr], ['one\nthree\n', 'two\nthree\n'])
})

test('a command can say that a signal ended it', { skip }, async (context) => {
  const { run } = await openRig(context)
  assert.equal((await run('kill -SEGV $$')).exitCode, 139)
  assert.equal((await run('kill -KILL $$')).exitCode, 137)
})

test('many commands run at the same time, in one workspace too', { skip }, async (context) => {
  const { run } = await openRig(context)
  const results = await Promise.all(
    Array.from({ length: 24 }, (_, index) => run(`echo ${index} > f${index}; echo ${index}`)),
  )
  assert.deepEqual(
    results.map(({ stdout }) => stdout.trim()),
    Array.from({ length: 24 }, (_, index) => String(index)),
  )
  assert.equal((await run('cat f* | wc -l')).stdout.trim(), '24')
})

test('closing the sandbox ends the commands under way', { skip }, async (context) => {
  const { run, sandbox } = await openRig(context)
  const begun = Promise.withResolvers<void>()
  const result = run('echo begun; sleep 300', { onOutput: () => begun.resolve() })
  await begun.promise
  await sandbox.close()
  assert.equal((await result).end, 'cancelled')
})
