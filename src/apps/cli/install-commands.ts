import { CHOICES, type Row, type Rows } from './command.ts'
import { flag, option, WHERE } from './options.ts'

const SCOPE = {
  scope: option('SCOPE', 'workspace (default in a project): its skills/; user: ~/.nexus/skills', {
    choices: CHOICES.place,
  }),
  config: WHERE.config,
}

const CONSENT = {
  yes: flag('place what the plan says without a question', { short: 'y' }),
  accept: option('NAME', 'give this skill what the plan says that it would get (may be repeated)', { multiple: true }),
  overwrite: option('NAME', 'replace the local edits of this skill; a copy of the files is kept (may be repeated)', {
    multiple: true,
  }),
  'dry-run': flag('show the plan with every changed line, change nothing'),
}

const INSTALL: Omit<Row, 'summary'> = {
  usage: '<source>',
  options: {
    skill: option('NAMES', 'install these, such as pdf,docx', { multiple: true }),
    all: flag('install every skill of the source'),
    client: option(
      'NAMES',
      'let these programs find the copies, too: claude-code, codex, cursor, copilot, opencode, gemini-cli',
      { multiple: true },
    ),
    list: flag('only show what the source has'),
    frozen: flag('the same as skills ci: exactly the lock'),
    ...SCOPE,
    ...CONSENT,
  },
  examples: [
    'nexus skills install anthropics/skills --skill pdf',
    'nexus skills install https://github.com/anthropics/skills/tree/main/skills/pdf',
    'nexus skills install ./my-skill --scope user',
  ],
  load: async () => (await import('./commands/skills/install.ts')).installSkills,
}

/** The commands that get, change and check installed skills, in the order of `nexus --help`. */
export const INSTALL_COMMANDS: Rows = {
  'skills install': { summary: 'get skills from a git host, an archive or a folder', ...INSTALL },
  'skills add': { summary: 'the same as skills install', ...INSTALL },
  'skills update': {
    summary: 'replace installed skills by their newest revisions, after showing what changes',
    usage: '[name…]',
    options: { all: flag('every skill of the lock'), ...SCOPE, ...CONSENT },
    examples: ['nexus skills update pdf', 'nexus skills update --all --dry-run'],
    load: async () => (await import('./commands/skills/update.ts')).updateSkills,
  },
  'skills outdated': {
    summary: 'which installed skills have a newer revision; exit code 1 when one has, 3 when a server does not answer',
    usage: '[name…]',
    options: { ...SCOPE },
    load: async () => (await import('./commands/skills/update.ts')).outdatedSkills,
  },
  'skills refresh': {
    summary: 'ask the git sources of nexus.yaml for news now',
    options: { config: WHERE.config },
    load: async () => (await import('./commands/skills/update.ts')).refreshSources,
  },
  'skills ci': {
    summary: 'restore exactly the copies of the lock, from this machine where it has them',
    options: { ...SCOPE, ...CONSENT },
    examples: ['nexus skills ci --yes'],
    load: async () => (await import('./commands/skills/ci.ts')).restoreSkills,
  },
  'skills verify': {
    summary: 'compare the installed files with the lock',
    usage: '[name…]',
    options: { ...SCOPE },
    examples: ['nexus skills verify', 'nexus skills verify pdf --json'],
    load: async () => (await import('./commands/skills/installed.ts')).verifySkills,
  },
  'skills deps': {
    summary: 'which programs a skill needs that are missing here, and how to install them',
    usage: '<name>',
    names: 'skills',
    options: {
      run: flag('run the install that is marked, after a question'),
      yes: flag('run it without a question', { short: 'y' }),
      ...WHERE,
    },
    examples: ['nexus skills deps pdf', 'nexus skills deps pdf --run'],
    load: async () => (await import('./commands/skills/deps.ts')).skillDependencies,
  },
  'skills remove': {
    summary: 'remove installed skills and their entries in the lock',
    usage: '<name…>',
    options: { ...SCOPE, overwrite: CONSENT.overwrite },
    examples: ['nexus skills remove pdf'],
    load: async () => (await import('./commands/skills/installed.ts')).removeInstalled,
  },
  'skills rollback': {
    summary: 'put the revision of a skill back that was there before the last update',
    usage: '<name>',
    options: { ...SCOPE, accept: CONSENT.accept, overwrite: CONSENT.overwrite },
    examples: ['nexus skills rollback pdf'],
    load: async () => (await import('./commands/skills/installed.ts')).rollBackSkill,
  },
  'skills pin': {
    summary: 'keep a skill at its revision: update passes it over',
    usage: '<name>',
    options: { ...SCOPE },
    examples: ['nexus skills pin pdf'],
    load: async () => (await import('./commands/skills/installed.ts')).pinSkill,
  },
  'skills unpin': {
    summary: 'let a skill be updated again',
    usage: '<name>',
    options: { ...SCOPE },
    examples: ['nexus skills unpin pdf'],
    load: async () => (await import('./commands/skills/installed.ts')).unpinSkill,
  },
}
