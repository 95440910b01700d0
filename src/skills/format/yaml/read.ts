import type { ParsedNode } from 'yaml'
import { readYamlFully, readYamlTree, type YamlFault, type YamlLimits } from '../../../yaml/index.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { FORMAT_CODES, found } from '../messages/messages.ts'
import type { FrontmatterSyntax } from '../messages/yaml.ts'
import type { YamlProblem } from '../report.ts'
import { commentKeys, oddBlanks } from './keys.ts'
import { writtenText } from './values.ts'
import { lineFault } from './faults.ts'

/** A YAML text, read strictly. `root` is undefined when a problem forbids its use, null when the text is empty. */
export interface YamlRead {
  readonly root: ParsedNode | null | undefined
  readonly problems: readonly YamlProblem[]
}

/** A merge conflict of git; both sides together are no text that anyone wrote. */
const CONFLICT = { begin: /^<{7}(?: |$)/m, middle: /^={7}$/m }

/** True when a problem makes the text unusable. */
export function isFatal(problem: YamlProblem): boolean {
  return FORMAT_CODES[problem.code] === 'error'
}

const LIMITS: YamlLimits = {
  tokens: FORMAT_LIMITS.maxTokens,
  depth: FORMAT_LIMITS.maxDepth,
  keys: FORMAT_LIMITS.maxKeys,
  escapes: FORMAT_LIMITS.maxEscapes,
}
const UNITS: Readonly<Record<keyof YamlLimits, string>> = {
  tokens: 'tokens',
  depth: 'levels',
  keys: 'keys and list entries',
  escapes: 'backslashes in quotes',
}

/** Reads a frontmatter with the full parser, and refuses what skills may not use. */
export function readYaml(text: string): YamlRead {
  const conflict = text.search(CONFLICT.begin)
  if (conflict >= 0 && CONFLICT.middle.test(text.slice(conflict))) {
    const problem = { ...found('yaml-invalid', 'conflict'), offset: conflict }
    return { root: undefined, problems: [problem] }
  }
  const { root, faults } = readYamlFully(text, LIMITS)
  const problems = faults.map((fault) => asProblem(fault, text))
  if (root === undefined) return { root, problems }
  const comments = commentKeys(root)
  const all = [...problems, ...comments, ...oddBlanks(root, text)]
  return { root: comments.length > 0 ? undefined : root, problems: all }
}

function asProblem(fault: YamlFault, text: string): YamlProblem {
  const { offset } = fault
  switch (fault.kind) {
    case 'syntax':
      return {
        ...(fault.of === 'line' ? found('yaml-invalid', ...lineFault(text, offset)) : found('yaml-invalid', fault.of)),
        offset,
      }
    case 'too-complex':
      return { ...found('yaml-too-complex', fault.limit, UNITS[fault.of]), offset }
    case 'duplicate-key': {
      const { isLine, first, path } = fault
      const [a, b] = fault.values.map(writtenText)
      const values = a === undefined || b === undefined ? undefined : ([a, b] as const)
      return { ...found('yaml-duplicate-key', String(path.at(-1)), { isLine, values }), first, offset }
    }
    case 'multiple-documents':
    case 'merge-key':
    case 'key-not-text':
      return { ...found(`yaml-${fault.kind}`), offset }
    default: {
      const { source } = fault
      return {
        ...found(`yaml-${fault.kind}`, source.length > 40 ? `${source.slice(0, 40).toWellFormed()}…` : source),
        offset,
      }
    }
  }
}

/** The tree of a text in which only the syntax counts, not what skills may use of it; undefined when that has faults, too. */
export function readSyntax(text: string): ParsedNode | null | undefined {
  const document = readYamlTree(text, LIMITS.tokens)
  return document === undefined || document.errors.length > 0 ? undefined : document.contents
}

/** True for a problem with the syntax of that kind. */
export function isSyntax({ code, facts }: YamlProblem, kind: FrontmatterSyntax): boolean {
  return code === 'yaml-invalid' && facts[0] === kind
}
