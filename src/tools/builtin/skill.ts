import { type Services, succeeded, type Tool, toSafeLine } from '../../kernel/index.ts'
import { defineTool } from '../define.ts'
import { LOADER } from '../services.ts'
import { hiddenNote } from '../messages.ts'
import { CALLED_BY, callingOptions, stackData } from './load-skill.ts'
import { commandsHint } from './skill-commands.ts'

/** `Skill{name*, args?, called_by?}`: the expanded instructions under their base directory. Source: seed 003; contracts §4.2. */
export function createSkillTool(services: Services): Tool {
  return defineTool({
    name: 'Skill',
    description:
      'Load a skill by name and get its instructions. Use it when the task matches the description of a skill, or when the user names one. Do not load skills in advance.',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name of the skill' },
        args: {
          type: 'string',
          description: 'Arguments for the skill; they replace $ARGUMENTS in its text',
          default: '',
        },
        called_by: CALLED_BY,
      },
      required: ['name'],
    },
    options: { skillArgument: 'name' },
    execute: async (args, context) => {
      const name = String(args.name).trim()
      const loader = services.require(LOADER)
      const options = { ...callingOptions(args, context), args: String(args.args ?? '') }
      const loaded = await loader.load(name, options)
      const { skill, baseDir, content: body, stack } = loaded
      const content = `Base directory for this skill: ${baseDir}\n\n${body.trim()}`
      const hint = commandsHint(services, loaded)
      const hidden = hiddenNote(body).join('')
      const text = `Loaded skill '${toSafeLine(skill.name)}'.\n\n${content}${hidden}${hint === '' ? '' : `\n${hint}`}`
      return succeeded(
        text,
        { name: skill.name, base_dir: baseDir, content, ...stackData(stack) },
        { path: skill.file },
      )
    },
  })
}
