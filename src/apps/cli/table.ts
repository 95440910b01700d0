import { CHOICES, type Command, commandIn, type Rows } from './command.ts'
import { ANSWERS, flag, JSON_OPTION, MODEL, NETWORK, option, SANDBOX, WHERE } from './options.ts'
import { AGENT_COMMANDS } from './agent-commands.ts'
import { SESSION_COMMANDS } from './session-commands.ts'
import { SETTINGS_COMMANDS } from './settings-commands.ts'
import { INSTALL_COMMANDS } from './install-commands.ts'
import { MCP_COMMANDS } from './mcp-commands.ts'
import { SERVER_COMMANDS } from './server-commands.ts'

/** In the order of `nexus --help`. */
const ROWS: Rows = {
  demo: {
    summary: 'show a whole agent turn: find a skill, load it, run its script in the sandbox',
    options: {
      ...MODEL,
      model: {
        ...MODEL.model,
        help: 'openai/…, anthropic/…, openai-compatible/… or recorded (the default without a configured model)',
      },
      ...SANDBOX,
      keep: option('DIR', 'use this empty directory as workspace'),
    },
    examples: ['nexus demo', 'nexus demo --model anthropic/claude-sonnet-4-5'],
    load: async () => (await import('./commands/demo.ts')).runDemo,
  },
  run: {
    summary: 'do a task with a model and your skills; - reads the task from standard input',
    usage: '"<task>"|-',
    options: {
      ...MODEL,
      ...WHERE,
      ...SANDBOX,
      ...NETWORK,
      session: option('ID', 'continue an earlier session; the beginning of its id is enough', { names: 'sessions' }),
      continue: flag('continue the newest session of this workspace; without a task, go on from its answers'),
      ...ANSWERS,
    },
    examples: [
      'nexus run "Chart data/sales.csv by region"',
      'nexus run --continue "Now as a table"',
      'nexus run --model openai/gpt-5.1 --skills-dir ./my-skills "…"',
    ],
    load: async () => (await import('./commands/run.ts')).runTask,
  },
  'skills list': {
    summary: 'the skills that an agent would see; with --all also the others, with reasons',
    options: { ...WHERE, all: flag('also those that are held, shadowed or invalid', { short: 'a' }) },
    examples: ['nexus skills list', 'nexus skills list --all', "nexus skills list --json | jq '.data.skills[].name'"],
    load: async () => (await import('./commands/skills/list.ts')).listSkills,
  },
  'skills show': {
    summary: 'one skill: its description, needs and findings',
    usage: '<name>',
    names: 'skills',
    options: { ...WHERE, content: flag('print the instructions as the model would get them') },
    examples: ['nexus skills show csv-report', 'nexus skills show bundled/csv-report --content'],
    load: async () => (await import('./commands/skills/show.ts')).showSkill,
  },
  'skills check': {
    summary: 'every reason why skills are ready, held, shadowed or invalid',
    usage: '[name]',
    names: 'skills',
    options: { ...WHERE },
    examples: ['nexus skills check', 'nexus skills check github'],
    load: async () => (await import('./commands/skills/check.ts')).checkSkills,
  },
  'skills why': {
    summary: 'why a skill is, or is not, offered to the model, and how to fix it',
    usage: '<name>',
    names: 'skills',
    options: { ...WHERE, session: option('ID', 'compare with the prompt of this session', { names: 'sessions' }) },
    examples: [
      'nexus skills why github',
      'nexus skills why workspace/github',
      'nexus skills why ./skills/my-skill/SKILL.md',
    ],
    load: async () => (await import('./commands/skills/why.ts')).whySkill,
  },
  'skills search': {
    summary: 'the ready skills that match some words best',
    usage: '<words…>',
    options: { ...WHERE, limit: option('N', 'how many at most (default 10)') },
    examples: ['nexus skills search csv chart', 'nexus skills search "pull request" --json'],
    load: async () => (await import('./commands/skills/search.ts')).searchSkills,
  },
  'skills run': {
    summary: 'run a command of a skill in the sandbox',
    usage: '<name> -- <command…>',
    names: 'skills',
    options: {
      ...WHERE,
      ...SANDBOX,
      ...NETWORK,
      timeout: option('SECONDS', 'time limit (default 30, at most 600 unless nexus.yaml raises it)'),
      ...ANSWERS,
    },
    examples: [`nexus skills run csv-report -- node '{baseDir}/scripts/report.mjs' data/sales.csv`],
    load: async () => (await import('./commands/skills/run.ts')).runSkill,
  },
  'skills init': {
    summary: 'make a new skill from the template',
    usage: '<name>',
    options: {
      path: option('DIR', 'folder of skills for the new one (default skills/ of the workspace)'),
      description: option('TEXT', 'what the skill does and when to use it'),
    },
    examples: ['nexus skills init csv-report', 'nexus skills init csv-report --path ~/.nexus/skills'],
    load: async () => (await import('./commands/skills/init.ts')).initSkill,
  },
  'skills validate': {
    summary: 'check SKILL.md files: every error with its line and fix',
    usage: '<path…>',
    options: {
      strict: flag('also report as errors what other clients refuse'),
      profile: option('NAME', 'strict by the rules of spec (default), claude or openclaw', {
        choices: CHOICES.profile,
      }),
      fix: flag('write the fixes that need no decision: quotes, names of keys, markers'),
      'fix-encoding': flag('also remove byte order marks and CR line ends'),
      quiet: flag('report errors only, and nothing when there is none', { short: 'q' }),
      format: option('KIND', 'text (default), json, sarif or github', { choices: CHOICES.format }),
    },
    examples: [
      'nexus skills validate ./skills/csv-report',
      'nexus skills validate ./skills --strict --fix',
      'nexus skills validate ./skills --profile claude --format github',
    ],
    load: async () => (await import('./validation/validate.ts')).validateSkills,
  },
  'skills migrate': {
    summary: 'rewrite metadata of OpenClaw and Clawdbot for Nexus, or as plain strings',
    usage: '<path…>',
    options: {
      yes: flag('also rewrite files in folders of other programs, without a question', { short: 'y' }),
      'dry-run': flag('show the changes, write nothing'),
      to: option('FORM', 'nexus (default), or flat for clients that accept only strings', { choices: CHOICES.form }),
    },
    examples: ['nexus skills migrate ./skills --dry-run', 'nexus skills migrate ./skills/github --to flat'],
    load: async () => (await import('./validation/migrate.ts')).migrateSkills,
  },
  ...INSTALL_COMMANDS,
  prompt: {
    summary: 'the exact prompt text about skills, with its cost',
    options: {
      ...WHERE,
      style: option('STYLE', 'markdown, xml, list or names (default: skills.prompt.style)', { choices: CHOICES.style }),
      budget: option('CHARACTERS', 'at most this many (default: skills.prompt.budgetChars)'),
    },
    examples: ['nexus prompt', 'nexus prompt --agent reviewer', 'nexus prompt --style xml --budget 4000'],
    load: async () => (await import('./commands/prompt.ts')).showPrompt,
  },
  ...AGENT_COMMANDS,
  ...SESSION_COMMANDS,
  ...SERVER_COMMANDS,
  ...MCP_COMMANDS,
  ...SETTINGS_COMMANDS,
  doctor: {
    summary: 'check this machine and directory: Node, state, configuration, sandbox, skills, model',
    options: { config: WHERE.config },
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  explain: {
    summary: 'what a code means, with an example and the fix; without a code, all of them',
    usage: '[code]',
    names: 'codes',
    examples: ['nexus explain yaml-duplicate-key', 'nexus explain CALL_DENIED', 'nexus explain'],
    load: async () => (await import('./commands/explain.ts')).explainCode,
  },
  completion: {
    summary: 'a completion script for bash, zsh or fish; with words after --, what it offers there',
    usage: `${CHOICES.shell.join('|')} -- <words…>`,
    choices: CHOICES.shell,
    examples: ['source <(nexus completion bash)', 'nexus completion fish | source'],
    load: async () => {
      const { completion } = await import('./commands/completion.ts')
      return (invocation) => completion(invocation, COMMANDS)
    },
  },
}

/** Every command. Only a service has no `--json`: its stdout is a protocol's. */
export const COMMANDS: readonly Command[] = Object.entries(ROWS).map(([name, row]) => ({
  name,
  examples: [`nexus ${name}`],
  ...row,
  options: row.isService === true ? row.options : { ...row.options, ...JSON_OPTION },
}))

export function findCommand(argv: readonly string[]): Command | undefined {
  return commandIn(COMMANDS, argv)
}

/** True for a word such as `skills`, which commands begin with. */
export function isGroup(word: string): boolean {
  return COMMANDS.some(({ name }) => name.startsWith(`${word} `))
}
