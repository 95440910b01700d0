import type { Command } from './command.ts'
import { COMMANDS } from './table.ts'
import { formatTable, type Terminal } from './terminal.ts'

/** The text of `nexus --help`. */
export function overview(paint: Terminal['paint']): string {
  return [
    'Nexus: the skill runtime for AI agents. It finds skills, says which can run here, and runs them confined.',
    '',
    `${paint('bold', 'Usage:')} nexus <command> [options]`,
    '',
    paint('bold', 'Commands:'),
    indent(formatTable(COMMANDS.map((command) => [command.name, command.summary]))),
    '',
    paint('bold', 'Everywhere:'),
    indent(
      formatTable([
        ['--help, -h', 'help for a command, with examples'],
        ['--version, -V', 'the version'],
      ]),
    ),
    '',
    'Exit codes: 0 ok, 1 failure, 2 wrong use, 3 network or model, 4 not found, 130 cancelled.',
    'Start with: nexus demo',
  ].join('\n')
}

/** The text of `nexus <command> --help`. */
export function commandHelp(command: Command, paint: Terminal['paint']): string {
  const options = Object.entries(command.options ?? {}).map(([name, option]) => {
    const short = option.short === undefined ? '' : `-${option.short}, `
    return [`${short}--${name}${option.value === undefined ? '' : ` ${option.value}`}`, option.help]
  })
  return [
    `${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`,
    '',
    `${paint('bold', 'Usage:')} nexus ${command.name}${command.usage === undefined ? '' : ` ${command.usage}`} [options]`,
    ...(options.length === 0 ? [] : ['', paint('bold', 'Options:'), indent(formatTable(options))]),
    '',
    paint('bold', 'Examples:'),
    ...command.examples.map((example) => `  ${example}`),
  ].join('\n')
}

/** The text of `nexus skills --help` and the like. */
export function groupHelp(group: string, paint: Terminal['paint']): string {
  const members = COMMANDS.filter((command) => command.name.startsWith(`${group} `))
  return [
    `${paint('bold', 'Usage:')} nexus ${group} <command>`,
    '',
    indent(formatTable(members.map((command) => [command.name, command.summary]))),
  ].join('\n')
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}
