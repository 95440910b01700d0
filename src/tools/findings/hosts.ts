/** hosts: findings about hosts that a command did not reach, with the setting that would open them. */
import { readHostRule, shownHost, WEB_PORTS } from '../../kernel/index.ts'
import { type CommandFinding, type CommandRun } from './command-run.ts'

const MAX_FINDINGS = 5

/** Hosts that the proxy of the command refused. */
export function refusedFindings(run: CommandRun): readonly CommandFinding[] {
  const { refused = [] } = run.result.network ?? {}
  return refused.slice(0, MAX_FINDINGS).map(({ host, port, because, message, fix }) => ({
    code: 'host-refused',
    subject: `${host}:${port}`,
    message,
    fix: because === 'not-allowed' ? allowing(shownHost({ host, port }), run) : fix,
  }))
}

/** How a host is opened; undefined for what is no name of one. */
export function openingOf(subject: string | undefined, run: CommandRun): string | undefined {
  const host = subject === undefined ? undefined : readHostRule(subject.replace(/:(\d+)$/, portOf))?.host
  return host === undefined ? undefined : allowing(host, run)
}

function portOf(text: string, port: string): string {
  return WEB_PORTS.includes(Number(port)) ? '' : text
}

function allowing(shown: string, { hostSetting, isTyped }: CommandRun): string {
  const { name = 'execution.network.allowedDomains', file = 'nexus.yaml' } = hostSetting ?? {}
  const where = `add ${shown} to ${name} in ${file}`
  return isTyped
    ? `To allow it, ${where}. For this run only, add --network ${shown}.`
    : `Only the user can allow it: ${where}.`
}
