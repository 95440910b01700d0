import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProgress } from '../../../src/apps/cli/interactive/progress.ts'
import type { Terminal } from '../../../src/apps/cli/terminal.ts'

/** What would be on stderr; only the parts that progress uses. */
function screen(more: { isWatched: boolean; isDumb?: boolean }): { terminal: Terminal; written: string[] } {
  const written: string[] = []
  const parts = {
    isDumb: false,
    columns: 40,
    noteColumns: 40,
    paintNote: (_style: string, text: string) => text,
    writeNote: (text: string) => written.push(text),
    note: (text: string) => written.push(`${text}\n`),
    ...more,
  }
  return { terminal: parts as unknown as Terminal, written }
}

test('what takes less than a second says nothing', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { terminal, written } = screen({ isWatched: true })
  const progress = createProgress(terminal)
  progress.begin('looking')
  t.mock.timers.tick(999)
  progress.end()
  t.mock.timers.tick(5_000)
  assert.deepEqual(written, [])
})

test('after a second one line says how far it is, and is taken away before anything else is written', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { terminal, written } = screen({ isWatched: true })
  const progress = createProgress(terminal)
  let done = 1
  progress.begin(() => `${done} of 9`)
  t.mock.timers.tick(1_000)
  done = 5
  t.mock.timers.tick(1_000)
  assert.deepEqual(
    written.map((text) => /\r(\d of 9) … \d+ s\u001b\[K/.exec(text)?.[1]),
    ['1 of 9', '5 of 9'],
  )
  progress.end()
  assert.equal(written.at(-1), '\r\u001b[K')
  progress.end()
  t.mock.timers.tick(1_000)
  assert.equal(written.length, 3)
})

test('a line that is longer than the terminal is cut, since it could not be taken away', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { terminal, written } = screen({ isWatched: true })
  createProgress(terminal).begin('x'.repeat(100))
  t.mock.timers.tick(1_000)
  assert.ok((written[0] ?? '').replaceAll(/[\r\u001b]|\[K/g, '').length < 40)
})

test('a terminal that takes no line back gets one line, and a pipe gets nothing', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const dumb = screen({ isWatched: true, isDumb: true })
  const pipe = screen({ isWatched: false })
  for (const { terminal } of [dumb, pipe]) createProgress(terminal).begin('looking')
  t.mock.timers.tick(3_000)
  assert.equal(dumb.written.length, 1)
  assert.deepEqual(pipe.written, [])
})
