/** invalid-setting: the facts about a setting that does not fit the schema, for its message. */
import type * as v from 'valibot'
import { type JsonValue, nearest, toSafeLine } from '../../kernel/index.ts'
import { type Message, notApplied } from '../messages.ts'
import { POLICY_WORDS } from '../schema/agents.ts'
import { exampleOf } from '../schema/example.ts'
import { choicesOf, holdsOf, knownPaths, type Schema, settingAt } from '../schema/walk.ts'
import { shownValue } from '../secrets/mask.ts'
import { type Path } from './path.ts'
import { shownKey, shownKeyAt } from './shown-key.ts'

export type Issue = v.BaseIssue<unknown>

/** The words about it, once it is known how the file calls its settings. */
export type Worded = (nameOf: (path: Path) => string) => Message

/** Never has the text of a string, and a number only where `schema` marks it as public. */
export function describe(value: unknown, schema: Schema | undefined): string {
  if (value === null || value === undefined) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a map'
  if (typeof value === 'string') return value === '' ? 'an empty string' : 'a string'
  const isPublic = shownValue(value as JsonValue, schema) === value
  if (typeof value === 'number') return isPublic ? `the number ${value}` : 'a number'
  return isPublic ? String(value) : 'true or false'
}

/** The message for an issue of valibot; `schema` is that of the value. */
export function issueMessage(issue: Issue, at: Path, schema: Schema | undefined): Worded {
  const last = issue.path?.at(-1)
  if (issue.input === undefined) {
    const [choice] = choicesAt(at, schema)
    const example = choice === undefined ? lineOf(at, schema) : `${String(at.at(-1))}: ${choice}`
    return (nameOf) => ({
      code: 'config-missing-key',
      message: `${nameOf(at)} is missing. What needs it is not applied.`,
      fix: `Add it, such as: ${example}`,
    })
  }
  if (last !== undefined && 'origin' in last && last.origin === 'key' && issue.kind === 'validation')
    return (nameOf) => ({
      code: 'config-bad-key',
      message: `"${shownKeyAt(at, true)}" is not applied. It is not a valid name in ${nameOf(at.slice(0, -1))}.`,
      fix: `Write ${wantedBy(issue)}.`,
    })
  const choices = choicesAt(at, schema)
  if (issue.kind !== 'validation' && choices.length === 0)
    return wrongType(at, issue.input, { wanted: typesOf(issue), schema })
  return wrongValue(issue, at, schema)
}

interface Expected {
  readonly wanted: string
  readonly schema: Schema | undefined
}

export function wrongType(at: Path, input: unknown, { wanted, schema }: Expected): Worded {
  const example = `Write it as, for example: ${lineOf(at, schema)}`
  const tilde = holdsOf(schema) === 'path' ? '. In YAML, ~ without quotes is empty: write "~"' : ''
  const fix = input === null ? `Give it a value, for example: ${lineOf(at, schema)}${tilde}` : example
  const why = `It must be ${wanted}; it is ${describe(input, schema)}.`
  return (nameOf) => notApplied('config-wrong-type', nameOf(at), why, fix)
}

/** A key of policy where no policy is read: who denies a tool there would believe that it is denied. */
export function misplacedPolicy(at: Path): Worded {
  const word = policyWord(String(at.at(-1))) ?? 'deny'
  return (nameOf) => ({
    code: 'config-misplaced-policy',
    message: `${nameOf(at)} has no effect here. Every agent has its own policy.`,
    fix: `Move it to agents[].tools.${word}, such as: agents: [{ id: main, tools: { ${word}: [run_command] } }]`,
  })
}

export function reservedName(at: Path): Worded {
  return (nameOf) => notApplied('config-bad-key', nameOf(at), 'JavaScript reserves its name.', 'Write another name.')
}

/** Keys that occur in many sections: one elsewhere gives no hint. */
const COMMON_KEYS: readonly string[] = ['name', 'type', 'path', 'url', 'id', 'mode', 'provider']

