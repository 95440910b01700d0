import type { Command } from './command.ts'
import { COMMANDS } from './table.ts'
import { formatTable, wrap } from './show/columns.ts'
import type { Terminal } from './terminal.ts'

type Screen = Pick<Terminal, 'paint' | 'columns' | 'commandLine'>

export function overview(terminal: Screen): string {
  const { paint } = terminal
  return [
    ...prose(
      'Nexus is the skill runtime for AI agents. It finds skills, reports which can run here, and runs them in a sandbox.',
      terminal,
    ),
    '',
    `${paint('bold', 'Usage:')} nexus <command> [options]`,
    '',
    paint('bold', 'Commands:'),
    summaries(COMMANDS, terminal),
    '',
    paint('bold', 'Everywhere:'),
    table(
      [
        ['--help, -h', 'help for a command, with examples'],
        ['--version, -V', 'the version'],
        ['--as-root', 'as root, use a workspace and settings of another account'],
      ],
      terminal,
    ),
    '',
    ...prose('Exit codes: 0 ok, 1 failure, 2 wrong use, 3 network or model, 4 not found, 130 cancelled.', terminal),
    `Start with: ${terminal.commandLine(['demo'])}`,
  ].join('\n')
}

export function commandHelp(command: Command, terminal: Screen): string {
  const options = Object.entries(command.options ?? {}).map(([name, option]) => {
    const short = option.short === undefined ? '' : `-${option.short}, `
    return [`${short}--${name}${option.value === undefined ? '' : ` ${option.value}`}`, option.help]
  })
  const { paint } = terminal
  const { name: words, summary, usage, examples } = command
  return [
    ...prose(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`, terminal),
    '',
    `${paint('bold', 'Usage:')} nexus ${words}${usageOf(usage)}`,
    ...(options.length === 0 ? [] : ['', paint('bold', 'Options:'), table(options, terminal)]),
    '',
    paint('bold', 'Examples:'),
    ...examples.map((example) => `  ${example}`),
  ].join('\n')
}

export function groupHelp(group: string, terminal: Screen): string {
  const { paint } = terminal
  const members = COMMANDS.filter((command) => command.name.startsWith(`${group} `))
  return `${paint('bold', 'Usage:')} nexus ${group} <command>\n\n${summaries(members, terminal)}`
}

function summaries(commands: readonly Command[], terminal: Screen): string {
  const rows = commands.map(({ name, summary }) => [name, summary])
  return table(rows, terminal)
}

/** Options end where `--` begins. */
function usageOf(usage = ''): string {
  const [own = '', ...rest] = usage.split(/(?=-- )/)
  return [own.trim(), '[options]', ...rest].map((part) => (part === '' ? '' : ` ${part}`)).join('')
}

function prose(text: string, { columns }: Screen): readonly string[] {
  return wrap(text, columns)
}

const INDENT = '  '

function table(rows: readonly (readonly string[])[], { columns }: Screen): string {
  return formatTable(rows, { columns: columns - INDENT.length, long: 'wrap' }).replace(/^/gm, INDENT)
}
