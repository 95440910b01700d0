/** consent: what a person reads before they trust a workspace. */
import { relative } from 'node:path'
import type { Consent, ConsentItem, ConsentKind, LoadedConfig } from '../../config/index.ts'
import { toSafeLine } from '../../kernel/index.ts'

const KINDS: Readonly<Record<ConsentKind, string>> = {
  command: 'command',
  module: 'module',
  server: 'server',
  address: 'base URL',
  source: 'source',
  'secret-file': 'secret file',
}

/** What trusting a workspace means, whatever it holds. */
export function meaningOfTrust(directory: string): string {
  return `${toSafeLine(directory)} is not trusted. Its skills instruct the model and run commands in the sandbox. Its nexus.yaml changes settings.`
}

/** Every command, module, server, address and source, one a line; empty when there is none. */
export function itemsText({ items }: Pick<Consent, 'items'>, directory: string): string {
  const line = ({ kind, subject, path, line: number, text }: ConsentItem): string =>
    `  ${KINDS[kind].padEnd(11)} ${subject} (${toSafeLine(relative(directory, path))}:${number}): ${text}`
  const group = (heading: string, runs: boolean): string[] => {
    const lines = items.filter(({ runsAsUser }) => runsAsUser === runs).map(line)
    return lines.length === 0 ? [] : [heading, ...lines]
  }
  return [
    ...group('These run as you, outside the sandbox, with your files and your network:', true),
    ...group('Nexus contacts or reads these with your rights:', false),
  ].join('\n')
}

/** A workspace, and whether its skills and all of its settings count. */
export function trustText({ directory, trusted, lost }: LoadedConfig['workspace']): string {
  const state = !trusted
    ? 'not trusted: nexus trust'
    : lost.length > 0
      ? `not trusted since you edited ${lost.map(toSafeLine).join(', ')}: nexus trust`
      : 'trusted'
  return `${toSafeLine(directory)} (${state})`
}
