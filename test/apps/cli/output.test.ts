import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync, rmSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const MODULE = new URL('../../../src/apps/cli/output.ts', import.meta.url).href
/** Characters of one to four bytes, so that a pipe is full in the middle of one. */
const WORD = 'aé日😀'
const WORDS = 300_000

/** A process that writes much more than a pipe holds, in some pieces, and says on stderr when it is done. */
function writer(stdout: 'pipe' | number, pieces = 2) {
  const code = `
    const { createOutput } = await import('${MODULE}')
    const output = createOutput(1)
    for (let piece = 1; piece < ${pieces}; piece++) output.write('${WORD}'.repeat(${WORDS} / ${pieces - 1}))
    output.write('end')
    await output.drained()
    process.stderr.write('done ' + JSON.stringify(output.end.reason))`
  return spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', stdout, 'pipe'] })
}

test('everything reaches a reader that is slow', async () => {
  const child = writer('pipe')
  const ended = once(child, 'close')
  const chunks: Buffer[] = []
  for await (const chunk of child.stdout ?? []) {
    chunks.push(chunk as Buffer)
    if (chunks.length < 10) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  assert.deepEqual(await ended, [0, null])
  assert.ok(Buffer.concat(chunks).toString() === `${WORD.repeat(WORDS)}end`)
})

test('everything reaches a file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'nexus-output-'))
  try {
    const file = join(directory, 'out')
    const child = writer(openSync(file, 'w'))
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.ok(readFileSync(file, 'utf8') === `${WORD.repeat(WORDS)}end`)
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
