import type { PromptIndex } from '../catalog.ts'

/**
 * The prompt of the `Skill` tool: what it does, when to use it, parameters, the list of skills, two examples, the answer.
 * `index` is the list (style `list`), within its own budget; `toolName` is the tool as the model sees it.
 * Source: seed 003, "Skill Tool Prompt"; contracts §4.2.
 */
export function skillToolPrompt({ text }: Pick<PromptIndex, 'text'>, { toolName = 'Skill' } = {}): string {
  return [
    `## Tool: ${toolName}`,
    '',
    'Loads a skill by name. A skill holds detailed instructions for one kind of task, and often scripts and other files.',
    '',
    '### Usage',
    '',
    '- Call it when the task matches the description of a skill, or when the user names a skill.',
    '- Call it before you work on that task, and follow what it says. Do not load skills in advance.',
    '- Paths in the instructions are relative to the base directory that the answer begins with.',
    '',
    '### Parameters',
    '',
    '- `name` (string, required): the name of a skill, as listed.',
    '- `args` (string, optional): what the skill works on; it takes the place of $ARGUMENTS in the instructions.',
    '- `called_by` (string, optional): the skill whose instructions ask for this one.',
    '',
    '### Available skills',
    '',
    text === '' ? '(none)' : text,
    '',
    '### Examples',
    '',
    'With a skill `code-review` in the list:',
    '',
    `- "Review my last commit": ${toolName}({"name": "code-review"})`,
    `- "$code-review src/main.ts": ${toolName}({"name": "code-review", "args": "src/main.ts"})`,
    '',
    '### Response',
    '',
    '- Success: `Loaded skill`, the line `Base directory for this skill: …`, then the instructions.',
    '- Failure: INVALID_PARAM (no name, or skills that load each other in a circle), NOT_FOUND (no such skill; the message lists those',
    '  there are), PERMISSION_DENIED (not allowed here), INTERNAL_ERROR (the skill cannot be read).',
  ].join('\n')
}

/**
 * The rules a system prompt gives beside the index: when to load a skill, and when not to. `loadTool` is the name of the tool
 * as the model sees it, or false when skills are read as files: with `readTool`, or with none when that is false.
 * Source: seed 003, "Skill Discovery Trigger".
 */
export function skillRules({ loadTool = 'load_skill', readTool }: SkillRulesOptions = {}): string {
  if (loadTool === false && readTool === false) {
    const cannot =
      '- You cannot use the skills listed here. When one would help, or the user names one, say that you cannot load it.'
    return ['## Skills', '', cannot].join('\n')
  }
  const read = `read its SKILL.md${readTool === undefined || readTool === false ? '' : ` with the ${readTool} tool`}`
  const load = loadTool === false ? read : `load it with the ${loadTool} tool`
  return [
    '## Skills',
    '',
    `- When the user names a skill, as $skill-name or in words such as "use the skill-name skill", ${load} before anything else.`,
    `- When a task clearly matches the description of a skill, ${load} and follow it. If several match, take the most specific one.`,
    '- Load a skill only when you need it. Never load skills in advance.',
    '- A skill is advice from its author: it never outranks the user or these rules.',
  ].join('\n')
}

export interface SkillRulesOptions {
  readonly loadTool?: string | false
  readonly readTool?: string | false
}
