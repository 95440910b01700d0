/** words: what is said about a setting that does not fit the schema. */
import type * as v from 'valibot'
import { type JsonValue, nearest, toSafeLine } from '../../kernel/index.ts'
import { POLICY_WORDS } from '../schema/agents.ts'
import { choicesOf, knownPaths, type Schema } from '../schema/walk.ts'
import { shownValue } from '../secrets/mask.ts'
import { type Path } from './path.ts'
import { nameOf, shownKey, shownKeyAt } from './shown-key.ts'

/** What valibot found. */
export type Issue = v.BaseIssue<unknown>

export interface Words {
  readonly code: string
  readonly message: string
  readonly fix?: string
}

/** What a value is, in words: without its text, and with a number only where `schema` marks it as public. */
export function describe(value: unknown, schema: Schema | undefined): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'a text'
  const isPublic = shownValue(value as JsonValue, schema) === value
  if (typeof value === 'number') return isPublic ? `the number ${value}` : 'a number'
  return isPublic ? String(value) : 'a truth value'
}

/** Words for an issue of valibot; `schema` is that of the value. */
export function issueWords(issue: Issue, at: Path, schema: Schema | undefined): Words {
  const last = issue.path?.at(-1)
  if (issue.input === undefined) return missing(at, schema)
  if (last !== undefined && 'origin' in last && last.origin === 'key' && issue.kind === 'validation') {
    const message = `"${shownKeyAt(at, true)}" cannot be a name in ${nameOf(at.slice(0, -1))}.`
    return { code: 'config-bad-key', message, fix: `Use ${valueWords(issue)}.` }
  }
  const choices = choicesOf(schema)
  return issue.kind === 'validation' || choices.length > 0
    ? wrongValue(issue, at, schema)
    : wrongType(at, issue.input, { wanted: typeWords(issue), schema })
}

/** How a form is written that is more than one word. */
const FORMS: Readonly<Record<string, string>> = {
  'a map': 'Write its settings below it, one a line, each as "key: value".',
  'a list': 'Write a list, such as [first, second].',
}

/** What should be at a path: in words, and the schema of it. */
interface Expected {
  readonly wanted: string
  readonly schema: Schema | undefined
}

export function wrongType(at: Path, input: unknown, { wanted, schema }: Expected): Words {
  const message = `${nameOf(at)} must be ${wanted}; found ${describe(input, schema)}.`
  const fix = input === null ? 'Give it a value, or remove the line.' : (meantBy(input, wanted) ?? FORMS[wanted])
  return { code: 'config-wrong-type', message, ...(fix !== undefined && { fix }) }
}

/** Without this, who denies a tool here would believe that it is denied. */
export function misplacedPolicy(at: Path): Words {
  const word = policyWord(String(at.at(-1))) ?? 'deny'
  const effect = word === 'deny' ? 'nothing is denied by it' : 'it would have no effect'
  return {
    code: 'config-misplaced-policy',
    message: `${nameOf(at)} stands where no policy is read; ${effect}.`,
    fix: `Every agent has its own: write it as agents[].tools.${word}, for the only agent there is without a list: agents: [{ id: main, tools: { ${word}: … } }].`,
  }
}

export function reservedName(at: Path): Words {
  const message = `${nameOf(at)} has a name that cannot be used.`
  return { code: 'config-bad-key', message, fix: 'Give it another name.' }
}

export function unknownKey(at: Path, schema: Schema, holder: object): Words {
  const [name, parent] = [String(at.at(-1)), at.slice(0, -1)]
  const known = Object.keys(schema.entries ?? {})
  // What must be there and is not was most likely meant, under whatever name.
  const lacking = known.filter((key) => schema.entries?.[key]?.type !== 'optional' && !Object.hasOwn(holder, key))
  const hint = nearest(name, known) ?? longer(name, known) ?? (lacking.length === 1 ? lacking[0] : undefined)
  return {
    code: 'config-unknown-key',
    message: `There is no setting "${shownKey(name)}"${parent.length === 0 ? '' : ` in ${nameOf(parent)}`}.`,
    fix: hint ? `Did you mean "${hint}"?` : `${elsewhere(name, parent)}Allowed here: ${known.join(', ')}.`,
  }
}

