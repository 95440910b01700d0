import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'

/** A collection of real files that is not part of this repository. */
const CORPUS = resolve(
  process.env['NEXUS_CORPUS'] ?? resolve(import.meta.dirname, '../../../../shared/corpus'),
  'real-skills.jsonl.gz',
)
export const skipWithoutCorpus = existsSync(CORPUS) ? false : `the corpus is not here: ${CORPUS}`

export interface RealSkill {
  readonly source: string
  readonly path: string
  readonly dir: string
  readonly bytes: Buffer
}

/** Empty where the corpus is not. */
export function readCorpus(): RealSkill[] {
  if (skipWithoutCorpus !== false) return []
  const lines = gunzipSync(readFileSync(CORPUS)).toString('utf8').split('\n').filter(Boolean)
  return lines.map((line) => {
    const { base64, ...skill } = JSON.parse(line) as Omit<RealSkill, 'bytes'> & { base64: string }
    return { ...skill, bytes: Buffer.from(base64, 'base64') }
  })
}

/** The texts of `test/fixtures/format`. */
export function readFixtures(): string[] {
  const directory = resolve(import.meta.dirname, '../../fixtures/format')
  const files = readdirSync(directory).map((name) => resolve(directory, name, 'SKILL.md'))
  return files.filter((file) => existsSync(file)).map((file) => readFileSync(file, 'utf8'))
}

/** The frontmatter of a text, its line ends as LF; undefined when there is none. */
export function yamlIn(text: string): string | undefined {
  return /^\ufeff?---[ \t]*\r?\n([^]*?\r?\n)---/.exec(text)?.[1]?.replace(/\r\n?/g, '\n')
}

/** A seed for a property test, random unless NEXUS_TEST_SEED names one; it is printed, so that a failure can be repeated. */
export function seedFor(context: TestContext): number {
  const seed = Number(process.env['NEXUS_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  context.diagnostic(`NEXUS_TEST_SEED=${seed}`)
  return seed
}
