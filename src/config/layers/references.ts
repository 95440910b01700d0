import { resolve } from 'node:path'
import { isJsonObject, type JsonObject, type JsonValue, type Severity, shellWord } from '../../kernel/index.ts'
import type { Finding, Part } from '../document/finding.ts'
import { copyValue, partAt, type Path, removePart } from '../document/path.ts'
import { nameIn } from '../profiles.ts'
import type { Environment } from '../environment.ts'
import { expandHome } from '../home.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import type { Rules } from '../schema/parts.ts'
import { holdsOf, isSecret, rulesAlong, schemasAlong } from '../schema/walk.ts'
import { readSecretFile } from '../secrets/read-file.ts'
import { type Providers, readReference } from '../secrets/reference.ts'
import { type Message, notApplied } from '../messages.ts'

/** A value that was left out because what it refers to cannot be had. */
export interface Unset {
  readonly keys: Path
  /** Completes "the value …". */
  readonly problem: string
  readonly fix: string
}

/** A document whose paths are absolute and whose references are replaced. */
export interface Resolved extends Part {
  readonly secrets: ReadonlySet<string>
  readonly unset: readonly Unset[]
}

interface ReferenceContext {
  /** The file. */
  readonly path: string
  /** Relative paths start here. */
  readonly directory: string
  readonly isProfile?: boolean
  readonly environment: Environment
  /** `secrets.providers` of the files before this one. */
  readonly providers?: Providers
}

type Use = NonNullable<Rules['texts']> | 'path'

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g

/**
 * Replaces `${NAME}` and references to secrets, and makes paths absolute. What needs a variable that is not set is left
 * out with a warning, at most the entry or source around it. `$${` becomes `${`. Reads files that contain secrets.
 */
export function resolveReferences(checked: ConfigDocument, place: ReferenceContext): Resolved {
  const found: Found = { findings: [], secrets: new Set(), unset: [], remove: [] }
  const root = copyValue(checked as JsonObject) as JsonObject
  const written = (partAt(root, ['secrets', 'providers']) ?? {}) as JsonValue
  const own = visit(written, ['secrets', 'providers'], { ...place, root, found })
  const providers = { ...place.providers, ...(own as Providers) }
  const document = visit(root, [], { ...place, root, found, providers }) as JsonObject
  for (const at of found.remove) removePart(document, at)
  return { ...found, document: document as ConfigDocument }
}

interface Found {
  readonly findings: Finding[]
  readonly secrets: Set<string>
  readonly unset: Unset[]
  readonly remove: Path[]
}

interface Visit extends ReferenceContext {
  readonly root: JsonObject
  readonly found: Found
}

function visit(value: JsonValue, at: Path, place: Visit): JsonValue {
  if (isJsonObject(value)) {
    if (isSecret(at)) return readSecret(value, at, place)
    const map = Object.create(null) as Record<string, JsonValue>
    for (const [key, member] of Object.entries(value)) map[key] = visit(member, [...at, key], place)
    return map
  }
  if (Array.isArray(value)) return value.map((item, index) => visit(item, [...at, index], place))
  if (typeof value === 'string') return visitText(value, at, place)
  if (isSecret(at)) place.found.secrets.add(String(value))
  return value
}

