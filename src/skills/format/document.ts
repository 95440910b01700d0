import type { SkillDocument } from '../../kernel/index.ts'
import { readDescription } from './fields/description.ts'
import { readFlag } from './fields/flags.ts'
import { readAllowedTools, readArguments } from './fields/lists.ts'
import { readMetadata } from './fields/metadata.ts'
import { similarTopLevelKey } from './fields/metadata-keys.ts'
import { readName } from './fields/name.ts'
import { readCompatibility, readTextField } from './fields/text.ts'
import type { Frontmatter } from './front.ts'
import type { Report } from './report.ts'

/** What a frontmatter says; the body is not its matter. */
export type DocumentHead = Omit<SkillDocument, 'body'>

interface HeadOptions {
  readonly directoryName: string | undefined
  readonly report: Report
  /** What follows the frontmatter, where it is known: a description may have slipped there. */
  readonly body?: string
}

/** Reads every field and reports what is odd about it. */
export function readHead(front: Frontmatter, { directoryName, report, body = '' }: HeadOptions): DocumentHead {
  const name = readName(front, directoryName, report)
  const description = readDescription(front, report, body)
  const license = readTextField(front, 'license', report)
  const compatibility = readCompatibility(front, report)
  reportTypos(front, report)
  return {
    name,
    description,
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    allowedTools: readAllowedTools(front, report),
    arguments: readArguments(front, report),
    invocation: {
      model: !readFlag(front, 'disable-model-invocation', { fallback: false, report }),
      user: readFlag(front, 'user-invocable', { fallback: true, report }),
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
    if (right !== undefined) report.add('key-similar', front.place(key), key, right)
    const value = front.values[key]
    if (typeof value === 'string' && CURLY_QUOTES.test(value)) report.add('curly-quotes', front.place(key), key)
  }
}
