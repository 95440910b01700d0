import type { Rows } from './command.ts'
import { flag, option, WHERE } from './options.ts'

const CONFIG = { config: WHERE.config }
const TRUSTED = { config: WHERE.config, trust: WHERE.trust }

/** The commands about settings, policy and trust, in the order of `nexus --help`. */
export const SETTINGS_COMMANDS: Rows = {
  'config check': {
    summary: 'check nexus.yaml: every error with its line and fix',
    options: CONFIG,
    examples: ['nexus config check', 'nexus config check --config ./nexus.yaml'],
    load: async () => (await import('./commands/config.ts')).checkConfig,
  },
  'config show': {
    summary: 'the settings that apply, each with its file and line',
    usage: '[section]',
    options: CONFIG,
    examples: ['nexus config show', 'nexus config show skills.prompt', "nexus config show --json | jq '.data.values'"],
    load: async () => (await import('./commands/config.ts')).showConfig,
  },
  'config schema': {
    summary: 'the JSON Schema of nexus.yaml, for editors and CI',
    examples: ['nexus config schema > nexus.schema.json'],
    load: async () => (await import('./commands/config.ts')).showSchema,
  },
  'policy explain': {
    summary: 'why a call of an agent would be allowed, asked about or denied: every rule, with its line',
    usage: '<agent> <tool>',
    names: 'agents',
    options: { ...TRUSTED, args: option('JSON', 'the arguments of the call, as JSON') },
    examples: [
      'nexus policy explain main run_command',
      `nexus policy explain main run_command --args '{"command":"ls"}'`,
    ],
    load: async () => (await import('./commands/policy.ts')).explainPolicy,
  },
  'policy test': {
    summary: 'check decisions against a table of expectations, such as in CI',
    usage: '<file>',
    options: TRUSTED,
    examples: ['nexus policy test policy-tests.yaml'],
    load: async () => (await import('./commands/policy-test.ts')).testPolicy,
  },
  'policy check': {
    summary: 'check policies: names that refer to nothing, typos that make a deny void, lines that never decide',
    options: CONFIG,
    examples: ['nexus policy check', 'nexus policy check --config ./nexus.yaml'],
    load: async () => (await import('./commands/policy-review.ts')).checkPolicies,
  },
  'policy diff': {
    summary: 'which tools are decided differently for another agent, or with another file of settings',
    usage: '<agent> [other-agent]',
    names: 'agents',
    options: { ...TRUSTED, against: option('FILE', 'the same agent with this nexus.yaml laid over the settings') },
    examples: ['nexus policy diff main reviewer', 'nexus policy diff main --against ./next.yaml'],
    load: async () => (await import('./commands/policy-review.ts')).diffPolicies,
  },
  'policy shadow': {
    summary: 'recorded calls that another policy, the shadow of the agent, would decide differently',
    usage: '[agent]',
    names: 'agents',
    examples: ['nexus policy shadow', 'nexus policy shadow main'],
    load: async () => (await import('./commands/policy-review.ts')).listShadowed,
  },
  trust: {
    summary: 'let the skills and the nexus.yaml of a workspace take effect',
    usage: '[directory]',
    options: {
      list: flag('show the trusted workspaces'),
      remove: flag('end the trust'),
      yes: flag('trust without a question: also commands that run as you, outside the sandbox'),
      config: WHERE.config,
    },
    examples: ['nexus trust', 'nexus trust --list', 'nexus trust --yes', 'nexus trust --remove ./project'],
    load: async () => (await import('./commands/trust.ts')).trust,
  },
}
