import { isMap, isScalar, isSeq, type ParsedNode, Scalar } from 'yaml'
import { CLIENT_BLOCKS, firstUnseen, unseenIn, withoutUnseen } from '../../../kernel/index.ts'
import { REQUIREMENTS, TOP_LEVEL } from '../fields/table.ts'
import { found } from '../messages/messages.ts'
import type { YamlProblem } from '../report.ts'
import { NOT_PROSE } from './prose.ts'
import { keyText } from '../../../yaml/index.ts'

const KNOWN: ReadonlySet<string> = new Set([
  ...['name', 'description', 'metadata', 'always', 'skillKey'],
  ...[...NOT_PROSE, ...CLIENT_BLOCKS, ...TOP_LEVEL, ...REQUIREMENTS],
])

/** Keys with a character that readers take for a space or do not see, and that YAML takes for a letter. */
export function oddBlanks(root: ParsedNode | null, text: string): YamlProblem[] {
  const problems: YamlProblem[] = []
  if (firstUnseen(text) >= 0) visit(root, problems)
  return problems
}

function visit(node: ParsedNode | null, problems: YamlProblem[]): void {
  if (isSeq(node)) for (const item of node.items) visit(item as ParsedNode | null, problems)
  else if (isMap(node)) {
    for (const { key, value } of node.items) {
      checkKey(key, problems)
      visit(value as ParsedNode | null, problems)
    }
  }
}

/** A key that begins with such a character seems to be indented; a known key with one seems to be known. */
function checkKey(key: unknown, problems: YamlProblem[]): void {
  const name = keyText(key) ?? ''
  const at = firstUnseen(name)
  const seen = withoutUnseen(name)
  const isPlain = isScalar(key) && key.type === Scalar.PLAIN
  if (!isScalar(key) || at < 0 || !(KNOWN.has(seen) || (at === 0 && isPlain))) return
  problems.push({
    ...found('odd-space', unseenIn(name), seen),
    offset: (key.range?.[0] ?? 0) + (isPlain ? 0 : 1) + at,
  })
}
