import { isMap, isScalar, isSeq, type ParsedNode, Scalar } from 'yaml'
import { CLIENT_BLOCKS, firstUnseen, unseenIn, withoutUnseen } from '../../../kernel/index.ts'
import { keyText } from '../../../yaml/index.ts'
import { FIELD_NAMES, REQUIREMENTS, TOP_FORMS } from '../fields/table.ts'
import { found } from '../messages/messages.ts'
import type { YamlProblem } from '../report.ts'

const KNOWN: ReadonlySet<string> = new Set([
  ...['name', 'description', 'metadata', ...Object.keys(TOP_FORMS), ...FIELD_NAMES, ...REQUIREMENTS, ...CLIENT_BLOCKS],
])
/** Top-level keys whose mappings gate. */
const GATING_KEYS: ReadonlySet<string> = new Set(['metadata', 'requires', 'install'])

/** In YAML a comment of JSON would become part of the key behind it, which may gate. */
export function commentKeys(root: ParsedNode | null): YamlProblem[] {
  if (!isMap(root)) return []
  const gating = root.items.filter(({ key }) => GATING_KEYS.has(keyText(key) ?? '')).map(({ value }) => value)
  return keysIn(root.flow === true ? root : gating).flatMap((key) => {
    const sign = isScalar(key) && key.type === Scalar.PLAIN ? /^\/[/*]/.exec(key.source ?? '')?.[0] : undefined
    return sign === undefined
      ? []
      : [{ ...found('yaml-key-not-text', sign), offset: (key as unknown as ParsedNode).range[0] }]
  })
}

/**
 * Keys with a character that readers take for a space or do not see, and that YAML takes for a letter: a key that begins with one seems
 * to be indented, and a known key with one seems to be known.
 */
export function oddBlanks(root: ParsedNode | null, text: string): YamlProblem[] {
  if (firstUnseen(text) < 0) return []
  return keysIn(root).flatMap((key) => {
    const name = keyText(key) ?? ''
    const at = firstUnseen(name)
    const seen = withoutUnseen(name)
    const isPlain = isScalar(key) && key.type === Scalar.PLAIN
    if (!isScalar(key) || at < 0 || !(KNOWN.has(seen) || (at === 0 && isPlain))) return []
    return [{ ...found('odd-space', unseenIn(name), seen), offset: (key.range?.[0] ?? 0) + (isPlain ? 0 : 1) + at }]
  })
}

/** The keys of all mappings, in the order of the text. */
function keysIn(node: unknown): readonly unknown[] {
  if (Array.isArray(node)) return node.flatMap(keysIn)
  if (isSeq(node)) return node.items.flatMap(keysIn)
  return isMap(node) ? node.items.flatMap(({ key, value }) => [key, ...keysIn(value)]) : []
}