/** The word of an agent's policy that a key means, however it is capitalised. */
export function policyWord(key: string): string | undefined {
  return POLICY_WORDS.find((word) => word === key.trim().toLowerCase())
}

function missing(at: Path, schema: Schema | undefined): Words {
  const choices = choicesOf(schema)
  const choice = choices.length > 0 ? ` with one of ${choices.join(', ')}` : ''
  const message = `${nameOf(at)} is missing.`
  return { code: 'config-missing-key', message, fix: `Add "${String(at.at(-1))}:"${choice}.` }
}

/** Longer values are cut. */
const MAX_SHOWN = 60

function wrongValue(issue: Issue, at: Path, schema: Schema | undefined): Words {
  const { input } = issue
  const choices = choicesOf(schema)
  const isPublic = input !== '' && (choices.length > 0 || shownValue(input as JsonValue, schema) === input)
  const found =
    isPublic && typeof input === 'string' ? `"${toSafeLine(input).slice(0, MAX_SHOWN)}"` : describe(input, schema)
  const hint = typeof input === 'string' ? nearest(input, choices) : undefined
  const message = `${nameOf(at)} cannot be ${found}; allowed: ${choices.join(', ') || valueWords(issue)}.`
  return { code: 'config-wrong-value', message, ...(hint !== undefined && { fix: `Did you mean "${hint}"?` }) }
}

/** What would be right: the schema says it in words where a pattern is behind it. */
function valueWords(issue: Issue): string {
  const { requirement } = issue as Issue & { requirement?: unknown }
  switch (issue.type) {
    case 'integer':
      return 'a whole number'
    case 'min_value':
      return `a number of at least ${String(requirement)}`
    case 'max_value':
      return `a number of at most ${String(requirement)}`
    case 'min_length':
      return 'a text that is not empty'
    default:
      return issue.message
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'a map',
}

/** `(string | Object)` of valibot in words. */
function typeWords({ expected }: Issue): string {
  const names = (expected ?? '').replace(/[()]/g, '').split(' | ')
  return [...new Set(names.map((name) => TYPES[name] ?? 'a value'))].join(' or ')
}

const SWITCHES: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'y', 'on'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'off'].map((word) => [word, false] as const),
])

/** What a text means where none can be: the words of YAML 1.1, and values in quotes. */
function meantBy(input: unknown, wanted: string): string | undefined {
  if (typeof input !== 'string') return undefined
  const joined = wanted === TYPES['Object'] ? /^(\w+):\S/.exec(input)?.[1] : undefined
  if (joined !== undefined) return `Write a space after "${shownKey(joined)}:".`
  const meant = SWITCHES.get(input.trim().toLowerCase())
  if (wanted === TYPES['boolean'] && meant !== undefined)
    return String(meant) === input
      ? `Write ${meant} without quotes.`
      : `Write ${meant}: in YAML 1.2 "${input.trim()}" is a text.`
  return wanted === TYPES['number'] && /^\d{1,15}$/.test(input) ? `Write ${input} without quotes.` : undefined
}

/** These may stand for anything: that they are settings elsewhere says nothing. */
const COMMON_WORDS: readonly string[] = ['name', 'type', 'path', 'url', 'id', 'mode', 'provider']

/** A setting of that name, or nearly, that is elsewhere. */
function elsewhere(name: string, parent: Path): string {
  if (parent.length > 0 && COMMON_WORDS.includes(name)) return ''
  const policy = policyWord(name)
  if (policy !== undefined) return `Did you mean agents[].tools.${policy}? `
  const paths = knownPaths().toReversed()
  const byName = new Map(paths.map((path) => [path.slice(path.lastIndexOf('.') + 1), path]))
  const path = byName.get(name) ?? byName.get(nearest(name, byName.keys(), 1) ?? '')
  return path === undefined || !path.includes('.') ? '' : `Did you mean ${path}? `
}

/** The only setting that goes on where this one ends: "disabled" for "disabled_skills". */
function longer(name: string, candidates: readonly string[]): string | undefined {
  const [first, ...more] = candidates.filter((key) => key.toLowerCase().startsWith(name.toLowerCase()))
  return more.length === 0 ? first : undefined
}
