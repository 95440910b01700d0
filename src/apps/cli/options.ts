/** options: those that several commands take. */
import { CHOICES, type OptionSpec } from './command.ts'

/** An option without a value. */
export function flag(help: string, more: Partial<OptionSpec> = {}): OptionSpec {
  return { type: 'boolean', help, ...more }
}

/** An option with a value, which help shows as this word. */
export function option(value: string, help: string, more: Partial<OptionSpec> = {}): OptionSpec {
  return { type: 'string', value, help, ...more }
}

/** For every command with an answer. */
export const JSON_OPTION = { json: flag('print one JSON document on stdout') }

/** For commands that answer for the skills of an agent. */
export const WHERE = {
  'skills-dir': option('DIR', 'search this folder for skills too (may be repeated)', { multiple: true }),
  config: option('FILE', 'read this nexus.yaml after the usual ones'),
  agent: option('ID', 'answer for this agent (default: the first)', { names: 'agents' }),
  trust: flag('trust this workspace for this run: its secret commands run as you, outside the sandbox'),
}

export const SANDBOX = {
  sandbox: option('KIND', 'local (default), or none: commands are not confined', { choices: CHOICES.sandbox }),
}

/** The hosts of this run. */
export const NETWORK = {
  network: option('HOST', 'let commands reach this host too (may be repeated)', { multiple: true }),
  'no-network': flag('let commands reach nothing, whatever the settings say'),
}

/** For commands that run tools, where policy may ask. */
export const ANSWERS = {
  yes: flag('approve every call that policy asks about', { short: 'y' }),
  wait: flag('without a terminal, wait for `nexus approvals answer`'),
}

export const MODEL = {
  model: option('NAME', 'openai/…, anthropic/… or openai-compatible/…', { short: 'm' }),
  'base-url': option('URL', 'address of an OpenAI-compatible service'),
}
