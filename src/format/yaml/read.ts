import { Composer, type ParsedNode, type YAMLError } from 'yaml'
import { FORMAT_CODES } from '../report.ts'
import { inspect, tokenize, type YamlProblem } from './inspect.ts'
import { keyProblems } from './values.ts'

/** A YAML text, read strictly. `root` is undefined when a problem forbids its use, null when the text is empty. */
export interface YamlRead {
  readonly root: ParsedNode | null | undefined
  readonly problems: readonly YamlProblem[]
}

/** True when a problem makes the text unusable. */
export function isFatal(problem: YamlProblem): boolean {
  return FORMAT_CODES[problem.code].severity === 'error'
}

/**
 * Parses one YAML 1.2 document with the core schema, and refuses what skills may not use. Time is linear in the text: the
 * library's own check for unique keys is quadratic and stays off, ours looks into a set.
 */
export function readYaml(text: string): YamlRead {
  const lexed = tokenize(text)
  if ('problem' in lexed) return { root: undefined, problems: [lexed.problem] }
  const problems = inspect(lexed.tokens)
  if (problems.some(isFatal)) return { root: undefined, problems }
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
  })
  for (const document of composer.compose(lexed.tokens, true, text.length)) {
    const errors = document.errors.map(asProblem)
    if (errors.length > 0) return { root: undefined, problems: [...problems, ...errors] }
    const found = keyProblems(document.contents)
    return { root: found.length > 0 ? undefined : document.contents, problems: [...problems, ...found] }
  }
  return { root: null, problems }
}

const PLAIN_WORDS: Readonly<Record<string, readonly [message: string, fix: string]>> = {
  BLOCK_AS_IMPLICIT_KEY: ['a second ": " in an unquoted value', 'put quotes around the whole value'],
  BAD_SCALAR_START: ['an unquoted value may not begin with this character', 'put quotes around the whole value'],
  TAB_AS_INDENT: ['a tab is used as indentation', 'indent with spaces'],
  MISSING_CHAR: ['', 'close the bracket or quote, or put quotes around the whole value'],
  BAD_INDENT: ['', 'indent the keys of one mapping equally'],
  MULTILINE_IMPLICIT_KEY: ['', 'check that the line has the form key: value, with a space after the colon'],
  UNEXPECTED_TOKEN: ['', 'put quotes around the whole value'],
}

function asProblem(error: YAMLError): YamlProblem {
  if (error.message.endsWith('at node end')) {
    const message = 'text follows where the value has ended'
    return { code: 'yaml-invalid', message, offset: error.pos[0], fix: 'put quotes around the whole value' }
  }
  const row = PLAIN_WORDS[error.code]
  const fix = row?.[1]
  return { code: 'yaml-invalid', message: row?.[0] || error.message, offset: error.pos[0], ...(fix ? { fix } : {}) }
}
