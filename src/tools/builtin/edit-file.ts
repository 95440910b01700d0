import { paceOf } from '../../machine/files/index.ts'
import { type Failed, type Outcome, type Services, succeeded, type Tool } from '../../kernel/index.ts'
import { headOf, type OutcomeLimits } from '../bound.ts'
import { defineTool } from '../define.ts'
import { atPath, type OpenPath, pathUse } from '../file-access/at-path.ts'
import { PATHS } from '../file-access/messages.ts'
import { failedBy } from '../messages.ts'
import { REDACT_TEXT, type RedactText } from '../services.ts'
import { readText } from './read-file.ts'

/** `edit_file{path*, old_string*, new_string*, replace_all=false}` → `{path, applied, replacements, diff}`. The tool is 001's; its parameters are ours. */
export function createEditFileTool(services: Services): Tool {
  return defineTool({
    name: 'edit_file',
    description:
      'Replace a text in a file and show the difference. old_string must be in the file exactly once, with its spaces and line breaks; replace_all replaces every occurrence.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path of the file' },
        old_string: { type: 'string', description: 'The text to replace' },
        new_string: { type: 'string', description: 'The text to write instead' },
        replace_all: { type: 'boolean', description: 'Replace every occurrence', default: false },
      },
      required: ['path', 'old_string', 'new_string'],
    },
    execute: async (args, context) => {
      const change = { from: String(args.old_string), to: String(args.new_string), isForAll: args.replace_all === true }
      const problem = problemOf(change)
      if (problem) return problem
      return atPath(services, pathUse('edit_file', args, context), (at) =>
        edit(at, change, context.signal, services.get(REDACT_TEXT)),
      )
    },
  })
}

interface Change {
  readonly from: string
  readonly to: string
  readonly isForAll: boolean
}

function problemOf({ from, to }: Change): Failed | undefined {
  if (from === '') return failedBy('INVALID_PARAM', PATHS.nothingToFind())
  if (from === to) return failedBy('INVALID_PARAM', PATHS.nothingToChange())
  return to.isWellFormed() ? undefined : failedBy('INVALID_PARAM', PATHS.halfCharacter('new_string'))
}

async function edit(
  at: OpenPath,
  change: Change,
  signal: AbortSignal,
  redact: RedactText | undefined,
): Promise<Outcome> {
  const { tree, path, given, name, absolute } = at
  const replaces = tree.entry(path)?.stamp
  const found = await readText(at, signal)
  if (found.type === 'failed') return found
  const changed = replaced(given, found.text, change)
  if (changed.type === 'failed') return changed
  const hasMark = Buffer.from(found.bytes.subarray(0, 3)).equals(BYTE_ORDER_MARK)
  const bytes = Buffer.concat([hasMark ? BYTE_ORDER_MARK : Buffer.alloc(0), Buffer.from(changed.text)])
  await at.write({ bytes, pace: paceOf(signal), replaces })
  const diff = await differenceOf(found.text, changed.text, redact)
  const data = { path: name, applied: true, replacements: changed.count, diff }
  return succeeded(`${PATHS.edited(given, changed.count)}${PATHS.undoable(name)}\n\n${diff}`, data, { path: absolute })
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

interface Replaced {
  readonly type: 'replaced'
  readonly text: string
  readonly count: number
}

function replaced(given: string, text: string, change: Change): Replaced | Failed {
  // A model writes \n. Where a file has only \r\n, so has what is searched for and what is written.
  const isCrLf = text.includes('\r\n') && !/(?<!\r)\n/.test(text)
  const ends = (part: string): string => (isCrLf ? part.replace(/\r?\n/g, '\r\n') : part)
  const [from, to] = [ends(change.from), ends(change.to)]
  if (!text.includes(from)) return failedBy('INVALID_PARAM', PATHS.notInFile(given))
  // Occurrences that overlap are more than one, too.
  if (!change.isForAll && text.indexOf(from) !== text.lastIndexOf(from))
    return failedBy('INVALID_PARAM', PATHS.notUnique(given))
  const parts = text.split(from)
  return { type: 'replaced', text: parts.join(to), count: parts.length - 1 }
}

const DIFF_LIMITS: OutcomeLimits = { maxLines: 400, maxBytes: 20_000 }

/** Beyond, a difference does not help a reader, and finding it takes long. */
const MAX_CHANGED_LINES = 2_000

/** A unified diff without its head; of a long one the beginning. */
async function differenceOf(before: string, after: string, redact: RedactText = (text) => text): Promise<string> {
  const { structuredPatch } = await import('diff')
  const found = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: MAX_CHANGED_LINES })
  if (!found) return PATHS.noDiff()
  const text = found.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join('\n'),
  )
  const head = headOf(text.join('\n'), DIFF_LIMITS)
  return head.isCut ? `${redact(head.text, true)}\n${PATHS.diffCut(head.lines, head.originalLines)}` : head.text
}
