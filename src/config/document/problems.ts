import type * as v from 'valibot'
import { nearest } from '../../kernel/index.ts'
import { DURATION } from '../schema/parts.ts'
import { nameOf, shown } from './name-of.ts'
import { describe, type PathKey, type YamlFile } from './read-yaml.ts'
import { knownKeys, knownPaths, lackingKeys, type Misfit, policyWord } from './schema-walk.ts'

/** A part that cannot be used: where it is in the document, and what to say about it. */
export interface Problem extends Words {
  readonly keys: readonly PathKey[]
}

/** Everything below takes the keys as they are in the file: that is what they are called. */
interface Words {
  readonly code: string
  readonly message: string
  readonly fix?: string
}

/** What valibot found. */
export type Issue = v.BaseIssue<unknown>

/** Below these keys nothing of a value is ever shown. */
const SENSITIVE = new Set(['apiKey', 'auth', 'env', 'config', 'baseUrl', 'url'])

/** The problems behind one issue: of a union, those of the form that was meant. */
export function toProblems(
  issue: Issue,
  { inFile, parent = [] }: Pick<YamlFile, 'inFile'> & { readonly parent?: readonly PathKey[] },
): Problem[] {
  // All of these are misfits.
  if (issue.type === 'strict_object' && issue.expected === 'never') return []
  const keys = [...parent, ...(issue.path ?? []).map((item) => item.key as PathKey)]
  const inner = issue.type === 'union' ? (issue.issues ?? []) : []
  const isMap = typeof issue.input === 'object' && issue.input !== null
  const meant = inner.filter((one) => (isMap ? one.path !== undefined : one.kind === 'validation'))
  return meant.length > 0
    ? meant.flatMap((one) => toProblems(one, { inFile, parent: keys }))
    : [{ keys, ...toProblem(issue, inFile(keys)) }]
}

/** The problem behind a misfit. */
export function misfitProblem(
  { keys, type }: Misfit,
  { root, inFile }: Pick<YamlFile, 'inFile'> & { readonly root: unknown },
): Problem {
  if (type !== 'unknown-key') return { keys, ...misfitWords(inFile(keys), type) }
  const parent = keys.slice(0, -1)
  const names = { known: knownKeys(root, parent), lacking: lackingKeys(root, parent) }
  return { keys, ...unknownKey(inFile(keys), names) }
}

function misfitWords(keys: readonly PathKey[], type: Exclude<Misfit['type'], 'unknown-key'>): Words {
  switch (type) {
    case 'list-for-map':
      return wrongType(keys, [], 'a map')
    case 'list-for-text-or-map':
      return wrongType(keys, [], 'a text or a map')
    case 'misplaced-policy':
      return misplacedPolicy(keys)
    case 'reserved-name':
      return {
        code: 'config-bad-key',
        message: `${nameOf(keys)} has a name that cannot be used.`,
        fix: 'Give it another name.',
      }
  }
}

/** Somebody who denies a tool here would believe that it is denied. */
function misplacedPolicy(keys: readonly PathKey[]): Words {
  const word = policyWord(String(keys.at(-1))) ?? 'deny'
  const effect = word === 'deny' ? 'nothing is denied by it' : 'it would have no effect'
  return {
    code: 'config-misplaced-policy',
    message: `${nameOf(keys)} stands where no policy is read; ${effect}.`,
    fix: `Every agent has its own: write it as agents[].tools.${word}, for the only agent there is without a list: agents: [{ id: main, tools: { ${word}: … } }].`,
  }
}

function wrongType(keys: readonly PathKey[], input: unknown, wanted: string): Words {
  const message = `${nameOf(keys)} must be ${wanted}; found ${describe(input)}.`
  const fix = input === null ? 'Give it a value, or remove the line.' : meantBy(input, wanted)
  return { code: 'config-wrong-type', message, ...(fix !== undefined && { fix }) }
}

const SWITCHES: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'y', 'on'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'off'].map((word) => [word, false] as const),
])

/** What a text stands for where none can be: the words of YAML 1.1, and values in quotes. */
function meantBy(input: unknown, wanted: string): string | undefined {
  if (typeof input !== 'string') return undefined
  const meant = SWITCHES.get(input.trim().toLowerCase())
  if (wanted === WORDS['boolean'] && meant !== undefined)
    return String(meant) === input
      ? `Write ${meant} without quotes.`
      : `Write ${meant}: in YAML 1.2 "${shown(input)}" is a text.`
  if (wanted === WORDS['number'] && /^\d{1,15}$/.test(input)) return `Write ${input} without quotes.`
  return undefined
}

function toProblem(issue: Issue, keys: readonly PathKey[]): Words {
  const last = issue.path?.at(-1)
  const isKey = last !== undefined && 'origin' in last && last.origin === 'key'
  if (issue.input === undefined) return missing(issue, keys)
  if (isKey && issue.kind === 'validation') return badName(keys)
  if (issue.kind === 'validation' || issue.type === 'picklist' || issue.type === 'variant')
    return wrongValue(issue, keys)
  return wrongType(keys, issue.input, allowed(issue))
}

