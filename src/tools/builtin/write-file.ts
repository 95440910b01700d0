import { codeOf, type Pace, paceOf } from '../../machine/files/index.ts'
import { type Outcome, type Services, succeeded, type Tool } from '../../kernel/index.ts'
import { defineTool } from '../define.ts'
import { atPath, type OpenPath, pathUse } from '../file-access/at-path.ts'
import { PATHS } from '../file-access/messages.ts'
import { failedBy } from '../messages.ts'

/** `write_file{path*, content*, append=false}` → `{path, bytes_written}`. Source: contracts §1.8, §3.2. */
export function createWriteFileTool(services: Services): Tool {
  return defineTool({
    name: 'write_file',
    description:
      'Write a text file: make it, with the directories that are missing, or replace all of its content; append adds to its end. To change a part of a file use edit_file.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path of the file' },
        content: { type: 'string', description: 'The whole content, or what is appended' },
        append: { type: 'boolean', description: 'Add to the end of the file', default: false },
      },
      required: ['path', 'content'],
    },
    execute: async (args, context) => {
      const content = String(args.content)
      if (!content.isWellFormed()) return failedBy('INVALID_PARAM', PATHS.halfCharacter('content'))
      const bytes = Buffer.from(content)
      return atPath(services, pathUse('write_file', args, context), (at) =>
        write(at, bytes, args.append === true, context.signal),
      )
    },
  })
}

async function write(at: OpenPath, content: Uint8Array, isAppended: boolean, signal: AbortSignal): Promise<Outcome> {
  const { given, name, absolute } = at
  const pace = paceOf(signal)
  const there = isAppended ? await readThere(at, pace) : undefined
  const bytes = there ? Buffer.concat([there.bytes, content]) : content
  // Not over a file that appeared since it was found missing, or that changed since it was read.
  const unless = there ? { replaces: there.stamp } : { mustBeNew: isAppended }
  await at.write({ bytes, pace, makesParents: true, inheritsOwner: process.getuid?.() === 0, ...unless })
  const data = { path: name, bytes_written: content.byteLength, applied: true }
  return succeeded(`${PATHS.wrote(given, content.byteLength)}${PATHS.undoable(name)}`, data, { path: absolute })
}

/** Undefined when there is no file to append to. */
async function readThere(
  { tree, path }: OpenPath,
  pace: Pace,
): Promise<{ readonly bytes: Uint8Array; readonly stamp: string | undefined } | undefined> {
  const stamp = tree.entry(path)?.stamp
  try {
    return { bytes: (await tree.read(path, { maxBytes: MAX_APPENDED_TO, pace })).bytes, stamp }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

const MAX_APPENDED_TO = 256 * 1024 * 1024
