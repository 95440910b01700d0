/** hosts: which hosts the commands of a skill seem to need. A proposal for a person, never a right. Pure. */
import { networkLine, readHostRule, type Skill } from '../../kernel/index.ts'
import type { Facts, ProposedHost } from './facts.ts'
import { type Finding, finding } from './finding.ts'
import { MESSAGES } from './messages.ts'

/** A file of a skill that a person or a command reads. */
export interface ReadFile {
  readonly path: string
  readonly text: string
}

/** A whole address; what is before an @ is no host. Templates such as `https://${HOST}/` name none. */
const addresses = (): RegExp =>
  /\b(?:https?|wss?):\/\/(?:[\w.~%!$&'()*+,;=:-]*@)?((?:[\p{L}\p{N}_-]+\.)+[\p{L}\p{N}_-]+)(?::(\d{1,5}))?(?![\p{L}\p{N}_\{.<%-])(\$?)/giu
/** Behind one of these a variable is the path, as in `https://api.acme.com$1`. */
const WHOLE = /\.(?:com|org|net|io|dev|ai|app|gov|edu|cloud)$/i
/** `[text](address)` and `<address>` are for readers. */
const LINK = /\]\((?:[^()\s]|\([^()\s]*\))*\)|<https?:\/\/[^<>\s]*>/g
const FRONT = /^---\r?\n[\s\S]*?\r?\n---\r?\n/
/** Names that no server has (RFC 2606, RFC 6761), and those that are to be replaced. */
const PLACEHOLDER =
  /(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid|local|localhost|internal|lan)$|(?:^|[.-])(?:your|my)[-.]/i

const INSTALLERS: readonly (readonly [name: string, pattern: RegExp, hosts: readonly string[]])[] = [
  ['pip', /\bpip3?\s+(?:install|download)(?![\w-])/, ['pypi.org', 'files.pythonhosted.org']],
  ['uv', /\buv\s+(?:pip|add|sync|run|tool)(?![\w-])|\buvx\s/, ['pypi.org', 'files.pythonhosted.org']],
  [
    'npm',
    /\b(?:npm\s+(?:i|install|ci|exec|add|view|info|pack|update|audit)|npx|pnpm\s+(?:i|install|add|dlx)|yarn\s+(?:add|install))(?![\w-])/,
    ['registry.npmjs.org'],
  ],
  ['cargo', /\bcargo\s+(?:install|add|build|fetch|run)(?![\w-])/, ['index.crates.io', 'static.crates.io']],
  ['go', /\bgo\s+(?:install|get|mod\s+download)(?![\w-])/, ['proxy.golang.org', 'sum.golang.org']],
  [
    'gh',
    /(?:^|[\s`$(;&|])gh\s+(?:api|auth|issue|pr|release|repo|run|search|workflow|gist)(?![\w-])/m,
    ['api.github.com', 'github.com'],
  ],
]

const SKILL_FILE = /(?:^|\/)SKILL\.md$/i

/** The hosts that the texts name in whole addresses, and those of installers that they call; each once, in the order of the files. */
export function hostsIn(files: readonly ReadFile[]): readonly ProposedHost[] {
  const found = new Map<string, ProposedHost>()
  const add = (host: string, from: string): void => {
    if (!found.has(host)) found.set(host, { host, from })
  }
  for (const { path, text } of files) {
    const read = SKILL_FILE.test(path) ? text.replace(FRONT, '').replaceAll(LINK, ' ') : text
    for (const [, name = '', port, follows] of read.matchAll(addresses())) {
      const host = follows === '$' && !WHOLE.test(name) ? undefined : settingOf(name, port)
      if (host !== undefined && !PLACEHOLDER.test(name)) add(host, path)
    }
  }
  for (const [name, pattern, hosts] of INSTALLERS)
    if (files.some(({ text }) => pattern.test(text))) for (const host of hosts) add(host, name)
  return [...found.values()]
}

/** Undefined for an address, and for what is no name. The ports of the web need not be written. */
function settingOf(name: string, port: string | undefined): string | undefined {
  const text = port === undefined || port === '443' || port === '80' ? name : `${name}:${port}`
  const rule = readHostRule(text)
  return rule && (rule.port === undefined ? rule.host : `${rule.host}:${rule.port}`)
}

/** The finding for the hosts that no setting allows yet. */
export function aboutHosts(skill: Skill, { hosts }: Facts): readonly Finding[] {
  const { key, known, proposed } = hosts?.get(skill) ?? { key: '', known: [], proposed: [] }
  if (proposed.length === 0) return []
  const shown = proposed.slice(0, MAX_SHOWN).map(({ host, from }) => `${host} (${from})`)
  const more = proposed.length > MAX_SHOWN ? ` and ${proposed.length - MAX_SHOWN} more` : ''
  const line = networkLine(key, [...known, ...proposed.map(({ host }) => host)])
  return [
    finding('hosts-proposed', 'info', {
      path: skill.file,
      ...MESSAGES['hosts-proposed'](`${shown.join(', ')}${more}`, line),
    }),
  ]
}

const MAX_SHOWN = 10
