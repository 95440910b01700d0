import { type Diagnostic, type JsonObject, type JsonValue, toSafeLine } from '../../kernel/index.ts'
import type { Layer } from '../config.ts'
import { checkDocument } from '../document/check-document.ts'
import { type Finding, placeFindings } from '../document/finding.ts'
import { parseSettings } from '../document/parse.ts'
import { copyValue, isInList, listOf, partAt, type Path, withoutGaps } from '../document/path.ts'
import { nameOf } from '../document/shown-key.ts'
import type { Environment } from '../environment.ts'
import { fileWithAgent, fromProfile, withProfilesLast } from '../profiles.ts'
import { CONFIG_DEFAULTS } from '../schema/defaults.ts'
import type { ConfigDocument, Settings } from '../schema/schema.ts'
import { crossCheck } from './cross-check.ts'
import { expandAgents, mergeDocuments, withDefaults } from './merge.ts'
import { resolveReferences, type Unset } from './references.ts'
import { findLost, type RecordedTrust } from '../trusted-settings.ts'
import { restrict } from './restrict.ts'
import { findUnused } from './unused.ts'

/** The text of a file, or settings in the form of one. */
export interface Input {
  readonly path: string
  readonly content: string | ConfigDocument
  /** Relative paths start here. */
  readonly directory: string
  readonly isTrusted: boolean
  /** The workspace's own file. */
  readonly isWorkspace: boolean
  /** The text is one agent. */
  readonly isProfile?: boolean
  /** Its trusted settings; absent where trust does not depend on what it says. */
  readonly recorded?: RecordedTrust
}

/** All files laid over each other. */
export interface Built {
  readonly document: ConfigDocument
  /** The document with its agents laid over those that they extend, and all defaults. */
  readonly settings: Settings
  readonly layers: readonly Layer[]
  readonly diagnostics: readonly Diagnostic[]
  readonly secrets: ReadonlySet<string>
  readonly unset: readonly Unset[]
  /** Settings that were edited since their file was trusted, by name. */
  readonly lost: readonly string[]
}

/** Checks each input, takes from untrusted ones what they may not say, replaces references, and merges. Never throws. */
export async function buildLayers(
  inputs: readonly Input[],
  { environment, settings }: { readonly environment: Environment; readonly settings: ConfigDocument },
): Promise<Built> {
  const so: Growing = {
    document: settings,
    layers: [{ path: 'environment', document: settings as JsonObject }],
    diagnostics: [],
    findings: [],
    secrets: new Set(),
    unset: [],
    lost: [],
  }
  for (const input of inputs) await addLayer(so, input, environment)
  so.document = withProfilesLast(so.document, so.layers)
  so.findings.push(...(await crossCheck(so.document, so.layers)))
  const fileOf = (path: string): Layer | undefined => so.layers.find((layer) => layer.path === path)
  const { agents = [] } = so.document
  const all = agents.length > 0 ? expandAgents(agents) : [{ id: CONFIG_DEFAULTS.agentId }]
  const expanded = { ...so.document, agents: all } as JsonObject
  const filled = withDefaults(expanded) as unknown as Settings
  return { ...so, settings: filled, diagnostics: [...so.diagnostics, ...(await placeFindings(so.findings, fileOf))] }
}

interface Growing extends Omit<Built, 'settings'> {
  document: ConfigDocument
  readonly layers: Layer[]
  readonly diagnostics: Diagnostic[]
  readonly findings: Finding[]
  readonly secrets: Set<string>
  unset: readonly Unset[]
  readonly lost: string[]
}

async function readInput({ path, content, isProfile }: Pick<Input, 'path' | 'content' | 'isProfile'>): Promise<{
  readonly value: JsonObject
  readonly diagnostics: readonly Diagnostic[]
}> {
  if (typeof content !== 'string') return { value: copyValue(content as JsonValue) as JsonObject, diagnostics: [] }
  const { value, diagnostics } = await parseSettings(content, path)
  return { value: isProfile ? fromProfile(value, path) : value, diagnostics }
}

async function addLayer(so: Growing, { path, content, ...input }: Input, environment: Environment): Promise<void> {
  const { isProfile = false } = input
  const { value, diagnostics } = await readInput({ path, content, isProfile })
  const checked = checkDocument({ path, value, isProfile })
  // A file that cannot be read says nothing about its settings, so none of them was removed.
  const { recorded } = diagnostics.some(({ severity }) => severity === 'error') ? {} : input
  const lost = input.isTrusted && recorded ? findLost(checked.document, path, recorded) : []
  so.lost.push(...lost.map(({ at }) => nameOf(at)))
  const isTrusted = input.isTrusted && lost.length === 0
  const base = withProfilesLast(so.document, so.layers)
  const file = { ...input, path, base }
  const allowed = restrict(checked.document, { ...file, isTrusted })
  const providers = so.document.secrets?.providers
  const place = { path, directory: input.directory, isProfile, environment, providers }
  const resolved = resolveReferences(allowed.document, place)
  const { document } = resolved
  const layer: Layer = {
    path,
    document: document as JsonObject,
    text: typeof content === 'string' ? content : undefined,
    isWorkspace: input.isWorkspace,
    isProfile,
  }
  so.diagnostics.push(...diagnostics)
  // An edit that lost trust is one finding, not one for each setting that waits again.
  so.findings.push(...checked.findings, ...lost, ...restrict(checked.document, file).findings)
  so.findings.push(...resolved.findings, ...findUnused(document, layer))
  const known = isTrusted ? so.layers : []
  so.findings.push(...findTwins(checked.document, layer, known))
  for (const secret of resolved.secrets) so.secrets.add(secret)
  const isReplaced = ({ keys }: Unset): boolean => isInList(keys) && partAt(document, listOf(keys)) !== undefined
  so.unset = [...so.unset.filter((each) => !isReplaced(each)), ...resolved.unset]
  so.layers.push(layer)
  so.document = mergeDocuments(so.document, withoutGaps(document as JsonObject) as ConfigDocument)
}

/** Two agents of one id in one file, whose rules would be merged; a profile of a known agent, whose file would show only a part of what applies. */
function findTwins(
  { agents = [] }: ConfigDocument,
  { path: file, isProfile }: Layer,
  known: readonly Layer[],
): Finding[] {
  const ids = agents.map((agent) => (agent as typeof agent | undefined)?.id)
  const twin = (at: Path, message: string): Finding => {
    const fix = 'Write another id, or move the settings into one of the two.'
    return { code: 'config-duplicate-agent', file, at, severity: 'error', message, fix }
  }
  return ids.flatMap((id, index) => {
    if (id === undefined) return []
    const other = isProfile ? fileWithAgent(id, known) : undefined
    if (other !== undefined)
      return [twin(['agents', index, 'id'], `The agent "${id}" of this profile is also in ${toSafeLine(other)}.`)]
    return ids.indexOf(id) < index ? [twin(['agents', index], `This file defines the agent "${id}" twice.`)] : []
  })
}
