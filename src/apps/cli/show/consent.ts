/** consent: what a person reads before they trust a workspace. */
import { relative } from 'node:path'
import type { Consent, ConsentItem, ConsentKind, LoadedConfig } from '../../../config/index.ts'
import { toSafeLine } from '../../../kernel/index.ts'
import type { Terminal } from '../terminal.ts'

const KINDS: Readonly<Record<ConsentKind, string>> = {
  command: 'command',
  module: 'module',
  server: 'server',
  address: 'base URL',
  source: 'source',
  'secret-file': 'secret file',
  hosts: 'hosts',
}

export const TRUST_QUESTION = 'Trust this workspace from now on?'

/** Every command, module, server, address and source, one a line; empty when there is none. */
export function itemsText({ items }: Pick<Consent, 'items'>, directory: string): string {
  const line = ({ kind, subject, path, line: number, text }: ConsentItem): string =>
    `  ${KINDS[kind].padEnd(11)} ${subject} (${toSafeLine(relative(directory, path))}:${number}): ${text}`
  const group = (heading: string, belongs: (item: ConsentItem) => boolean): string[] => {
    const lines = items.filter(belongs).map(line)
    return lines.length === 0 ? [] : [heading, ...lines]
  }
  return [
    ...group(
      'These run as you, outside the sandbox, with your files and your network:',
      ({ runsAsUser }) => runsAsUser,
    ),
    ...group(
      'Nexus contacts or reads these with your rights:',
      ({ runsAsUser, kind }) => !runsAsUser && kind !== 'hosts',
    ),
    ...group('Commands may reach these hosts:', ({ kind }) => kind === 'hosts'),
  ].join('\n')
}

/** A workspace, and whether its skills and all of its settings apply. */
export function trustText({ directory, trusted, lost }: LoadedConfig['workspace'], terminal: Terminal): string {
  const shown = terminal.shortPath(directory)
  if (trusted) return `${shown} (trusted)`
  const since = lost.length === 0 ? '' : ` since you edited ${lost.map(toSafeLine).join(', ')}`
  return `${shown} (untrusted${since}: ${terminal.commandLine(['trust'])})`
}
