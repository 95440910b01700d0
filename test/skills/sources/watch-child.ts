// Run by root-watch.test.ts in a process of its own, with limits that only a process of its own can have.
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type SourceChange, watchSources } from '../../../src/skills/sources/index.ts'

const [mode = '', ...roots] = process.argv.slice(2)
const isLimited = mode === 'limits' || mode === 'later'
const changes: SourceChange[] = []
let wake = (): void => undefined
const watcher = await watchSources(
  roots.map((path) => ({ folder: { path } })),
  {
    debounceMs: 10,
    pollMs: 40,
    keepAlive: isLimited,
    usePolling: mode === 'idle-polling',
    onChange: (change) => {
      changes.push(change)
      wake()
    },
  },
)

async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise<void>((resolve) => (wake = resolve))
}

async function editLast(root: string, count: number): Promise<void> {
  const skill = join(root, `s${count - 1}`)
  appendFileSync(join(skill, 'SKILL.md'), 'more\n')
  await until(() => changes.some(({ directories }) => directories.includes(skill)))
}

if (isLimited) {
  if (mode === 'later') {
    for (let index = 2; index < 30; index++) mkdirSync(join(roots[0] ?? '', `s${index}`))
    await until(() => changes.some(({ rescan }) => rescan))
    await editLast(roots[0] ?? '', 30)
  } else {
    for (const [index, root] of roots.entries()) await editLast(root, index === roots.length - 1 ? 30 : 2)
  }
  const told = changes.flatMap(({ directories }) => directories)
  console.log(JSON.stringify({ mode: watcher.mode, diagnostics: watcher.diagnostics, told }))
  await watcher.close()
} else {
  // Not closed: the process has to end all the same.
  console.log('ready')
}