function visitText(text: string, at: Path, place: Visit): JsonValue {
  const use = useOf(at, place.root)
  if (use === 'literal') return text
  if (use === 'plain') {
    if (!text.includes('${')) return text
    const why = 'Nexus replaces no variables in this setting.'
    const words = notApplied('config-env-not-here', nameIn(place)(at), why, 'Write the value itself.')
    report(place, at, { severity: 'error', ...words })
    return text
  }
  const expanded = expand(text, at, place)
  if (expanded === undefined) return text
  if (isSecret(at)) place.found.secrets.add(expanded)
  const isPath = use === 'path' || (use === 'module' && /^(?:\.{1,2}|~)?\//.test(expanded))
  return isPath ? resolve(place.directory, expandHome(expanded, place.environment.home)) : expanded
}

/** The text with its variables; undefined when it cannot be had, which is then reported and the part is left out. */
function expand(text: string, at: Path, place: Visit): string | undefined {
  const names = [...text.matchAll(REFERENCE)].filter(([match]) => match !== '$${').map(([, name]) => name)
  if (names.includes(undefined)) {
    place.found.remove.push(unitOf(at))
    const why = 'It contains ${ without a variable name and }.'
    const fix = 'Write ${NAME}. For a literal ${ write $${.'
    report(place, at, { severity: 'error', ...notApplied('config-env-syntax', nameIn(place)(at), why, fix) })
    return undefined
  }
  const values = new Map(names.map((name = '') => [name, place.environment.get(name)]))
  const missing = [...values].find(([, value]) => value === undefined)
  if (useOf(at, place.root) === 'secret' || isSecret(at))
    for (const value of values.values()) if (value !== undefined) place.found.secrets.add(value)
  if (missing !== undefined) return leaveOutVariable(missing[0], at, place)
  return text.replace(REFERENCE, (match, name = '') => (match === '$${' ? '${' : (values.get(name) ?? '')))
}

function leaveOutVariable(variable: string, at: Path, place: Visit): undefined {
  const isEmpty = place.environment.isSet(variable)
  const problem = `refers to ${variable}, which is ${isEmpty ? 'empty' : 'not set'}`
  const fix = isEmpty ? `Give ${variable} a value, or remove the line.` : `Set ${variable}, or remove the line.`
  leaveOut({ problem, fix }, at, place)
  reportLeftOut('config-env-unset', { problem, fix }, at, place)
}

/** Names the largest part that is left out with the value. */
function reportLeftOut(code: string, { problem, fix }: Omit<Unset, 'keys'>, at: Path, place: Visit): void {
  const [setting, unit] = [nameIn(place)(at), nameIn(place)(unitOf(at))]
  const why = `${setting === unit ? 'It' : setting} ${problem}.`
  report(place, at, { severity: 'warning', ...notApplied(code, unit, why, fix) })
}

function leaveOut(reason: Omit<Unset, 'keys'>, at: Path, { found }: Visit): void {
  found.remove.push(unitOf(at))
  found.unset.push({ keys: unitOf(at), ...reason })
}

/** Files are read at once, commands only when the secret is needed: what is left of them is the command in one form. */
function readSecret(value: JsonObject, at: Path, place: Visit): JsonValue {
  const reference = readReference(value, place.providers ?? {})
  switch (reference.type) {
    case 'wrong': {
      const { why, fix } = reference
      leaveOut({ problem: why, fix }, at, place)
      const words = notApplied('config-wrong-value', nameIn(place)(at), `It ${why}.`, fix)
      report(place, at, { severity: 'error', ...words })
      return ''
    }
    case 'command': {
      const [program = '', ...rest] = reference.command.command
      const command = [expandHome(program, place.environment.home), ...rest]
      return { ...reference.command, command } as unknown as JsonObject
    }
    case 'env':
      return keep(place.environment.get(reference.name) ?? leaveOutVariable(reference.name, at, place), place)
    case 'file':
      return keep(fromFile(reference, at, place), place)
  }
}

function keep(secret: string | undefined, { found }: Visit): string {
  if (secret !== undefined) found.secrets.add(secret)
  return secret ?? ''
}

function fromFile(
  written: { readonly path: string; readonly pointer?: string },
  at: Path,
  place: Visit,
): string | undefined {
  const path = resolve(place.directory, expandHome(written.path, place.environment.home))
  const read = readSecretFile(path, written.pointer)
  if (read.type === 'refused') {
    const problem = `refers to the file ${path}, which ${read.why}`
    const fix = `Write the secret into ${path}, and make it readable by you.`
    leaveOut({ problem, fix }, at, place)
    reportLeftOut('config-secret-unreadable', { problem, fix }, at, place)
    return undefined
  }
  if (read.isOpen) {
    const message = `Other users of this machine can read the secret in ${shellWord(path)}.`
    const fix = `Type: chmod 600 ${shellWord(path)}`
    report(place, at, { severity: 'warning', code: 'config-secret-open', message, fix })
  }
  return read.secret
}

function report({ path, found }: Visit, at: Path, words: Message & { readonly severity: Severity }): void {
  found.findings.push({ file: path, at, ...words })
}

function useOf(at: Path, root: JsonObject): Use {
  const use = rulesAlong(at).findLast(({ texts }) => texts !== undefined)?.texts ?? 'plain'
  return use !== 'module' && holdsOf(schemasAlong(root, at)[at.length]) === 'path' ? 'path' : use
}

/** The part that is left out when the text at `at` cannot be had. */
function unitOf(at: Path): Path {
  const unit = rulesAlong(at).findLastIndex(({ isUnit }) => isUnit)
  return unit === -1 ? at : at.slice(0, unit)
}
