import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync, rmSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const MODULE = new URL('../../src/cli/output.ts', import.meta.url).href
const BYTES = 3_000_000

/** A process that writes much more than a pipe holds, in some pieces, and says on stderr when it is done. */
function writer(stdout: 'pipe' | number, pieces = 2) {
  const code = `
    const { createOutput } = await import('${MODULE}')
    const output = createOutput(1, () => process.stdout)
    for (let piece = 1; piece < ${pieces}; piece++) output.write('a'.repeat(${BYTES - 1} / ${pieces - 1}))
    output.write('é')
    await output.drained()
    process.stderr.write('done ' + JSON.stringify(output.end.reason))`
  return spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', stdout, 'pipe'] })
}

test('everything reaches a reader that is slow', async () => {
  const child = writer('pipe')
  const ended = once(child, 'close')
  let length = 0
  for await (const chunk of child.stdout ?? []) {
    length += (chunk as Buffer).length
    if (length < 300_000) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.deepEqual(await ended, [0, null])
  assert.equal(length, BYTES + 1)
})

test('everything reaches a file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'nexus-output-'))
  try {
    const file = join(directory, 'out')
    const child = writer(openSync(file, 'w'))
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.ok(readFileSync(file, 'utf8').endsWith('aaé'))
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('a reader that goes away is known as such, also when it leaves something unread', async () => {
  for (const pieces of [2, 3_000]) {
    const child = writer('pipe', pieces)
    let told = ''
    child.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()))
    // The writer waits for room meanwhile: then the system says that the connection was reset.
    child.stdout?.once('readable', () => setTimeout(() => child.stdout?.destroy(), 200))
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.equal(told, 'done {"why":"gone"}', `${pieces} pieces`)
  }
})