function missing(issue: Issue, keys: readonly PathKey[]): Words {
  const options = quoted(issue.type === 'variant' ? issue.expected : null)
  const choice = options.length > 0 ? ` with one of ${options.join(', ')}` : ''
  return {
    code: 'config-missing-key',
    message: `${nameOf(keys)} is missing.`,
    fix: `Add "${String(keys.at(-1))}:"${choice}.`,
  }
}

function unknownKey(
  keys: readonly PathKey[],
  { known, lacking }: { readonly known: readonly string[]; readonly lacking: readonly string[] },
): Words {
  const [name, parent] = [String(keys.at(-1)), keys.slice(0, -1)]
  // What must be there and is not was most likely meant, under whatever name.
  const hint = nearest(name, known) ?? longer(name, known) ?? (lacking.length === 1 ? lacking[0] : undefined)
  return {
    code: 'config-unknown-key',
    message: `There is no setting "${shown(name)}"${parent.length === 0 ? '' : ` in ${nameOf(parent)}`}.`,
    fix: hint ? `Did you mean "${hint}"?` : `${elsewhere(name, parent)}Allowed here: ${known.join(', ')}.`,
  }
}

/** Words that may stand for anything: that they are settings elsewhere says nothing. */
const COMMON_WORDS: readonly string[] = ['name', 'type', 'path', 'url', 'id', 'mode', 'provider']

/** A setting of that name, or nearly, that stands somewhere else. */
function elsewhere(name: string, parent: readonly PathKey[]): string {
  if (parent.length > 0 && COMMON_WORDS.includes(name)) return ''
  const policy = policyWord(name)
  if (policy !== undefined) return `Did you mean agents[].tools.${policy}? `
  const byName = new Map(
    knownPaths()
      .toReversed()
      .map((path) => [path.slice(path.lastIndexOf('.') + 1), path]),
  )
  const path = byName.get(name) ?? byName.get(nearest(name, byName.keys()) ?? '')
  return path === undefined || !path.includes('.') ? '' : `Did you mean ${path}? `
}

/** The only setting that goes on where this one ends: "disabled" for "disabled_skills". */
function longer(name: string, candidates: readonly string[]): string | undefined {
  const [first, ...more] = candidates.filter((key) => key.toLowerCase().startsWith(name.toLowerCase()))
  return more.length === 0 ? first : undefined
}

function badName(keys: readonly PathKey[]): Words {
  const name = shown(String(keys.at(-1)))
  const message = `"${name}" cannot be a name in ${nameOf(keys.slice(0, -1))}.`
  const fix =
    keys[0] === 'tools' ? `Write "group:${name}".` : 'Use letters, digits and underscores, such as GITHUB_TOKEN.'
  return { code: 'config-bad-key', message, fix }
}

function wrongValue(issue: Issue, keys: readonly PathKey[]): Words {
  const { input } = issue
  const isPlain = typeof input === 'string' && input !== ''
  const isSecret = keys.some((key) => SENSITIVE.has(String(key))) && issue.type !== 'picklist'
  const found = isPlain && !isSecret ? `"${shown(String(input))}"` : describe(input)
  const hint = typeof input === 'string' ? nearest(input, quoted(issue.expected)) : undefined
  const message = `${nameOf(keys)} cannot be ${found}; allowed: ${allowed(issue)}.`
  return { code: 'config-wrong-value', message, ...(hint !== undefined && { fix: `Did you mean "${hint}"?` }) }
}

/** What would be right, in words. */
function allowed(issue: Issue): string {
  const { type, requirement } = issue as Issue & { requirement?: unknown }
  const expected = issue.expected ?? ''
  switch (type) {
    case 'regex':
      return FORMS[expected] ?? `a text like ${expected}`
    case 'integer':
      return 'a whole number'
    case 'min_value':
      return `a number of at least ${String(requirement)}`
    case 'max_value':
      return `a number of at most ${String(requirement)}`
    case 'min_length':
      return 'a text that is not empty'
    case 'picklist':
    case 'variant':
      return quoted(expected).join(', ')
    default:
      return [
        ...new Set(
          expected
            .replace(/[()]/g, '')
            .split(' | ')
            .map((name) => WORDS[name] ?? 'a value'),
        ),
      ].join(' or ')
  }
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'a map',
}

/** The forms of the schema in words, by the expression that checks them. */
const FORMS: Readonly<Record<string, string>> = {
  '/^(https?:\\/\\/|\\$\\{)/': 'an http or https address',
  [String(DURATION)]: 'a duration such as 24h or 1h30m',
  '/^(openai|anthropic|openai-compatible)\\/.+$/':
    'provider/name, with openai, anthropic or openai-compatible as provider',
  '/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/': '1 to 64 letters, digits, dots, underscores and hyphens',
}

function quoted(expected: string | null): string[] {
  return [...(expected ?? '').matchAll(/"([^"]*)"/g)].map((match) => match[1] ?? '')
}
