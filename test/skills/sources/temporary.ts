import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { SourceResult } from '../../../src/skills/sources/index.ts'

/**
 * A fresh directory by its real path, removed after the test. Its parent is its own too: a root is watched through its
 * parent, and polling one that other programs use can take all the time of a test.
 */
export function temporaryDirectory(t: TestContext): string {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-sources-')))
  t.after(() => rmSync(parent, { recursive: true, force: true }))
  chmodSync(parent, 0o755)
  const directory = join(parent, 'root')
  mkdirSync(directory, { mode: 0o700 })
  return directory
}

export function skillText(name: string, description = 'Does a thing. Use when asked.'): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\nBody of ${name}.\n`
}

/** Writes files below a directory: relative path to content. */
export function writeFiles(directory: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
}

/** Names of skills and invalid ones, and codes of the source's findings. */
export function summary({ skills, invalid, diagnostics }: SourceResult): Record<string, readonly string[]> {
  return {
    skills: skills.map(({ name }) => name),
    invalid: invalid.map(({ name, diagnostics: own }) => `${name}: ${own[0]?.code}`),
    found: diagnostics.map(({ code }) => code),
  }
}

/** Runs synchronous or slow work as another user when we are root, so that rights are real. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work()
  process.setegid?.(65_534)
  process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}
