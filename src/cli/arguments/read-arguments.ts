import { parseArgs, type ParseArgsConfig } from 'node:util'
import type { OptionSpec } from '../command.ts'

type Options = Readonly<Record<string, Pick<OptionSpec, 'type' | 'short' | 'multiple'>>>
type Flags = Record<string, string | boolean | (string | boolean)[] | undefined>

/** What stands on a command line. */
export interface Arguments {
  readonly values: Readonly<Flags>
  readonly positionals: readonly string[]
}

/**
 * Options and words of a command line, as `util.parseArgs` (strict) reads them; throws as it does. Loading that takes a twentieth
 * of the start of Node, so what is written plainly (`--name`, `--name value`, words) is read without it.
 */
export function readArguments(args: readonly string[], options: Options): Arguments {
  return (
    plainArguments(args, options) ?? parseArgs({ args: [...args], options: specs(options), allowPositionals: true })
  )
}

function plainArguments(args: readonly string[], options: Options): Arguments | undefined {
  const values = Object.create(null) as Flags
  const positionals: string[] = []
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] as string
    if (!arg.startsWith('-')) {
      positionals.push(arg)
      continue
    }
    const name = arg.slice(2)
    const option = arg.startsWith('--') && Object.hasOwn(options, name) ? options[name] : undefined
    if (!option) return undefined
    let value: string | true = true
    if (option.type === 'string') {
      const next = args[++index]
      if (next === undefined || next.startsWith('-')) return undefined
      value = next
    }
    if (!option.multiple) values[name] = value
    else (values[name] = (values[name] as (string | boolean)[] | undefined) ?? []).push(value)
  }
  return { values, positionals }
}

function specs(options: Options): NonNullable<ParseArgsConfig['options']> {
  const result: NonNullable<ParseArgsConfig['options']> = {}
  for (const [name, { type, short, multiple }] of Object.entries(options)) {
    result[name] = { type, ...(short !== undefined && { short }), ...(multiple !== undefined && { multiple }) }
  }
  return result
}
