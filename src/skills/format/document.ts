import type { SkillDocument } from '../../kernel/index.ts'
import { readDescription } from './fields/description.ts'
import { readMetadata } from './fields/metadata.ts'
import { readName } from './fields/name.ts'
import { similarTopLevelKey } from './fields/slips.ts'
import { readAllowedTools, readArguments, readFlag, readTextField } from './fields/top-level.ts'
import type { Frontmatter } from './front.ts'
import type { Report } from './report.ts'

/** The fields of a frontmatter. */
export type DocumentHead = Omit<SkillDocument, 'body'>

/** Reads every field and reports what is odd about it. */
export function readHead(front: Frontmatter, directoryName: string | undefined, report: Report): DocumentHead {
  // First: its fixes give keys their names, before others add what is missing.
  reportTypos(front, report)
  const name = readName(front, directoryName, report)
  const description = readDescription(front, report)
  return {
    name,
    description,
    license: readTextField(front, 'license', report),
    compatibility: readTextField(front, 'compatibility', report),
    allowedTools: readAllowedTools(front, report),
    arguments: readArguments(front, report),
    invocation: {
      model: !readFlag(front, 'disable-model-invocation', false, report),
      user: readFlag(front, 'user-invocable', true, report),
    },
    metadata: readMetadata(front, report),
    frontmatter: front.values,
  }
}

/** A word processor writes them; to YAML they are characters of the text. */
const CURLY_QUOTES = /^[\u201c\u201d\u201e\u2018\u2019][^]*[\u201c\u201d\u2018\u2019]$/

function reportTypos(front: Frontmatter, report: Report): void {
  for (const key of Object.keys(front.values)) {
    const right = similarTopLevelKey(key, front.values)
    if (right !== undefined) {
      const isNeeded = (right === 'name' || right === 'description') && front.written(key) !== 'collection'
      const edit = isNeeded ? front.rename(key, right) : undefined
      report.add('key-similar', { ...front.place(key), edit }, key, right)
    }
    const value = front.values[key]
    if (typeof value === 'string' && CURLY_QUOTES.test(value)) report.add('curly-quotes', front.place(key), key)
  }
}
