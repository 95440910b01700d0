// Run by watch-limits.test.ts in a process of its own, with limits that only a process of its own can have.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { watchSources } from '../../src/sources/index.ts'

const [mode = '', root = ''] = process.argv.slice(2)
const changed = Promise.withResolvers<void>()
const told = new Set<string>()
const watcher = await watchSources([{ folder: { path: root } }], {
  debounceMs: 10,
  pollMs: 40,
  keepAlive: mode === 'limits',
  usePolling: mode === 'idle-polling',
  onChange: ({ directories }) => {
    for (const directory of directories) told.add(directory)
    if (told.has(join(root, 's29'))) changed.resolve()
  },
})
if (mode === 'limits') {
  appendFileSync(join(root, 's29/SKILL.md'), 'more\n')
  await changed.promise
  const diagnostics = watcher.diagnostics.map(({ message }) => message)
  console.log(JSON.stringify({ mode: watcher.mode, diagnostics, told: [...told] }))
  await watcher.close()
} else {
  // Not closed: the process has to end all the same.
  console.log('ready')
}
