import type { Command, OptionSpec } from '../../command.ts'

export const JSON_OPTION: Record<string, OptionSpec> = {
  json: { type: 'boolean', help: 'print one JSON document on stdout' },
}

/** Of every command that looks at skills. */
export const WHERE: Record<string, OptionSpec> = {
  'skills-dir': { type: 'string', multiple: true, value: 'DIR', help: 'look for skills here too (may be repeated)' },
  config: { type: 'string', value: 'FILE', help: 'read this nexus.yaml after the usual ones' },
  agent: { type: 'string', value: 'ID', help: 'see it as this agent (default: the first)' },
  trust: { type: 'boolean', help: 'trust this workspace for this run' },
}

/** The rows of the table that the bundle `look.cjs` knows: it is loaded for no other command, and making all of them takes time. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'skills list',
    summary: 'the skills an agent would see, and why others are held back',
    options: {
      ...WHERE,
      all: { type: 'boolean', short: 'a', help: 'also those that are held, shadowed or broken' },
      ...JSON_OPTION,
    },
    examples: ['nexus skills list', 'nexus skills list --all', "nexus skills list --json | jq '.data.skills[].name'"],
    load: async () => (await import('./list.ts')).listSkills,
  },
  {
    name: 'skills show',
    summary: 'one skill: what it says, needs and holds',
    usage: '<name>',
    options: {
      ...WHERE,
      content: { type: 'boolean', help: 'print the instructions as the model would get them' },
      ...JSON_OPTION,
    },
    examples: ['nexus skills show csv-report', 'nexus skills show bundled/csv-report --content'],
    load: async () => (await import('./show.ts')).showSkill,
  },
]
