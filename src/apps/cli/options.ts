/** options: those that several commands take. */
import { CHOICES, type OptionSpec } from './command.ts'

export const JSON_OPTION: Record<string, OptionSpec> = {
  json: { type: 'boolean', help: 'print one JSON document on stdout' },
}

/** Of every command that answers for the skills of an agent. */
export const WHERE: Record<string, OptionSpec> = {
  'skills-dir': {
    type: 'string',
    multiple: true,
    value: 'DIR',
    help: 'search this folder for skills too (may be repeated)',
  },
  config: { type: 'string', value: 'FILE', help: 'read this nexus.yaml after the usual ones' },
  agent: { type: 'string', value: 'ID', names: 'agents', help: 'answer for this agent (default: the first)' },
  trust: {
    type: 'boolean',
    help: 'trust this workspace for this run: its secret commands run as you, outside the sandbox',
  },
}

export const SANDBOX: Record<string, OptionSpec> = {
  sandbox: {
    type: 'string',
    value: 'KIND',
    choices: CHOICES.sandbox,
    help: 'local (default), or none: commands are not confined',
  },
}

/** Of commands that run tools: who answers when policy asks. */
export const ANSWERS: Record<string, OptionSpec> = {
  yes: { type: 'boolean', short: 'y', help: 'approve every call that policy asks about' },
  wait: { type: 'boolean', help: 'without a terminal, wait for `nexus approvals answer`' },
}

export const MODEL: Record<string, OptionSpec> = {
  model: { type: 'string', short: 'm', value: 'NAME', help: 'openai/…, anthropic/… or openai-compatible/…' },
  'base-url': { type: 'string', value: 'URL', help: 'address of an OpenAI-compatible service' },
}
