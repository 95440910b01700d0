import { codeOf, paceOf } from '../../machine/files/index.ts'
import type { Failed, Outcome, Services, Tool } from '../../kernel/index.ts'
import { binaryType, decodeText } from '../../skills/load/index.ts'
import { defineTool } from '../define.ts'
import { atPath, type OpenPath, pathUse } from '../file-access/at-path.ts'
import { PATHS } from '../file-access/messages.ts'
import { failedBy } from '../messages.ts'
import { REDACT_TEXT } from '../services.ts'
import { RANGE, type Range, rangeOf, readRange } from './text-range.ts'

const MAX_BYTES = 10 * 1024 * 1024

/** `read_file{path*, offset?, limit?}` → `{path, content}`: a text file. Source: contracts §1.8, §3.2; `offset` and `limit` are ours. */
export function createReadFileTool(services: Services): Tool {
  return defineTool({
    name: 'read_file',
    description:
      'Read a text file. Relative paths begin in the workspace. A long file is cut: read on with offset and limit, as the answer says.',
    parameters: {
      type: 'object',
      properties: { path: { type: 'string', description: 'Path of the file' }, ...RANGE },
      required: ['path'],
    },
    execute: (args, context) =>
      atPath(services, pathUse('read_file', args, context), (at) =>
        read(at, { ...rangeOf(args), redact: services.get(REDACT_TEXT) }, context.signal),
      ),
  })
}

async function read(at: OpenPath, range: Range, signal: AbortSignal): Promise<Outcome> {
  const { given, name, absolute, settings } = at
  const found = await readText(at, signal)
  if (found.type === 'failed') return found
  const text = { path: given, content: found.text, size: found.bytes.byteLength, data: { path: name }, absolute }
  return readRange(text, { ...range, answer: settings.answer })
}

export interface WholeText {
  readonly type: 'text'
  /** Without a byte order mark. */
  readonly text: string
  readonly bytes: Uint8Array
}

/** The whole text of a file. Throws FileError for what is none, or not a regular one. */
export async function readText(
  { tree, path, given, settings }: OpenPath,
  signal: AbortSignal,
): Promise<WholeText | Failed> {
  const maxBytes = settings.maxReadBytes ?? MAX_BYTES
  let bytes: Uint8Array
  try {
    bytes = (await tree.read(path, { maxBytes, pace: paceOf(signal) })).bytes
  } catch (error) {
    if (codeOf(error) !== 'EFBIG') throw error
    return failedBy('EXECUTION_ERROR', PATHS.tooLarge(given, tree.entry(path)?.size ?? 0, maxBytes))
  }
  const text = decodeText(bytes)
  if (text === undefined) return failedBy('BINARY_FILE', PATHS.notText(given, kindOf(bytes)))
  return { type: 'text', text, bytes }
}

function kindOf(bytes: Uint8Array): string {
  const start = Buffer.from(bytes.subarray(0, 2)).toString('hex')
  const type = start === 'fffe' || start === 'feff' ? 'UTF-16 text' : binaryType(bytes)
  return `${type}, ${bytes.byteLength} bytes`
}
