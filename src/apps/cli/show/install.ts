import { type InstallGround, type InstallProposal, proposeInstalls } from '../../../skills/format/index.ts'
import { quotedWord, shellWord, type Skill, toSafeLine } from '../../../kernel/index.ts'
import type { Inspection } from '../../../local/index.ts'
import type { Invocation } from '../command.ts'
import type { Terminal } from '../terminal.ts'

/** Where what a skill needs would be installed: for the target's system, by a person on this machine. */
export function installGround(
  { facts, loaded }: Pick<Inspection, 'facts' | 'loaded'>,
  { environment }: Invocation,
): InstallGround {
  const { os, hasBin } = facts
  const toolsDirectory = `${loaded.nexusHome}/tools`
  return { os, hasBin, home: environment.home, toolsDirectory, isRoot: process.getuid?.() === 0 }
}

/** Everything that the skill proposes. What an untrusted one proposes is named, but no command is made of it. */
export function installsOf(
  { metadata, origin }: Pick<Skill, 'metadata' | 'origin'>,
  ground: InstallGround,
): readonly InstallProposal[] {
  const proposals = proposeInstalls(metadata.install, ground)
  if (origin.trusted) return proposals
  return proposals.map(({ sha256: _, download: _download, ...proposal }) => ({
    ...proposal,
    ...{ commands: [], isChosen: false, problem: UNTRUSTED },
  }))
}

/** The programs that a skill requires and the target has not. */
export function missingPrograms(
  { bins, anyBins }: Skill['metadata']['requires'],
  hasBin: (name: string) => boolean,
): readonly string[] {
  const isMissing = (name: string): boolean => !hasBin(name)
  return [...bins.filter(isMissing), ...(anyBins.every(isMissing) ? anyBins : [])]
}

/** Proposals for programs that the target lacks; none for a skill that lacks none. */
export function missingInstallsOf(
  { metadata, origin }: Pick<Skill, 'metadata' | 'origin'>,
  ground: InstallGround,
): readonly InstallProposal[] {
  const { install, requires } = metadata
  const missing = missingPrograms(requires, ground.hasBin)
  if (missing.length === 0) return []
  const specs = install.filter(({ bins }) => bins.length === 0 || bins.some((bin) => missing.includes(bin)))
  return installsOf({ origin, metadata: { ...metadata, install: specs } }, ground)
}

/** For `--json`. `command` is the same for a shell. */
export function installData(proposals: readonly InstallProposal[]) {
  return proposals.map(({ isChosen, download: _, ...proposal }) => ({
    ...proposal,
    command: proposal.commands.length > 0 ? commandLine(proposal) : undefined,
    chosen: isChosen,
  }))
}

/** The commands of one proposal as a line for a shell; a download whose digest is known is checked before it is used. */
export function commandLine({
  commands,
  sha256,
  download,
}: Pick<InstallProposal, 'commands' | 'sha256' | 'download'>): string {
  const word = (text: string): string => (/^--?[\w-]+$/.test(text) ? text : shellWord(text))
  const lines = commands.map((words) => words.map(word).join(' '))
  if (sha256 !== undefined && download)
    lines.splice(download.commands, 0, `echo ${quotedWord(`${sha256} *${download.file}`)} | sha256sum --check -`)
  return lines.join(' && ')
}

const UNTRUSTED = 'its source is untrusted'

/** The chosen ones first, with the exact command; then the others, then why some are no choice. */
export function printInstalls(proposals: readonly InstallProposal[], terminal: Terminal, indent: string): void {
  const [first] = proposals
  if (first?.problem === UNTRUSTED) {
    const text = 'what it proposes to install is not shown, because its source is untrusted'
    return terminal.line(`${indent}${terminal.paint('dim', text)}`)
  }
  const order = ({ isChosen, problem }: InstallProposal): number => (isChosen ? 0 : 1) + (problem === undefined ? 0 : 2)
  for (const proposal of proposals.toSorted((a, b) => order(a) - order(b)))
    terminal.line(`${indent}${describe(proposal, terminal)}`)
}

function describe(proposal: InstallProposal, terminal: Terminal): string {
  const { kind, id, label = id === kind ? kind : `${kind} ${id}`, isChosen, problem } = proposal
  const about = terminal.paint('dim', `(${toSafeLine(label)})`)
  if (problem !== undefined) return `${terminal.paint('dim', 'not proposed:')} ${toSafeLine(problem)} ${about}`
  const what = isChosen ? terminal.paint('cyan', 'install:') : terminal.paint('dim', 'or:')
  const warning =
    kind === 'download' && proposal.sha256 === undefined ? '; no sha256 is given: inspect the file first' : ''
  return `${what} ${toSafeLine(commandLine(proposal))}  ${about}${terminal.paint('dim', warning)}`
}
