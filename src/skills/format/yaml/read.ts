import { Composer, type CST, type ParsedNode, type YAMLError } from 'yaml'
import { FORMAT_CODES } from '../codes.ts'
import { found } from '../messages/messages.ts'
import type { SyntaxFault } from '../messages/yaml.ts'
import { oddBlanks } from './blanks.ts'
import { inspect, tokenize, type YamlProblem } from './inspect.ts'
import { keyProblems } from './values.ts'
import { bracketProblem, problemOf } from './faults.ts'

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

/**
 * Parses one YAML 1.2 document with the core schema, and refuses what skills may not use. Time is linear in the text: the
 * library's own check for unique keys is quadratic and stays off, ours looks into a set.
 */
export function readYaml(text: string): YamlRead {
  const conflict = text.search(CONFLICT.begin)
  if (conflict >= 0 && CONFLICT.middle.test(text.slice(conflict))) {
    const problem = { ...found('yaml-invalid', { kind: 'conflict' }), offset: conflict }
    return { root: undefined, problems: [problem] }
  }
  const lexed = tokenize(text)
  if ('problem' in lexed) return { root: undefined, problems: [lexed.problem] }
  const problems = inspect(lexed.tokens)
  if (problems.some(isFatal)) return { root: undefined, problems }
  for (const document of compose(lexed.tokens, text.length)) {
    if (document.errors.length > 0) {
      const errors = explained(document.errors, { text, tokens: lexed.tokens })
      return { root: undefined, problems: [...problems, ...errors] }
    }
    const found = keyProblems(document.contents)
    return {
      root: found.length > 0 ? undefined : document.contents,
      problems: [...problems, ...found, ...oddBlanks(document.contents, text)],
    }
  }
  return { root: null, problems }
}

function compose(tokens: readonly CST.Token[], length: number): ReturnType<Composer['compose']> {
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
  })
  return composer.compose(tokens, true, length)
}

/** The tree of a text in which only the syntax counts, not what skills may use of it; undefined when that has faults, too. */
export function readSyntax(text: string): ParsedNode | null | undefined {
  const lexed = tokenize(text)
  if ('problem' in lexed) return undefined
  for (const document of compose(lexed.tokens, text.length)) {
    return document.errors.length > 0 ? undefined : document.contents
  }
  return null
}

/** More than are ever listed; explaining one looks at the text again. */
const MAX_EXPLAINED = 50

function explained(
  errors: readonly YAMLError[],
  source: { readonly text: string; readonly tokens: readonly CST.Token[] },
): YamlProblem[] {
  const wrong = bracketProblem(source.text)
  if (wrong !== undefined) return [wrong]
  const first = errors.slice(0, MAX_EXPLAINED).map((error) => problemOf(error, source))
  const others = errors.slice(MAX_EXPLAINED).map(({ message, pos: [offset] }) => ({
    ...found('yaml-invalid', { kind: 'other', message }),
    offset,
  }))
  return [...onceALine(first, source.text), ...others]
}

/** The library often reports one cause twice; a missing comma also as what it makes of the rest of the line. */
function onceALine(problems: readonly YamlProblem[], text: string): YamlProblem[] {
  const reported = new Set<string>()
  const lineOf = ({ offset }: YamlProblem): number => text.lastIndexOf('\n', offset - 1)
  const commas = new Map<number, YamlProblem>()
  for (const problem of problems)
    if (hasKind(problem, ['comma']) && !commas.has(lineOf(problem))) commas.set(lineOf(problem), problem)
  return problems.filter((problem) => {
    const comma = commas.get(lineOf(problem))
    if (comma && comma !== problem && hasKind(problem, ['comma', 'separators', 'other'])) return false
    const key = `${lineOf(problem)} ${JSON.stringify(problem.facts)}`
    return reported.size < reported.add(key).size
  })
}

/** True for a problem with the syntax of one of these kinds. */
export function hasKind({ code, facts }: YamlProblem, kinds: readonly SyntaxFault['kind'][]): boolean {
  const [fault] = facts as readonly unknown[]
  return code === 'yaml-invalid' && kinds.includes((fault as SyntaxFault).kind)
}
