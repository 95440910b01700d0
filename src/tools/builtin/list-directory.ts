import { below, codeOf, type Named, paceOf, type Tree } from '../../machine/files/index.ts'
import { type JsonObject, type Outcome, type Services, succeeded, type Tool, toSafeLine } from '../../kernel/index.ts'
import { defineTool } from '../define.ts'
import { atPath, type OpenPath, pathUse } from '../file-access/at-path.ts'
import { PATHS } from '../file-access/messages.ts'
import { failedBy, READS } from '../messages.ts'

/** Entries that are read of one directory, and of those that are shown at once. */
const MAX_READ = 10_000
const MAX_SHOWN = 1_000
/** Byte limit of the rows as JSON; the text repeats them. */
const MAX_BYTES = 45_000

/** `list_directory{path=".", offset?}` → `{path, items: [{name, type, size}]}`, by name. Source: contracts §3.2; `offset` is ours. */
export function createListDirectoryTool(services: Services): Tool {
  return defineTool({
    name: 'list_directory',
    description: 'List a directory: names, types and sizes of its entries. Relative paths begin in the workspace.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path of the directory', default: '.' },
        offset: { type: 'integer', minimum: 1, description: 'First entry to show, from 1' },
      },
    },
    execute: (args, context) =>
      atPath(services, pathUse('list_directory', args, context), (at) =>
        list(at, Number(args.offset ?? 1), context.signal),
      ),
  })
}

async function list(at: OpenPath, offset: number, signal: AbortSignal): Promise<Outcome> {
  const { tree, path, given, name, absolute } = at
  const listed = await entriesOf(at, signal)
  if (!listed) return failedBy('INVALID_PARAM', PATHS.file(given))
  const { entries, isComplete } = listed
  const rows = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(offset - 1)
  const items = withinLimits(tree, path, rows)
  const more = { path: absolute, stats: { entries: entries.length } }
  if (entries.length === 0) return succeeded(READS.emptyDirectory(given), { path: name, items }, more)
  if (rows.length === 0) return failedBy('INVALID_PARAM', READS.noEntry(given, offset))
  const lines = items.map(lineOf).join('\n')
  const isLast = items.length === rows.length
  if (isLast && isComplete) return succeeded(lines, { path: name, items }, more)
  const cut = isLast
    ? READS.listedLast(given, MAX_READ)
    : READS.listed(given, {
        shown: items.length,
        from: offset,
        total: `${isComplete ? '' : 'more than '}${entries.length}`,
      })
  return {
    type: 'partial',
    text: `${lines}\n\n${cut}`,
    data: { path: name, items, truncated: true, truncation: truncationOf(items, entries) },
    ...more,
  }
}

/** Like `toTruncation`, with an entry for a line. */
function truncationOf(items: readonly Item[], entries: readonly Named[]): JsonObject {
  return {
    direction: 'head',
    max_lines: MAX_SHOWN,
    max_bytes: MAX_BYTES,
    original_lines: entries.length,
    kept_lines: items.length,
    full_output_path: null,
  }
}

/** Undefined for what is not a directory. */
async function entriesOf({ tree, path }: OpenPath, signal: AbortSignal): Promise<Listed | undefined> {
  try {
    return await tree.list(path, { max: MAX_READ, pace: paceOf(signal) })
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR' && tree.entry(path)?.kind === 'file') return undefined
    throw error
  }
}

type Listed = Awaited<ReturnType<Tree['list']>>

interface Item extends JsonObject {
  readonly name: string
  readonly type: Named['kind']
  /** In bytes; null for what is not a file. */
  readonly size: number | null
}

function withinLimits(tree: Tree, directory: string, rows: readonly Named[]): Item[] {
  const items: Item[] = []
  let bytes = 0
  for (const { name, kind } of rows.slice(0, MAX_SHOWN)) {
    const item = {
      name: toSafeLine(name),
      type: kind,
      size: kind === 'file' ? sizeOf(tree, below(directory, name)) : null,
    }
    bytes += Buffer.byteLength(JSON.stringify(item))
    if (bytes > MAX_BYTES && items.length > 0) break
    items.push(item)
  }
  return items
}

/** Null for what vanished meanwhile, or cannot be looked at. */
function sizeOf(tree: Tree, path: string): number | null {
  try {
    return tree.entry(path)?.size ?? null
  } catch (error) {
    if (codeOf(error) === '') throw error
    return null
  }
}

function lineOf({ name, type, size }: Item): string {
  return `${name}${type === 'directory' ? '/' : ''} (${type}${size === null ? '' : `, size ${size}`})`
}
