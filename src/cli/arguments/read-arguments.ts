import { parseArgs } from 'node:util'
import { nearest, NexusError, toSafeLine } from '../../kernel/index.ts'
import type { Command, Invocation } from '../command.ts'

/** What stands on a command line behind the name of the command. */
export type Arguments = Pick<Invocation, 'flags' | 'positionals' | 'rest'>

const HELP = { type: 'boolean', short: 'h' } as const

/** Reads the options and words of a command. Throws INVALID_ARGUMENT for what the command does not take. */
export function readArguments(command: Command, args: readonly string[]): Arguments {
  const split = args.includes('--') ? args.indexOf('--') : args.length
  const rest = args.slice(split + 1)
  const options = { ...command.options, help: HELP }
  // Not strict: the errors of `parseArgs` have no fields, only sentences.
  const { values, positionals, tokens } = parseArgs({
    ...{ args: args.slice(0, split), options, strict: false, allowPositionals: true, tokens: true },
  })
  for (const token of tokens) if (token.kind === 'option') checkOption(command, token)
  const extra = values['help'] === true ? undefined : extraWord(command, { positionals, rest })
  if (extra !== undefined) throw extraArgument(command, extra)
  return { flags: values, positionals, rest }
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function checkOption({ name: words, options = {} }: Command, token: OptionToken): void {
  const { name, rawName, value, inlineValue } = token
  const fault = (message: string, fix: string): NexusError =>
    new NexusError('INVALID_ARGUMENT', `nexus ${words}: ${message}`, { fix })
  const option = name === 'help' ? HELP : Object.hasOwn(options, name) ? options[name] : undefined
  if (option === undefined) {
    const guess = rawName.startsWith('--') ? nearest(name, [...Object.keys(options), 'help']) : undefined
    const meant = guess === undefined ? '' : `Did you mean --${guess}? `
    throw fault(`Unknown option '${toSafeLine(rawName)}'.`, `${meant}See: nexus ${words} --help`)
  }
  if (option.type === 'string') {
    // A word that looks like an option is one, unless it stands behind `=`.
    const isGiven = value !== undefined && (inlineValue === true || !/^-./.test(value))
    if (!isGiven) throw fault(`--${name} needs a value.`, `--${name} ${option.value}`)
  } else if (value !== undefined) throw fault(`--${name} takes no value.`, `--${name}`)
}

/** The first word that the usage of the command has no place for: it must not be ignored. */
function extraWord({ usage = '' }: Command, { positionals, rest }: Omit<Arguments, 'flags'>): string | undefined {
  const [own = '', command] = usage.split('-- ')
  if (own.includes('…') || own.includes('"')) return undefined
  const most = own.split(' ').filter((word) => word !== '').length
  return positionals[most] ?? (command === undefined ? rest[0] : undefined)
}

/** A file for `config` is most likely meant as its option. */
function extraArgument({ name, options = {} }: Command, word: string): NexusError {
  const isFile = Object.hasOwn(options, 'config') && /\.ya?ml$/.test(word)
  return new NexusError('INVALID_ARGUMENT', `nexus ${name}: '${toSafeLine(word)}' is one argument too many.`, {
    fix: isFile ? `nexus ${name} --config ${toSafeLine(word)}` : `See: nexus ${name} --help`,
  })
}
