import { failed, type Services, succeeded, type Tool, toSafeLine } from '../../kernel/index.ts'
import type { Loader } from '../../load/index.ts'
import { defineTool } from '../define.ts'

/** `Skill{name*, args?}`: the expanded instructions under their base directory. Source: seed 003; contracts §4.2. */
export function createSkillTool(services: Services): Tool {
  return defineTool({
    name: 'Skill',
    description:
      'Load a skill by name and get its instructions. Use it when the task matches the description of a skill or the user names one; do not load skills in advance.',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name of the skill' },
        args: { type: 'string', description: 'Arguments for the skill, put in the place of $ARGUMENTS', default: '' },
      },
      required: ['name'],
    },
    options: { skillArgument: 'name' },
    execute: async (args, { signal }) => {
      const name = String(args.name ?? '').trim()
      if (name === '') return failed('INVALID_PARAM', `Parameter 'name' is required and must be a non-empty string.`)
      const loader = services.require<Loader>('loader')
      const { skill, baseDir, content: body } = await loader.load(name, { args: String(args.args ?? ''), signal })
      const content = `Base directory for this skill: ${baseDir}\n\n${body.trim()}`
      const text = `Loaded skill '${toSafeLine(skill.name)}'.\n\n${content}`
      return succeeded(text, { name: skill.name, base_dir: baseDir, content }, { path: skill.file })
    },
  })
}
