import { codeOf, paceOf } from '../../machine/files/index.ts'
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

async function write(
  { tree, path, given, name, absolute }: OpenPath,
  bytes: Uint8Array,
  isAppended: boolean,
  signal: AbortSignal,
): Promise<Outcome> {
  const pace = paceOf(signal)
  const isThere = isAppended && (await appended(tree, path, { bytes, pace }))
  if (!isThere) {
    // Not over a file that appeared since it was found missing.
    const options = { bytes, pace, makesParents: true, mustBeNew: isAppended, inheritsOwner: isRoot() }
    await tree.write(path, options)
  }
  const data = { path: name, bytes_written: bytes.byteLength, applied: true }
  return succeeded(PATHS.wrote(given, bytes.byteLength), data, { path: absolute })
}

/** False when there is no file to append to. */
async function appended(
  tree: OpenPath['tree'],
  path: string,
  options: Parameters<OpenPath['tree']['append']>[1],
): Promise<boolean> {
  try {
    await tree.append(path, options)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

/** Root works for the owner of the workspace, as commands do. */
function isRoot(): boolean {
  return process.getuid?.() === 0
}
