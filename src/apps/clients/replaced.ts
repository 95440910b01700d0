/** replaced: what an installation wrote, and the entries of the user that it replaced. The Nexus home keeps them until they are restored. */
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isJsonObject, type JsonObject, sha256 } from '../../kernel/index.ts'
import { textOf, writeText } from './text-file.ts'

export interface Replaced {
  readonly wrote: JsonObject
  readonly replaced: JsonObject | undefined
  /** The file had no mapping of entries, such as `mcpServers`. */
  readonly madeMapping: boolean
}

interface ReplacedPlace {
  readonly nexusHome: string
  readonly path: string
  readonly name: string
}

export interface Remembered extends ReplacedPlace {
  /** Absent: nothing is to be restored any more. */
  readonly replaced?: Replaced | undefined
}

export function readReplaced(place: ReplacedPlace): Replaced | undefined {
  try {
    const value: unknown = JSON.parse(textOf(fileOf(place)) ?? 'null')
    if (!isJsonObject(value)) return undefined
    const { wrote, replaced, madeMapping } = value
    if (!isJsonObject(wrote)) return undefined
    return { wrote, replaced: isJsonObject(replaced) ? replaced : undefined, madeMapping: madeMapping === true }
  } catch {
    // A damaged file restores nothing.
    return undefined
  }
}

/** Keeps the entry, and the text of the old file when there is one; its path. Throws STORE_FAILED. */
export async function keepReplaced({ replaced, ...place }: Remembered, old?: string): Promise<string | undefined> {
  const file = fileOf(place)
  if (replaced !== undefined || existsSync(file)) await put(file, JSON.stringify(replaced ?? null))
  if (old === undefined) return undefined
  const copy = `${file.slice(0, -'.json'.length)}-old-${basename(place.path)}`
  await put(copy, old)
  return copy
}

function put(path: string, text: string): Promise<void> {
  return writeText(path, text, !existsSync(path))
}

function fileOf({ nexusHome, path, name }: ReplacedPlace): string {
  return join(nexusHome, 'clients', `${sha256(JSON.stringify([path, name])).slice(0, 16)}.json`)
}
