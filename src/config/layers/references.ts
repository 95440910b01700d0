import { resolve } from 'node:path'
import { type Diagnostic, isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import { collectFindings, type Finding, type Findings } from '../document/findings.ts'
import { withoutParts } from '../document/left-out.ts'
import { copyValue, partAt, removeParts } from '../document/parts.ts'
import { nameOf } from '../document/name-of.ts'
import type { PathKey, YamlFile } from '../document/read-yaml.ts'
import type { Environment } from '../environment.ts'
import { expandHome } from '../home.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { isSecretPlace, isSecretText } from '../secrets/places.ts'
import { readSecretFile } from '../secrets/read-file.ts'
import { type Providers, readReference } from '../secrets/reference.ts'
import { fits, isWithin } from './pattern.ts'

/** A value that was left out because what it refers to cannot be had. */
export interface Unset {
  readonly keys: readonly PathKey[]
  /** The variable that is not set, when that is the reason. */
  readonly variable?: string
  /** Completes "the value …". */
  readonly problem: string
  readonly fix: string
}

/** A document whose paths are absolute and whose references are replaced. */
export interface Resolved {
  readonly document: ConfigDocument
  readonly diagnostics: readonly Diagnostic[]
  readonly secrets: readonly string[]
  readonly unset: readonly Unset[]
  /** The file as seen from the document. */
  readonly file: YamlFile
}

interface Place {
  readonly file: YamlFile
  /** What relative paths start from. */
  readonly directory: string
  readonly environment: Environment
  /** `secrets.providers` of the files before this one. */
  readonly providers?: Providers
}

/** How a text at some place is read. `literal` may hold `${` as it likes; `plain` may not hold references. */
type Use = 'literal' | 'plain' | 'value' | 'secret' | 'path' | 'module'

const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g

/**
 * Replaces `${NAME}` and references to secrets, and makes paths absolute. What needs a variable that is not set is left
 * out with a warning, at most the entry or source around it. `$${` stands for `${`. Reads files that hold secrets.
 */
export function resolveReferences(checked: ConfigDocument, place: Place): Resolved {
  const found: Found = { findings: collectFindings(place.file), secrets: new Set(), unset: [], remove: [] }
  const root = copyValue(checked as JsonObject) as JsonObject
  const written = (partAt(root, ['secrets', 'providers']) ?? {}) as JsonValue
  const own = visit(written, ['secrets', 'providers'], { ...place, root, found })
  const providers = { ...place.providers, ...(own as Providers) }
  const document = visit(root, [], { ...place, root, found, providers }) as JsonObject
  removeParts(document, found.remove)
  return {
    document: document as ConfigDocument,
    diagnostics: found.findings.list(),
    secrets: [...found.secrets],
    unset: found.unset,
    file: withoutParts(place.file, found.remove),
  }
}

interface Found {
  readonly findings: Findings
  readonly secrets: Set<string>
  readonly unset: Unset[]
  readonly remove: (readonly PathKey[])[]
}

interface Visit extends Place {
  readonly root: JsonObject
  readonly found: Found
}

function visit(value: JsonValue, keys: readonly PathKey[], at: Visit): JsonValue {
  if (isSecretPlace(keys) && isJsonObject(value)) return readSecret(value, keys, at)
  if (Array.isArray(value)) return value.map((item, index) => visit(item, [...keys, index], at))
  if (isJsonObject(value)) {
    const map = Object.create(null) as Record<string, JsonValue>
    for (const [key, member] of Object.entries(value)) map[key] = visit(member, [...keys, key], at)
    return map
  }
  if (typeof value === 'string') return visitText(value, keys, at)
  if (isSecretText(keys)) at.found.secrets.add(String(value))
  return value
}

function visitText(text: string, keys: readonly PathKey[], at: Visit): JsonValue {
  const use = useOf(keys, at.root)
  if (use === 'literal') return text
  if (use === 'plain') {
    if (/\$\{/.test(text))
      report(keys, at, {
        code: 'config-env-not-here',
        severity: 'error',
        message: `${nameIn(at, keys)} cannot refer to a variable.`,
        fix: 'Write the value itself.',
      })
    return text
  }
  const expanded = expand(text, keys, at)
  if (expanded === undefined) return text
  if (isSecretText(keys)) at.found.secrets.add(expanded)
  const isPath = use === 'path' || (use === 'module' && /^(?:\.{1,2}|~)?\//.test(expanded))
  return isPath ? resolve(at.directory, expandHome(expanded, at.environment.home)) : expanded
}

/** The text with its variables; undefined when it cannot be had, which is then reported and the part is left out. */
function expand(text: string, keys: readonly PathKey[], at: Visit): string | undefined {
  let missing: string | undefined
  let isMalformed = false
  const isSecret = isSecretPlace(keys) || useOf(keys, at.root) === 'secret'
  const expanded = text.replace(REFERENCE, (match, name: string | undefined) => {
    if (match === '$${') return '${'
    if (name === undefined) isMalformed = true
    const value = name === undefined ? undefined : at.environment.get(name)
    if (value === undefined) missing ??= name
    else if (isSecret) at.found.secrets.add(value)
    return value ?? ''
  })
  if (isMalformed) {
    at.found.remove.push(unitOf(keys))
    const fix = 'Write ${NAME} with a name of letters, digits and underscores, or $${ for the characters themselves.'
    report(keys, at, {
      code: 'config-env-syntax',
      severity: 'error',
      message: `${nameIn(at, keys)} has a "\${" that names no variable.`,
      fix,
    })
    return undefined
  }
  if (missing !== undefined) return leaveOut(missing, keys, at)
  return expanded
}

function leaveOut(variable: string, keys: readonly PathKey[], at: Visit): undefined {
  const unit = unitOf(keys)
  const isEmpty = at.environment.isSet(variable)
  const fix = isEmpty ? `Give ${variable} a value, or remove the line.` : `Set ${variable}, or remove the line.`
  const problem = `refers to ${variable}, which is ${isEmpty ? 'empty' : 'not set'}`
  at.found.remove.push(unit)
  at.found.unset.push({ keys: unit, variable, problem, fix })
  const message = `${nameIn(at, keys)} ${problem}; ${nameIn(at, unit)} is left out.`
  report(keys, at, { code: 'config-env-unset', severity: 'warning', message, fix })
  return undefined
}

/** Files are read at once, commands only when the secret is needed: what is left of them is the command in one form. */
function readSecret(value: JsonObject, keys: readonly PathKey[], at: Visit): JsonValue {
  const reference = readReference(value, at.providers ?? {})
  switch (reference.type) {
    case 'wrong': {
      const { why, fix } = reference
      at.found.remove.push(unitOf(keys))
      at.found.unset.push({
        keys: unitOf(keys),
        problem: why,
        fix: fix ?? 'Correct it; nexus config check shows where.',
      })
      const message = `${nameIn(at, keys)} ${why}.`
      report(keys, at, { code: 'config-wrong-value', severity: 'error', message, ...(fix !== undefined && { fix }) })
      return ''
    }
    case 'command': {
      const [program = '', ...rest] = reference.command.command
      const command = [expandHome(program, at.environment.home), ...rest]
      return { ...reference.command, command } as unknown as JsonObject
    }
    case 'env':
      return keep(at.environment.get(reference.name) ?? leaveOut(reference.name, keys, at), at)
    case 'file':
      return keep(fromFile(reference, keys, at), at)
  }
}

function keep(secret: string | undefined, { found }: Visit): string {
  if (secret !== undefined) found.secrets.add(secret)
  return secret ?? ''
}

function fromFile(
  written: { readonly path: string; readonly pointer?: string },
  keys: readonly PathKey[],
  at: Visit,
): string | undefined {
  const path = resolve(at.directory, expandHome(written.path, at.environment.home))
  const read = readSecretFile(path, written.pointer)
  if (read.type === 'refused') {
    const fix = 'Write the secret into the file, readable by you.'
    at.found.remove.push(unitOf(keys))
    at.found.unset.push({ keys: unitOf(keys), problem: `refers to the file ${path}, which ${read.why}`, fix })
    const message = `${nameIn(at, keys)}: the file ${path} ${read.why}; ${nameIn(at, unitOf(keys))} is left out.`
    report(keys, at, { code: 'config-secret-unreadable', severity: 'warning', message, fix })
    return undefined
  }
  if (read.isOpen) {
    const message = `Other users may read ${path}.`
    report(keys, at, { code: 'config-secret-open', severity: 'warning', message, fix: `chmod 600 ${path}` })
  }
  return read.secret
}

/** How texts are read at and below a place; the first row that fits counts, anything else is `plain`. */
const USES: readonly (readonly [pattern: string, use: Use])[] = [
  ['agents.*.instructions', 'literal'],
  ['agents.*.permissions.allowedPaths', 'path'],
  ['agents.*.permissions.addBlockedPaths', 'path'],
  ['agents.*.permissions.toolOverrides.*.allowedPaths', 'path'],
  ['permissions.presets.*.allowedPaths', 'path'],
  ['permissions.presets.*.blockedPaths', 'path'],
  ['permissions.presets.*.tools.*.allowedPaths', 'path'],
  ['model', 'value'],
  ['tools.groups', 'plain'],
  ['tools', 'secret'],
  ['skills.entries', 'secret'],
  ['skills.sources', 'value'],
  ['skills.skill_dirs', 'path'],
  ['skills.load.extraDirs', 'path'],
  ['skills.custom', 'module'],
  ['search', 'value'],
  ['execution.e2b', 'value'],
  ['execution.filesystem', 'path'],
  ['store.path', 'path'],
  ['store.blobs.path', 'path'],
  ['store', 'value'],
  ['nats', 'value'],
  ['server', 'value'],
  ['mcp.servers.*.cwd', 'path'],
  ['mcp.servers', 'secret'],
  ['secrets.providers.*.path', 'path'],
  ['secrets.providers.*.args', 'literal'],
]

function useOf(keys: readonly PathKey[], root: JsonObject): Use {
  if (isLocalSource(keys, root) && keys[3] === 'path') return 'path'
  return USES.find(([pattern]) => isWithin(pattern, keys))?.[1] ?? 'plain'
}

function isLocalSource(keys: readonly PathKey[], root: JsonObject): boolean {
  return keys[1] === 'sources' && partAt(root, [...keys.slice(0, 3), 'type']) === 'local'
}

/** What is left out when the text at `keys` cannot be had: a source, a model and a server are nothing without a part of them. */
function unitOf(keys: readonly PathKey[]): readonly PathKey[] {
  if (fits('model.apiKey', keys)) return keys
  if (keys[0] === 'model') return ['model']
  return isWithin('skills.sources.*', keys) || isWithin('mcp.servers.*', keys) ? keys.slice(0, 3) : keys
}

function nameIn({ file }: Visit, keys: readonly PathKey[]): string {
  return nameOf(file.inFile(keys))
}

function report(keys: readonly PathKey[], { found }: Visit, finding: Finding): void {
  found.findings.add(keys, finding)
}
