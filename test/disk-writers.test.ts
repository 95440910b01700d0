/** Who may change files: the rule of test/architecture.test.ts for node:fs, in a file of its own because of the list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSource, moduleOf, SOURCE_FILES, withoutComments } from './source-tree.ts'

/** What changes the disk, of node:fs and node:fs/promises. `open` is not in it: who writes what was opened is. */
const CHANGES =
  /^(?:appendFile|l?f?ch(?:mod|own)|copyFile|cp|createWriteStream|f?datasync|fsync|f?truncate|[fl]?utimes|link|mkdir|mkdtemp|rename|rm|rmdir|symlink|unlink|write|writeFile|writev)(?:Sync)?$/

/** Who may change files besides files/, with the reason: mostly files of our own, at paths that nobody hostile chooses. */
const WRITERS: Readonly<Record<string, string>> = {
  'src/apps/cli/bin.cts': 'reads the package.json of an installed Node, and writes the version to standard output',
  'src/apps/cli/commands/demo.ts': 'makes the directory of the demo',
  'src/apps/cli/commands/skills/init.ts': 'makes the skill that the user asked for',
  'src/apps/cli/compile-cache.ts': 'dates compiled code, where only this user can write',
  'src/apps/cli/output.ts': 'writes to standard output',
  'src/apps/cli/validation/rewrite-file.ts': 'changes the SKILL.md that the user named',
  'src/apps/http/key-file.ts': 'makes the key of an HTTP server',
  'src/config/trust.ts': "makes the user's own directory",
  'src/machine/changes/git-scratch.ts': 'makes a temporary directory',
  'src/machine/changes/durable.ts': 'writes below the state directory',
  'src/machine/changes/records.ts': 'writes below the state directory',
  'src/machine/sandbox/local/caches.ts': 'notes below the state directory when caches were looked at',
  'src/machine/sandbox/local/cgroup.ts': 'makes groups of the kernel and sets their limits',
  'src/machine/sandbox/local/copies.ts': 'copies programs to where another user reads them and none can write',
  'src/machine/sandbox/local/failed-setups.ts': 'writes below the state directory',
  'src/machine/sandbox/local/place.ts': 'makes copies of skills where commands cannot write',
  'src/machine/sandbox/local/programs.ts': 'makes scripts that start programs, where commands cannot write',
  'src/machine/sandbox/local/setup.ts': 'puts results of setups where commands cannot write',
  'src/machine/sandbox/local/stage.ts': 'copies the runner and Node where commands cannot write',
  'src/machine/sandbox/local/state.ts': 'makes the directories of the sandbox',
  'src/machine/sandbox/local/way.ts': 'copies the certificates of a command into a directory of the sandbox',
  'src/machine/sandbox/local/workspace.ts': 'makes the directory of a mirror',
  'src/machine/sandbox/mirror/saved.ts': 'moves mirrors between directories of ours',
  'src/machine/sandbox/none.ts': 'makes a temporary directory',
  'src/machine/sandbox/runner/cgroup.ts': 'makes groups of the kernel and sets their limits',
  'src/machine/sandbox/runner/pipes.ts': 'makes a directory of pipes',
  'src/machine/sandbox/runner/temp.ts': 'makes a temporary directory',
  'src/machine/host/start-service.ts': 'makes the directory of the log of a server',
  'src/skills/install/dependencies.ts': 'makes the directory in which a person lets Nexus put a program',
  'src/skills/install/scope.ts': 'makes the directories of installed skills and of their state',
  'src/store/blob-files/blob-files.ts': 'removes blobs, whose names are digests',
  'src/store/blob-files/file-writer.ts': 'writes blobs and makes their directory',
  'src/store/sqlite/connection.ts': 'makes the directory of the database',
  'src/testing/sandbox-contract.ts': 'makes what the suite needs',
}

test('only files/ changes files, besides the files that are listed with their reason', () => {
  const writers = SOURCE_FILES.filter((file) => moduleOf(file) !== 'machine/files' && changesFiles(readSource(file)))
  assert.deepEqual(writers, Object.keys(WRITERS).sort())
  for (const text of [
    "import { readFileSync, writeFileSync } from 'node:fs'",
    "import { rm as remove } from 'node:fs/promises'",
    "import fs from 'node:fs'",
    "import * as fs from 'fs'",
    "await import('node:fs')",
    "process.getBuiltinModule('node:fs')",
  ])
    assert.ok(changesFiles(text), text)
  for (const text of ["import { type Stats, openSync } from 'node:fs'", "import type fs from 'node:fs'"])
    assert.ok(!changesFiles(text), text)
})

/** Also true for who takes the whole module, as nothing then shows what is used. */
function changesFiles(source: string): boolean {
  const text = withoutComments(source)
  const named = [...text.matchAll(/\bimport\s*\{([^}]*)\}\s*from\s*['"](?:node:)?fs(?:\/promises)?['"]/g)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim().replace(/ as .*/, ''))
  const whole =
    /\bimport (?!type\b)(?:\w+|\* as \w+) from ['"](?:node:)?fs(?:\/promises)?['"]|\((?:\s*)['"](?:node:)?fs(?:\/promises)?['"]\)/
  return named.some((name) => CHANGES.test(name)) || whole.test(text)
}
