import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSource, SOURCE_FILES, withoutComments } from './source-tree.ts'

/** Functions of node:fs that change something. */
const FILE_CHANGES =
  /^(?:appendFile|chmod|chown|copyFile|cp|createWriteStream|fchmod|fchown|fsync|ftruncate|futimes|lchmod|lchown|link|lutimes|mkdir|mkdtemp|rename|rm|rmdir|symlink|truncate|unlink|utimes|write|writeFile|writev)(?:Sync)?$/
/** Who may import them, by file or folder, with the reason. */
const FILE_WRITERS: Readonly<Record<string, string>> = {
  'src/cli/commands/demo.ts': 'makes the directory that the demo works in',
  'src/cli/commands/skills/init.ts': 'makes the skill that the user asked for',
  'src/cli/compile-cache.ts': 'makes the directory that Node keeps compiled code in',
  'src/cli/output.ts': 'writes to stdout and stderr',
  'src/cli/validation/rewrite-file.ts': 'writes the SKILL.md that --fix changes',
  'src/config/trust.ts': 'keeps which workspaces the user trusts',
  'src/files/': 'contained work below an opened directory',
  'src/mcp/http/key-file.ts': 'makes the key of an HTTP server',
  'src/sandbox/': 'prepares, guards and cleans the places that commands work in',
  'src/store/blob-files/': 'keeps the bytes of blobs',
  'src/store/sqlite/connection.ts': 'makes the state file and its directory',
  'src/testing/sandbox-contract.ts': 'makes the workspaces of its tests',
}

test('only the files that are listed with their reason write with node:fs', () => {
  const writers = SOURCE_FILES.filter((file) => changesFiles(readSource(file)))
  const nameOf = (file: string): string | undefined =>
    Object.keys(FILE_WRITERS).find((name) => file === name || (name.endsWith('/') && file.startsWith(name)))
  assert.deepEqual(
    writers.filter((file) => nameOf(file) === undefined),
    [],
  )
  assert.deepEqual([...new Set(writers.map(nameOf))].toSorted(), Object.keys(FILE_WRITERS))
  for (const text of [`import { rm } from 'node:fs/promises'`, `import fs from 'node:fs'`, `import * as fs from 'fs'`])
    assert.ok(changesFiles(text), text)
  for (const text of [`import { open, stat } from 'node:fs'`, `import type { Stats } from 'node:fs'`, `const rm = 1`])
    assert.ok(!changesFiles(text), text)
})

/** A default or namespace import reaches every function. */
function changesFiles(text: string): boolean {
  const imports = withoutComments(text).matchAll(
    /import\s+(?!type\b)([^'"]*?)\s+from\s+['"](?:node:)?fs(?:\/promises)?['"]/g,
  )
  return [...imports].some(([, names = '']) => {
    if (!names.startsWith('{')) return true
    return names.split(/[{},]/).some((name) => FILE_CHANGES.test(name.trim().split(' ')[0] ?? ''))
  })
}
