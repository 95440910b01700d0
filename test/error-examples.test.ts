import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { findInSettings } from '../src/apps/cli/commands/config.ts'
import { readSections, type Section } from '../src/apps/cli/commands/explain.ts'
import type { Invocation } from '../src/apps/cli/command.ts'
import { loadConfig, readEnvironment } from '../src/config/index.ts'
import { checkLenient, checkStrict, migrateSkill, PROFILES } from '../src/skills/format/index.ts'
import { makePlace } from './config/place.ts'
import { readSource } from './source-tree.ts'

const SECTIONS = readSections(readSource('docs/errors.md'))

/** The file before and after the fix: the lines of a diff, with its `\u{…}`, `\r` and `«text ×N»` written out. */
function sidesOf({ example }: Section): { readonly before: string; readonly after: string } {
  const side = (other: string): string =>
    example
      .split('\n')
      .filter((line) => !line.startsWith(other))
      .map((line) => writtenOut(line.slice(1)))
      .join('\n') + '\n'
  return { before: side('+'), after: side('-') }
}

function writtenOut(line: string): string {
  return line
    .replaceAll('\\r', '\r')
    .replaceAll('\\n', '\n')
    .replaceAll(/\\u\{([0-9A-F]+)\}/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 16)))
    .replaceAll(/«([\s\S]*?) ?×(\d+)»/g, (_, text: string, times: string) => `${text} `.repeat(Number(times)).trim())
}

/** What every check of one SKILL.md gives: lenient, strict by each profile, and the two rewrites. */
function codesOfSkill(text: string, file: string): ReadonlySet<string> {
  const about = { path: file, directoryName: dirname(file), files: ['SKILL.md'] }
  const found = [
    checkLenient(text, about),
    ...PROFILES.map((profile) => checkStrict(text, { ...about, profile })),
    migrateSkill(text, about),
  ]
  return new Set(found.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code)))
}

/** What `nexus config check` gives; `file` is the user's own or a workspace's, which is untrusted unless it says otherwise. */
async function codesOfConfig(text: string, file: string): Promise<ReadonlySet<string>> {
  await using place = await makePlace(file.startsWith('~') ? { user: text } : { local: text })
  const environment = readEnvironment({ HOME: place.home })
  const around = { cwd: place.workspace, environment }
  const loaded = await loadConfig({ ...around, trusted: file.endsWith('(trusted)') })
  const invocation = { ...around, flags: {}, signal: new AbortController().signal } as unknown as Invocation
  const found = [...loaded.diagnostics, ...(await findInSettings(loaded, invocation))]
  return new Set(found.map(({ code }) => code))
}

const codesOf = (text: string, file: string): ReadonlySet<string> | Promise<ReadonlySet<string>> =>
  file.endsWith('SKILL.md') ? codesOfSkill(text, file) : codesOfConfig(text, file)

for (const section of SECTIONS) {
  const { codes, file } = section
  // Diffs of other files, such as a program, are not run.
  if (file === undefined || !/(?:^|\/)(?:SKILL\.md|nexus\.yaml)/.test(file)) continue
  test(`the example of ${codes.join(', ')} gives the code, and its fix removes it`, async () => {
    const { before, after } = sidesOf(section)
    const found = await codesOf(before, file)
    for (const code of codes) assert.ok(found.has(code), `the example gives ${[...found].join(', ') || 'nothing'}`)
    const left = await codesOf(after, file)
    for (const code of codes) assert.ok(!left.has(code), 'the fixed example gives the code as well')
  })
}

test('every code of SKILL.md and most of nexus.yaml have an example that is run', () => {
  const shown = (topic: string): number =>
    SECTIONS.filter((section) => section.topic === topic && section.file !== undefined).length
  assert.ok(shown('Reading a SKILL.md') >= 40)
  assert.ok(shown('Strict validation') >= 18)
  assert.ok(shown('nexus.yaml') >= 28)
})
