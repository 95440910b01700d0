import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Diagnostic, isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import { collectFindings, type Finding, type Findings } from './document/findings.ts'
import { copyValue, partAt, removeParts } from './document/parts.ts'
import { nameOf } from './document/problems.ts'
import type { PathKey, YamlFile } from './document/read-yaml.ts'
import { type Environment, expandHome } from './environment.ts'
import type { ConfigDocument } from './schema.ts'

/** A value that was left out because a variable is not set. */
export interface Unset {
  readonly keys: readonly PathKey[]
  readonly variable: string
}

/** A document whose paths are absolute and whose references are replaced. */
export interface Resolved {
  readonly document: ConfigDocument
  readonly diagnostics: readonly Diagnostic[]
  readonly secrets: readonly string[]
  readonly unset: readonly Unset[]
}

interface Place {
  readonly file: YamlFile
  /** What relative paths start from. */
  readonly directory: string
  readonly environment: Environment
}

/** How a text at some place is read. `literal` may hold `${` as it likes; `plain` may not hold references. */
type Use = 'literal' | 'plain' | 'value' | 'secret' | 'path'

const MAX_SECRET_BYTES = 64 * 1024
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g

/**
 * Replaces `${NAME}` and references to secrets, and makes paths absolute. What needs a variable that is not set is left
 * out with a warning, at most the entry or source around it. `$${` stands for `${`. Reads files that hold secrets.
 */
export function resolveReferences(checked: ConfigDocument, place: Place): Resolved {
  const found: Found = { findings: collectFindings(place.file), secrets: new Set(), unset: [], remove: [] }
  const root = copyValue(checked as JsonObject) as JsonObject
  const document = visit(root, [], { ...place, root, found }) as JsonObject
  removeParts(document, found.remove)
  return {
    document: document as ConfigDocument,
    diagnostics: found.findings.list(),
    secrets: [...found.secrets],
    unset: found.unset,
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
  if (isEntryVariable(keys)) at.found.secrets.add(String(value))
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
        message: `${nameOf(keys)} cannot refer to a variable.`,
        fix: 'Write the value itself.',
      })
    return text
  }
  const expanded = expand(text, keys, at)
  if (expanded === undefined) return text
  if (isSecretPlace(keys) || isEntryVariable(keys)) at.found.secrets.add(expanded)
  return use === 'path' ? resolve(at.directory, expandHome(expanded, at.environment.home)) : expanded
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
      message: `${nameOf(keys)} has a "\${" that names no variable.`,
      fix,
    })
    return undefined
  }
  if (missing !== undefined) return leaveOut(missing, keys, at)
  return expanded
}

function leaveOut(variable: string, keys: readonly PathKey[], at: Visit): undefined {
  const unit = unitOf(keys)
  at.found.remove.push(unit)
  at.found.unset.push({ keys: unit, variable })
  const message = `${nameOf(keys)} refers to ${variable}, which is not set; ${nameOf(unit)} is left out.`
  report(keys, at, {
    code: 'config-env-unset',
    severity: 'warning',
    message,
    fix: `Set ${variable}, or remove the line.`,
  })
  return undefined
}

function readSecret(value: JsonObject, keys: readonly PathKey[], at: Visit): JsonValue {
  const [form, ...more] = Object.keys(value)
  const target = form === undefined ? undefined : value[form]
  if (form === undefined || more.length > 0) {
    at.found.remove.push(unitOf(keys))
    report(keys, at, {
      code: 'config-wrong-value',
      severity: 'error',
      message: `${nameOf(keys)} needs exactly one of env, file, command.`,
    })
    return ''
  }
  if (form === 'command') {
    at.found.remove.push(unitOf(keys))
    report(keys, at, {
      code: 'config-not-used',
      severity: 'warning',
      message: `${nameOf(keys)}: this version does not run commands for secrets; ${nameOf(unitOf(keys))} is left out.`,
      fix: 'Use a variable or a file.',
    })
    return ''
  }
  const secret =
    form === 'env'
      ? (at.environment.get(String(target)) ?? leaveOut(String(target), keys, at))
      : readSecretFile(String(target), keys, at)
  if (secret !== undefined) at.found.secrets.add(secret)
  return secret ?? ''
}

function readSecretFile(written: string, keys: readonly PathKey[], at: Visit): string | undefined {
  const path = resolve(at.directory, expandHome(written, at.environment.home))
  const refuse = (why: string): undefined => {
    at.found.remove.push(unitOf(keys))
    report(keys, at, {
      code: 'config-secret-unreadable',
      severity: 'warning',
      message: `${nameOf(keys)}: the file ${path} ${why}; ${nameOf(unitOf(keys))} is left out.`,
      fix: 'Write the secret into the file, readable by you.',
    })
  }
  try {
    const { size, mode } = statSync(path)
    if (size > MAX_SECRET_BYTES || (mode & 0o170000) !== 0o100000) return refuse('is not a small regular file')
    const secret = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    if (secret === '') return refuse('is empty')
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      report(keys, at, {
        code: 'config-secret-open',
        severity: 'warning',
        message: `Other users may read ${path}.`,
        fix: `chmod 600 ${path}`,
      })
    return secret
  } catch (error) {
    return refuse(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
}

function isEntryVariable(keys: readonly PathKey[]): boolean {
  return keys[0] === 'skills' && keys[1] === 'entries' && keys[3] === 'env'
}

function isSecretPlace(keys: readonly PathKey[]): boolean {
  const last = keys.at(-1)
  if (keys[0] === 'model') return keys.length === 2 && last === 'apiKey'
  if (keys[0] !== 'skills' || keys.length !== 4) return false
  return (keys[1] === 'entries' && last === 'apiKey') || (keys[1] === 'sources' && last === 'auth')
}

/** How texts are read, by the beginning of their path; the first row that fits counts, anything else is `plain`. */
const USES: readonly { readonly path: readonly string[]; readonly use: Use }[] = [
  { path: ['model'], use: 'value' },
  { path: ['agents', '*', 'instructions'], use: 'literal' },
  { path: ['tools', 'groups'], use: 'plain' },
  { path: ['tools'], use: 'secret' },
  { path: ['skills', 'entries'], use: 'secret' },
  { path: ['skills', 'sources'], use: 'value' },
  { path: ['skills', 'skill_dirs'], use: 'path' },
  { path: ['skills', 'load', 'extraDirs'], use: 'path' },
]

function useOf(keys: readonly PathKey[], root: JsonObject): Use {
  if (isLocalSource(keys, root) && keys[3] === 'path') return 'path'
  return USES.find(({ path }) => path.every((part, index) => part === '*' || part === keys[index]))?.use ?? 'plain'
}

function isLocalSource(keys: readonly PathKey[], root: JsonObject): boolean {
  return keys[1] === 'sources' && partAt(root, [...keys.slice(0, 3), 'type']) === 'local'
}

/** What is left out when the text at `keys` cannot be had: a source and a model are nothing without a part of them. */
function unitOf(keys: readonly PathKey[]): readonly PathKey[] {
  if (keys[0] === 'model') return keys[1] === 'apiKey' ? keys : ['model']
  return keys[0] === 'skills' && keys[1] === 'sources' ? keys.slice(0, 3) : keys
}

function report(keys: readonly PathKey[], { found }: Visit, finding: Finding): void {
  found.findings.add(keys, finding)
}
