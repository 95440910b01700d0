import type { Diagnostic, JsonObject, JsonValue } from '../../kernel/index.ts'
import type { Layer } from '../config.ts'
import { checkDocument, type Part } from '../document/check-document.ts'
import { collectFindings } from '../document/findings.ts'
import { copyValue, isInList, listOf, partAt } from '../document/parts.ts'
import { nameOf } from '../document/name-of.ts'
import { type PathKey, parseYaml, type YamlFile } from '../document/read-yaml.ts'
import type { Environment } from '../environment.ts'
import type { ConfigDocument } from '../schema/schema.ts'
import { toCanonical } from './canonical.ts'
import { crossCheck } from './cross-check.ts'
import { mergeDocuments } from './merge.ts'
import { resolveReferences, type Unset } from './references.ts'
import { restrictUntrusted } from './restrict.ts'
import { findUnused } from './unused.ts'
import { refuseUserOnly } from './user-only.ts'

/** The text of a file, or settings in the form of one. */
export interface Input {
  readonly path: string
  readonly content: string | ConfigDocument
  /** What relative paths start from. */
  readonly directory: string
  readonly isTrusted: boolean
  /** The workspace's own file. */
  readonly isWorkspace: boolean
}

/** All files laid over each other. */
export interface Built {
  readonly document: ConfigDocument
  readonly layers: readonly Layer[]
  readonly diagnostics: readonly Diagnostic[]
  readonly secrets: ReadonlySet<string>
  readonly unset: readonly Unset[]
}

/** Checks each input, takes from untrusted ones what they may not say, replaces references, and merges. Never throws. */
export function buildLayers(
  inputs: readonly Input[],
  { environment, settings }: { readonly environment: Environment; readonly settings: ConfigDocument },
): Built {
  const places = { locate: () => undefined, inFile: (keys: readonly PathKey[]) => keys }
  const base: Layer = { path: 'environment', document: settings as JsonObject, ...places }
  const so: Growing = { document: settings, layers: [base], diagnostics: [], secrets: new Set(), unset: [] }
  for (const input of inputs) addLayer(so, input, environment)
  so.diagnostics.push(...crossCheck(so.document, so.layers))
  return so
}

interface Growing extends Built {
  document: ConfigDocument
  readonly layers: Layer[]
  readonly diagnostics: Diagnostic[]
  readonly secrets: Set<string>
  unset: readonly Unset[]
}

function addLayer(so: Growing, input: Input, environment: Environment): void {
  const file = toFile(input)
  const checked = checkDocument(file)
  so.diagnostics.push(...file.diagnostics, ...checked.diagnostics)
  const allowed = allowedPart(checked, input, so.document)
  const resolved = resolveReferences(allowed.document, {
    file: allowed.file,
    directory: input.directory,
    environment,
    providers: so.document.secrets?.providers ?? {},
  })
  const { locate: find, inFile } = resolved.file
  const { document, locate, conflicts } = toCanonical(resolved.document, find)
  so.diagnostics.push(
    ...allowed.diagnostics,
    ...resolved.diagnostics,
    ...findUnused(document, { path: file.path, locate, inFile }),
    ...findTwins(checked),
    ...describeConflicts(conflicts, file),
  )
  for (const secret of resolved.secrets) so.secrets.add(secret)
  const isReplaced = ({ keys }: Unset): boolean => isInList(keys) && partAt(document, listOf(keys)) !== undefined
  so.unset = [...so.unset.filter((each) => !isReplaced(each)), ...resolved.unset]
  so.layers.push({ path: file.path, document: document as JsonObject, locate, inFile })
  so.document = mergeDocuments(so.document, document)
}

/** What of a file may count: all, all but what only the user says, or only what tightens. */
function allowedPart(checked: Part, { isTrusted, isWorkspace }: Input, base: ConfigDocument): Part {
  const { document, file } = checked
  if (!isTrusted) return restrictUntrusted(document, { base, file })
  return isWorkspace ? { ...refuseUserOnly(document, file), file } : { document, diagnostics: [], file }
}

function toFile({ path, content }: Input): YamlFile {
  if (typeof content === 'string') return parseYaml(content, path)
  const value = copyValue(content as JsonValue) as JsonObject
  return { path, value, diagnostics: [], locate: () => undefined, inFile: (keys) => keys }
}

/** Two agents of one name in one file: their rules are laid over each other, which nobody meant. */
function findTwins({ document: { agents = [] }, file }: Part): Diagnostic[] {
  const findings = collectFindings(file)
  const seen = new Set<string>()
  for (const [index, { id }] of agents.entries()) {
    const message = `There is already an agent "${id}" in this file.`
    const fix = 'Give it another id, or put the settings together.'
    if (seen.has(id))
      findings.add(['agents', index], { code: 'config-duplicate-agent', severity: 'error', message, fix })
    seen.add(id)
  }
  return findings.list()
}

function describeConflicts(conflicts: readonly (readonly (string | number)[])[], file: YamlFile): Diagnostic[] {
  const findings = collectFindings(file)
  for (const keys of conflicts) {
    const message = `${nameOf(keys)} is another name of execution.sandbox, and the two do not say the same.`
    findings.add(keys, { code: 'config-wrong-value', severity: 'error', message, fix: 'Keep one of them.' })
  }
  return findings.list()
}