/** Settings that earlier versions had, each with what holds instead. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ['execution.workspace.mode', 'In a sandbox, commands work in layers or a copy of the workspace.'],
  ['execution.mode', 'execution.sandbox says where commands run.'],
])

/** The nearest key of the same map comes first; one elsewhere only where none is near. */
export function unknownKey(at: Path, schema: Schema): Worded {
  const [name, above] = [String(at.at(-1)), at.slice(0, -1)]
  const removed = REMOVED.get(at.join('.'))
  if (removed !== undefined)
    return (nameOf) => ({
      code: 'config-unknown-key',
      message: `${nameOf(at)} was removed and is not applied. ${removed}`,
      fix: `Delete "${shownKey(name)}" on this line.`,
    })
  const known = Object.keys(schema.entries ?? {})
  const near = nearest(name, known)
  const policy = policyWord(name)
  const isCommon = above.length > 0 && COMMON_KEYS.includes(name)
  const moved = isCommon ? undefined : knownPaths().find((path) => path.endsWith(`.${name}`))
  const other = policy === undefined ? moved : `agents[].tools.${policy}`
  const hint = other === undefined ? '' : `Did you mean ${other}? `
  return (nameOf) => ({
    code: 'config-unknown-key',
    message: `"${shownKey(name)}" is not applied. ${above.length === 0 ? 'nexus.yaml' : nameOf(above)} has no setting of this name.`,
    fix: near === undefined ? `${hint}Use one of: ${known.join(', ')}.` : `Did you mean "${near}"?`,
  })
}

/** The word of an agent's policy that a key means, however it is capitalised. */
export function policyWord(key: string): string | undefined {
  return POLICY_WORDS.find((word) => word === key.trim().toLowerCase())
}

/** Longer values are cut. */
const MAX_SHOWN = 60

function wrongValue(issue: Issue, at: Path, schema: Schema | undefined): Worded {
  const { input } = issue
  const choices = choicesAt(at, schema)
  const isPublic = input !== '' && (choices.length > 0 || shownValue(input as JsonValue, schema) === input)
  const found =
    isPublic && typeof input === 'string' ? `"${toSafeLine(input).slice(0, MAX_SHOWN)}"` : describe(input, schema)
  const near = typeof input === 'string' ? nearest(input, choices) : undefined
  const wanted = choices.length > 0 ? `one of ${choices.join(', ')}` : wantedBy(issue)
  const example = choices[0] === undefined ? lineOf(at, schema) : `${shownKeyAt(at, true)}: ${choices[0]}`
  const fix = near === undefined ? `Write it as, for example: ${example}` : `Did you mean "${near}"?`
  return (nameOf) => notApplied('config-wrong-value', nameOf(at), `It must be ${wanted}; it is ${found}.`, fix)
}

/** The values that are allowed at a path; of a variant only for the key that chooses the option. */
function choicesAt(at: Path, schema: Schema | undefined): readonly string[] {
  return schema?.type === 'variant' && schema.key !== at.at(-1) ? [] : choicesOf(schema)
}

/** The setting as a line with an example: `maxIterations: 50`. An item of a list has no key. */
function lineOf(at: Path, schema: Schema | undefined): string {
  // In a map of names, a setting of a member lacks the name.
  const key = Object.hasOwn(schema?.entries ?? {}, String(at.at(-1))) ? 'name' : at.at(-1)
  const outer = schema?.type === 'number' ? settingAt(at, schema) : schema
  const example = exampleOf(outer)
  return typeof key === 'string' ? `${shownKeyAt([...at.slice(0, -1), key], true)}: ${example}` : example
}

/** Where a pattern is behind a requirement, the schema has the words. */
function wantedBy(issue: Issue): string {
  const { requirement } = issue as Issue & { requirement?: unknown }
  switch (issue.type) {
    case 'integer':
      return 'a whole number'
    case 'min_value':
      return `a number of at least ${String(requirement)}`
    case 'max_value':
      return `a number of at most ${String(requirement)}`
    case 'min_length':
      return 'a string that is not empty'
    default:
      return issue.message
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'a map',
}

/** `(string | Object)` of valibot in words. */
function typesOf({ expected }: Issue): string {
  const names = (expected ?? '').replace(/[()]/g, '').split(' | ')
  return [...new Set(names.map((name) => TYPES[name] ?? 'a value'))].join(' or ')
}
