import type { InstallSpec, JsonValue, Requirements, SkillMetadata } from '../../kernel/index.ts'
import { isWebAddress, osNames } from '../fields/gating-values.ts'
import { ALIASES, TOP_LEVEL } from '../fields/metadata-keys.ts'
import { hasOnlyText } from './influence.ts'
import { hashOf, KIND } from './nodes.ts'
import type { Scanner } from './scan.ts'
import { keyOf, textOf, valueOf } from './values.ts'

const NONE: readonly never[] = Object.freeze([])
const NO_REQUIREMENTS: Requirements = Object.freeze({ bins: NONE, anyBins: NONE, env: NONE, config: NONE })
const METADATA = hashOf('metadata')
const ALIAS_HASHES: ReadonlySet<number> = new Set(ALIASES.map(hashOf))
const FIELD_HASHES: ReadonlySet<number> = new Set([...TOP_LEVEL, 'always', 'skillKey'].map(hashOf))

/** Fields while they are collected. */
type Draft = { -readonly [field in keyof SkillMetadata]?: SkillMetadata[field] | undefined }

/**
 * The gating part of what was scanned, without a detour over objects, when it is written as nearly everybody does: one block below
 * `metadata`, every field of its proper form. Else undefined, and `fields/metadata.ts` reads it.
 */
export function readPlainMetadata(scanner: Scanner): SkillMetadata | undefined {
  const block = findBlock(scanner)
  if (block === undefined || scanner.nodes.kind(block) !== KIND.map) return undefined
  const { nodes } = scanner
  const draft: Draft = {}
  for (let node = block + 1; node < nodes.next(block); node = nodes.next(node)) {
    if (FIELD_HASHES.has(nodes.keyHash(node)) && !takeField(scanner, node, draft)) return undefined
  }
  return finish(draft)
}

/** Fields that are always there. */
function finish(draft: Draft): SkillMetadata {
  draft.os ??= NONE
  draft.requires ??= NO_REQUIREMENTS
  draft.install ??= NONE
  draft.always ??= false
  return draft as SkillMetadata
}

/** The only place that gates. */
function findBlock({ nodes }: Scanner): number | undefined {
  let block: number | undefined
  for (let top = 1; top < nodes.count; top = nodes.next(top)) {
    const hash = nodes.keyHash(top)
    if (FIELD_HASHES.has(hash)) return undefined
    if (hash !== METADATA) continue
    for (let node = top + 1; node < nodes.next(top); node = nodes.next(node)) {
      const own = nodes.keyHash(node)
      if (FIELD_HASHES.has(own) || (block !== undefined && ALIAS_HASHES.has(own))) return undefined
      if (ALIAS_HASHES.has(own)) block = node
    }
  }
  return block
}

/** False when the field has another form than the proper one. */
function takeField(scanner: Scanner, node: number, draft: Draft): boolean {
  const key = keyOf(scanner, node)
  switch (key) {
    case 'emoji':
    case 'primaryEnv':
    case 'skillKey':
      return (draft[key] = words(scanner, node)) !== undefined
    case 'homepage':
      draft.homepage = words(scanner, node)
      return draft.homepage !== undefined && isWebAddress(draft.homepage)
    case 'always':
      draft.always = textOf(scanner, node) === 'true'
      return scanner.nodes.kind(node) === KIND.word && /^(?:true|false)$/.test(textOf(scanner, node))
    case 'os': {
      const names = list(scanner, node)
      draft.os = names === undefined ? NONE : osNames(names)
      return names !== undefined
    }
    case 'requires':
      return (draft.requires = requirements(scanner, node)) !== undefined
    case 'install':
      return (draft.install = installSpecs(scanner, node)) !== undefined
    default:
      return false
  }
}

function words(scanner: Scanner, node: number): string | undefined {
  const text = hasOnlyText(scanner.nodes.kind(node)) ? textOf(scanner, node).trim() : ''
  return text === '' ? undefined : text
}

/** Different texts, or undefined. */
function list(scanner: Scanner, self: number): readonly string[] | undefined {
  const { nodes } = scanner
  if (nodes.kind(self) !== KIND.list) return undefined
  const texts: string[] = []
  for (let node = self + 1; node < nodes.next(self); node = nodes.next(node)) {
    const text = words(scanner, node)
    if (text === undefined || texts.includes(text)) return undefined
    texts.push(text)
  }
  return texts
}

function requirements(scanner: Scanner, self: number): Requirements | undefined {
  const { nodes } = scanner
  if (nodes.kind(self) !== KIND.map) return undefined
  const found = {
    bins: NONE as readonly string[],
    anyBins: NONE as readonly string[],
    env: NONE as readonly string[],
    config: NONE as readonly string[],
  }
  for (let node = self + 1; node < nodes.next(self); node = nodes.next(node)) {
    const key = keyOf(scanner, node)
    // These may stand here as well, which is rare.
    if (key === 'os' || key === 'primaryEnv' || key === 'install') return undefined
    if (key !== 'bins' && key !== 'anyBins' && key !== 'env' && key !== 'config') continue
    const names = list(scanner, node)
    if (names === undefined) return undefined
    found[key] = names
  }
  return found
}

function installSpecs(scanner: Scanner, self: number): readonly InstallSpec[] | undefined {
  const { nodes } = scanner
  if (nodes.kind(self) !== KIND.list) return undefined
  const specs: InstallSpec[] = []
  for (let node = self + 1; node < nodes.next(self); node = nodes.next(node)) {
    const spec = installSpec(scanner, node, specs.length)
    if (spec === undefined) return undefined
    specs.push(spec)
  }
  return specs
}

/** Fields of an install entry while they are collected. */
interface SpecDraft {
  id?: string
  kind?: string
  label?: string
  bins: readonly string[]
  os: readonly string[]
  readonly details: Record<string, JsonValue>
}

function installSpec(scanner: Scanner, self: number, index: number): InstallSpec | undefined {
  const { nodes } = scanner
  if (nodes.kind(self) !== KIND.map) return undefined
  const draft: SpecDraft = { bins: NONE, os: NONE, details: Object.create(null) as Record<string, JsonValue> }
  for (let node = self + 1; node < nodes.next(self); node = nodes.next(node)) {
    if (!takeSpecField(scanner, node, draft)) return undefined
  }
  const { id, kind, label, bins, os, details } = draft
  if (kind === undefined) return undefined
  const named = { id: id ?? `${kind}-${index + 1}`, kind: kind.toLowerCase() }
  return label === undefined ? { ...named, bins, os, details } : { ...named, label, bins, os, details }
}

function takeSpecField(scanner: Scanner, node: number, draft: SpecDraft): boolean {
  const key = keyOf(scanner, node)
  if (key === 'id' || key === 'kind' || key === 'label') {
    const text = words(scanner, node)
    if (text !== undefined) draft[key] = text
    return text !== undefined
  }
  if (key === 'bins' || key === 'os') {
    const names = list(scanner, node)
    if (names !== undefined) draft[key] = key === 'os' ? osNames(names) : names
    return names !== undefined
  }
  draft.details[key] = valueOf(scanner, node)
  return true
}
