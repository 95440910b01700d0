import {
  failed,
  type JsonObject,
  type Outcome,
  type Services,
  succeeded,
  type Tool,
  toSafeLine,
} from '../../kernel/index.ts'
import type { SkillFile } from '../../load/index.ts'
import { headOf, type OutcomeLimits, toTruncation } from '../bound.ts'
import { defineTool } from '../define.ts'
import { LOADER } from '../services.ts'
import { failedBy, hiddenNote, READS } from '../messages.ts'

/** `read_skill_file{skill_name*, file_path*, offset?, limit?}`: a file of a skill. Source: seed 002; contracts §3.2; `offset` and `limit` are ours. */
export function createReadSkillFileTool(services: Services): Tool {
  return defineTool({
    name: 'read_skill_file',
    description:
      'Read a file of a skill, such as one under references/ or scripts/. Read a long file in parts, with offset and limit.',
    parameters: {
      type: 'object',
      properties: {
        skill_name: { type: 'string', description: 'Name of the skill' },
        file_path: { type: 'string', description: 'Path inside the skill, such as references/guide.md' },
        offset: { type: 'integer', minimum: 1, description: 'First line to read, from 1' },
        limit: { type: 'integer', minimum: 1, description: 'Most lines to read' },
      },
      required: ['skill_name', 'file_path'],
    },
    options: { skillArgument: 'skill_name' },
    execute: async (args, { signal }) => {
      const [name, filePath] = [String(args.skill_name), String(args.file_path)]
      const file = await services.require(LOADER).readFile(name, filePath, { signal })
      if (file.encoding === 'base64') return toBinary(file)
      return toRead(file, { offset: Number(args.offset ?? 1), limit: Number(args.limit ?? MAX_LINES) })
    },
  })
}

/** Room for the line that says where to read on. */
const MAX_LINES = 1900
const MAX_BYTES = 50_000
/** More base64 than that is of no use to a model. */
const MAX_BASE64_CHARS = 20_000

function toRead(
  { path, content, size }: SkillFile,
  asked: { readonly offset: number; readonly limit: number },
): Outcome {
  const more = { path, stats: { bytes: size } }
  if (content === '') return succeeded(`The file ${toSafeLine(path)} is empty.`, { content }, more)
  const rest = fromLine(content, asked.offset)
  if (rest === undefined) return failedBy('INVALID_PARAM', READS.noLine(path, asked.offset))
  const limits: OutcomeLimits = { maxLines: Math.min(asked.limit, MAX_LINES), maxBytes: MAX_BYTES }
  const head = headOf(rest, limits)
  const data: JsonObject = { content: head.text }
  const hidden = hiddenNote(head.text).join('')
  if (!head.isCut) return succeeded(head.text + hidden, data, more)
  const last = asked.offset + head.lines - 1
  const isWhole = head.text.endsWith('\n') || rest.startsWith('\n', head.text.length)
  const next = isWhole
    ? `Read on with offset ${last + 1}.`
    : `Line ${last} is too long to be shown whole; use a command to see its rest.`
  const text = `${head.text.trimEnd()}\n\n[Cut: only lines ${asked.offset} to ${last} of ${asked.offset + head.originalLines - 1}. ${next}]${hidden}`
  return { type: 'partial', text, data: { ...data, truncated: true, truncation: toTruncation(head, limits) }, ...more }
}

/** The text from that line (from 1) on; undefined when there is none. */
function fromLine(text: string, line: number): string | undefined {
  let start = 0
  for (let count = 1; count < line; count++) {
    const end = text.indexOf('\n', start)
    if (end < 0 || end + 1 >= text.length) return undefined
    start = end + 1
  }
  return text.slice(start)
}

function toBinary({ path, content, size, mediaType }: SkillFile): Outcome {
  const what = `'${toSafeLine(path)}' is a binary file (${mediaType}, ${size} bytes)`
  if (content.length > MAX_BASE64_CHARS) return failed('BINARY_FILE', `${what} and cannot be read as text.`, { path })
  const data = { encoding: 'base64', media_type: mediaType, content }
  return succeeded(`${what}, in base64:\n${content}`, data, { path, stats: { bytes: size } })
}
