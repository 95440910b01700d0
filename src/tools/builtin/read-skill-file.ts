import { failed, type Outcome, type Services, succeeded, type Tool, toSafeLine } from '../../kernel/index.ts'
import type { SkillFile } from '../../skills/load/index.ts'
import { defineTool } from '../define.ts'
import { LOADER, REDACT_TEXT } from '../services.ts'
import { RANGE, rangeOf, readRange } from './text-range.ts'

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
        ...RANGE,
      },
      required: ['skill_name', 'file_path'],
    },
    options: { skillArgument: 'skill_name' },
    execute: async (args, { signal }) => {
      const [name, filePath] = [String(args.skill_name), String(args.file_path)]
      const file = await services.require(LOADER).readFile(name, filePath, { signal })
      if (file.encoding === 'base64') return toBinary(file)
      const { path, content, size } = file
      return readRange({ path, content, size }, { ...rangeOf(args), redact: services.get(REDACT_TEXT) })
    },
  })
}

/** More base64 than that is of no use to a model. */
const MAX_BASE64_CHARS = 20_000

function toBinary({ path, content, size, mediaType }: SkillFile): Outcome {
  const what = `'${toSafeLine(path)}' is a binary file (${mediaType}, ${size} bytes)`
  if (content.length > MAX_BASE64_CHARS) return failed('BINARY_FILE', `${what} and cannot be read as text.`, { path })
  const data = { encoding: 'base64', media_type: mediaType, content }
  return succeeded(`${what}, in base64:\n${content}`, data, { path, stats: { bytes: size } })
}
