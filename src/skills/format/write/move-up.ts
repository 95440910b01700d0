import { isMap, type Pair, type ParsedNode, type YAMLMap } from 'yaml'
import { CLIENT_BLOCKS } from '../../../kernel/index.ts'
import { parseJson5 } from '../json5.ts'
import { keyText } from '../../../yaml/index.ts'
import { mapToJson, writtenText } from '../yaml/values.ts'
import { emitEntries } from './emit.ts'
import type { Edit, Layout } from './layout.ts'
import { pairOf, type Region, regionOf, type Tree } from './region.ts'

/**
 * The fields below aliases moved one level up, line by line, so that their comments and quotes stay; undefined when `metadata` is not
 * of block style. Only for metadata whose aliases share no key with anything.
 */
export function movedUp(tree: Tree, layout: Layout, why: string): Edit[] | undefined {
  const metadata = pairOf(tree.root, 'metadata')?.value as ParsedNode | null | undefined
  if (!isMap(metadata) || metadata.flow === true || tree.root.flow === true) return undefined
  const edits: Edit[] = []
  for (const pair of (metadata as unknown as YAMLMap).items) {
    const edit = moveAlias(tree, layout, pair)
    if (edit === 'unknown') return undefined
    if (edit !== undefined) edits.push({ ...edit, why })
  }
  return edits
}

type Move = Omit<Edit, 'why'>

function moveAlias(tree: Tree, layout: Layout, pair: Pair): Move | 'unknown' | undefined {
  const alias = keyText(pair.key) ?? ''
  if (!(CLIENT_BLOCKS as readonly string[]).includes(alias)) return undefined
  const region = regionOf(tree, pair)
  if (region === undefined) return 'unknown'
  const value = pair.value
  if (isMap(value) && value.flow !== true) return dedented(layout, region, value as unknown as YAMLMap)
  const fields = isMap(value) ? mapToJson(value as unknown as YAMLMap) : parseJson5(writtenText(value) ?? '')
  if (fields === undefined) return undefined
  const indent = ' '.repeat(region.indent)
  const comments = region.comments.map((comment) => indent + comment)
  return { from: region.from, to: region.to, now: [...comments, ...emitEntries(fields, indent)] }
}

/** The lines below the alias with less indentation; a comment beside the alias gets a line of its own. */
function dedented(layout: Layout, { from, to, indent }: Region, fields: YAMLMap): Move | 'unknown' {
  const first = (fields.items[0]?.key as ParsedNode | null | undefined)?.range[0]
  const lines = layout.lines.slice(from, to).map(({ text }) => text)
  const below = lines.slice(1)
  const start = below.find((line) => /^ *[^ #]/.test(line))
  if (first === undefined || start === undefined) return 'unknown'
  const depth = start.search(/[^ ]/) - indent
  if (depth <= 0) return 'unknown'
  const beside = /:[ \t]+(#.*)$/.exec(lines[0] ?? '')?.[1]
  const moved = below.map((line) => line.slice(Math.min(depth, line.search(/[^ ]|$/))))
  return { from, to, now: beside === undefined ? moved : [' '.repeat(indent) + beside, ...moved] }
}
