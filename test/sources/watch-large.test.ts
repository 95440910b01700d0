import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { watchSources } from '../../src/sources/index.ts'
import { skillText, temporaryDirectory, writeFiles } from './temporary.ts'
import { watching } from './watching.ts'

const COUNT = 600
const nameOf = (index: number): string => `skill-${index}-${'long'.repeat(45)}`

function manySkills(root: string): void {
  for (let index = 0; index < COUNT; index++) writeFiles(root, { [`${nameOf(index)}/SKILL.md`]: skillText('skill') })
}

for (const mode of ['events', 'polling'] as const) {
  test(`by ${mode}: in a large directory nothing is lost, whenever it happens`, { timeout: 60_000 }, async (t) => {
    const root = temporaryDirectory(t)
    manySkills(root)
    const watch = watching(t, [root], { mode })
    // While the directory is read.
    await new Promise((resolve) => setImmediate(resolve))
    rmSync(join(root, nameOf(7)), { recursive: true })
    const { watcher, told, forget } = await watch
    assert.equal(watcher.mode, mode)
    await forget()
    writeFileSync(join(root, nameOf(599), 'SKILL.md'), skillText('edited'))
    await told(join(root, nameOf(599)))
    mkdirSync(join(root, 'new'))
    writeFileSync(join(root, 'new/SKILL.md'), skillText('new'))
    await told(join(root, 'new'))
    renameSync(join(root, nameOf(1)), join(root, 'moved'))
    await told(join(root, 'moved'))
  })
}

test('whoever gives up while a large directory is read is told nothing afterwards', async (t) => {
  const root = temporaryDirectory(t)
  manySkills(root)
  const stop = new AbortController()
  const options = { onChange: () => assert.fail('told after closing'), signal: stop.signal, debounceMs: 0 }
  const opening = watchSources([{ folder: { path: root } }], options)
  await new Promise((resolve) => setImmediate(resolve))
  stop.abort()
  await assert.rejects(opening, { code: 'CANCELLED' })
  rmSync(join(root, nameOf(3)), { recursive: true })
  await new Promise((resolve) => setTimeout(resolve, 100))
})
