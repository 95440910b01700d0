/** Why a command ended as it did: no input, a signal without a word, processes that it left. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import type { ScriptedResult } from '../../src/testing/scripted-sandbox.ts'
import { found } from './finding-rig.ts'

const codes = async (result: ScriptedResult): Promise<unknown[]> =>
  (await found({ result })).rows.map(({ code }) => code)

test('a command that failed at the end of its input, or behind a question, is said to have none', async () => {
  for (const result of [
    { stderr: 'Traceback …\nEOFError: EOF when reading a line\n' },
    { stderr: 'the input device is not a TTY\n' },
    { stdout: 'Overwrite the file? ' },
    { stdout: 'Do you want to continue? [Y/n] ' },
    { stdout: 'Proceed (yes/no)? ' },
    { stderr: "Password for 'https://ada@github.com': " },
    { stderr: 'Enter passphrase for key: ' },
  ]) {
    const { rows, notes } = await found({ result: { exitCode: 1, ...result } })
    assert.deepEqual(rows, [{ code: 'no-input', subject: 'standard input' }], JSON.stringify(result))
    assert.match(notes[0] ?? '', /waited for an answer, and its standard input is empty\. .*echo y \| COMMAND/)
  }
})

test('not so where it went well, where it only wrote about questions, and where it had an input', async () => {
  assert.deepEqual(await codes({ exitCode: 0, stderr: 'EOFError: EOF when reading a line' }), [])
  assert.deepEqual(await codes({ exitCode: 1, stdout: 'Continue? [y/N] y\nDone with errors\n' }), [])
  assert.deepEqual(await codes({ exitCode: 1, stderr: 'Is this a question? No.\n' }), [])
  const input = new PassThrough()
  const sent = await found({ input, result: { exitCode: 1, stderr: 'EOFError: EOF when reading a line' } })
  assert.deepEqual(sent.rows, [])
  const silent = await found({ input, result: { exitCode: 1 } })
  assert.match(silent.text, /\(no output\)/)
  assert.match((await found({ result: { exitCode: 1 } })).text, /\(no output; commands have no standard input\)/)
})

test('a signal without a word is named', async () => {
  for (const [exitCode, name] of [
    [137, 'SIGKILL'],
    [139, 'SIGSEGV'],
    [143, 'SIGTERM'],
    [159, 'SIGSYS'],
  ] as const) {
    const { rows, notes } = await found({ result: { exitCode } })
    assert.deepEqual(rows, [{ code: 'ended-by-signal', subject: name }])
    assert.match(notes[0] ?? '', new RegExp(`\\(${name}, exit code ${exitCode}\\)\\.`))
  }
  assert.deepEqual(await codes({ exitCode: 139, stderr: 'Segmentation fault\n' }), [])
  for (const exitCode of [0, 1, 128, 200]) assert.deepEqual(await codes({ exitCode }), [], String(exitCode))
})

test('processes that were left are named, whatever they call themselves', async () => {
  const { rows, notes } = await found({ result: { stillRunning: ['python3 -m http.server', 'sh \u001b[31mred'] } })
  assert.deepEqual(rows, [{ code: 'still-running', subject: 'python3 -m http.server' }])
  assert.match(
    notes[0] ?? '',
    /^Nexus ended what still ran when the command ended: 'python3 -m http\.server', 'sh [^\u001b]*red'\./,
  )
})
