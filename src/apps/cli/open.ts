import { errorOf } from './failure.ts'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { shownCall } from '../../authorize/index.ts'
import type { Catalog } from '../../skills/catalog/index.ts'
import { consentOf, loadConfig, type LoadedConfig, trustWorkspace } from '../../config/index.ts'
import { type Diagnostic, type NexusError, toSafeLine, commandFix, shellWord } from '../../kernel/index.ts'
import { isDirectory } from '../../machine/files/index.ts'
import type { Inspection, Local, LocalOptions } from '../../local/index.ts'
import { type AgentHandle, type ApprovalAnswer, CONNECT } from '../../runtime/index.ts'
import { type Answer, choiceFlag, CHOICES, type Invocation, listFlag, stringFlag } from './command.ts'
import { choose, confirm, oneAtATime } from './interactive/confirm.ts'
import { withProgress } from './interactive/progress.ts'
import { quoteCommand } from './show/lines.ts'
import { TRUST_QUESTION, itemsText } from './show/consent.ts'
import { looseIn } from './show/skills.ts'
import { formatDiagnostic, type Terminal } from './terminal.ts'

export interface OpenOptions extends Pick<
  LocalOptions,
  'record' | 'readsUses' | 'trusted' | 'cwd' | 'prompt' | 'approve' | 'waitForAnswers' | 'isLongRunning'
> {
  /** The command runs skills: it asks, or stops, when the workspace holds untrusted ones. */
  readonly needsTrust?: boolean
}

/**
 * Opens the local runtime as the command's flags say, and prints to stderr what is wrong with the configuration and with
 * the places where skills are looked for. Errors in the configuration stop every command but those that merely look and
 * record nothing (`record: 'memory'`). Throws FILE_NOT_FOUND for a `--skills-dir` that is not there.
 */
export async function openFor(invocation: Invocation, options: OpenOptions = {}): Promise<Local & AsyncDisposable> {
  const local = await openTrusted(invocation, options)
  return Object.assign(local, { [Symbol.asyncDispose]: () => local.close() })
}

async function openTrusted(invocation: Invocation, options: OpenOptions): Promise<Local> {
  const { terminal } = invocation
  const local = await openOnce(invocation, options)
  if (options.needsTrust && invocation.flags['trust'] === true) {
    // The caller gave consent; they still see to what.
    const { directory } = local.workspace
    const text = itemsText(await consentOf(local.loaded), directory)
    if (text !== '') terminal.note(`--trust applies the settings of ${toSafeLine(directory)}.\n${text}`)
  }
  if (!options.needsTrust || !local.waitsForTrust) {
    printDiagnostics(diagnosticsOf(local), terminal)
    return local
  }
  printDiagnostics(local.diagnostics, terminal)
  await local.close()
  await trustOrStop(local, invocation)
  // Not `trusted: true`: a file that was edited while the question was open is not the one that was shown.
  const trusted = await openOnce(invocation, options)
  if (trusted.waitsForTrust) {
    await trusted.close()
    throw notTrusted(trusted, 'The configuration changed while the question was open.')
  }
  const printed = new Set(local.diagnostics.map(({ message }) => message))
  const others = diagnosticsOf(trusted).filter(({ message }) => !printed.has(message))
  printDiagnostics(others, terminal)
  return trusted
}

/** Findings about the run as a whole: the configuration, and sources that could not be searched. Errors of single skills are theirs. */
export function findings(ofConfig: readonly Diagnostic[], catalog: Catalog): readonly Diagnostic[] {
  return [...ofConfig, ...looseIn(catalog).filter(({ severity }) => severity === 'error')]
}

export function diagnosticsOf({ diagnostics, runtime }: Pick<Local, 'diagnostics' | 'runtime'>): readonly Diagnostic[] {
  return findings(diagnostics, runtime.openAgent().catalog())
}

async function openOnce(invocation: Invocation, options: OpenOptions): Promise<Local> {
  const { openLocal } = await import('../../local/index.ts')
  const asked = toLocalOptions(invocation, options)
  return withProgress(invocation.terminal, 'looking for skills', () => openLocal(asked))
}

function toLocalOptions(invocation: Invocation, { cwd, needsTrust, ...options }: OpenOptions): LocalOptions {
  return {
    ...places(invocation),
    cwd: cwd ?? invocation.cwd,
    signal: invocation.signal,
    approve: approver(invocation),
    waitForAnswers: invocation.flags['wait'] === true,
    sandbox: choiceFlag(invocation, 'sandbox', CHOICES.sandbox),
    network: networkFlags(invocation),
    tolerateConfigErrors: options.record === 'memory' && needsTrust !== true,
    ...options,
  }
}

/** Undefined where neither option was given: then the settings hold. */
function networkFlags(invocation: Invocation): LocalOptions['network'] {
  if (invocation.flags['no-network'] === true) return false
  const hosts = listFlag(invocation, 'network')
  return hosts.length === 0 ? undefined : hosts
}

export function places(invocation: Invocation) {
  const { cwd, environment, flags } = invocation
  return {
    cwd,
    environment,
    configPath: stringFlag(invocation, 'config'),
    skillsDirs: skillsDirs(invocation),
    trusted: flags['trust'] === true ? true : undefined,
  }
}

export const NO_CONFIG = 'There is no nexus.yaml, so the defaults apply.'

/** The settings around the working directory, with those of `--config`. Errors in them do not stop it. */
export function loadHere(invocation: Invocation): Promise<LoadedConfig> {
  const { cwd, environment } = invocation
  return loadConfig({ cwd, environment, configPath: stringFlag(invocation, 'config') })
}

/** A directory named on the command line is meant to be there; one in a configuration may come later. */
export function skillsDirs(invocation: Invocation): readonly string[] {
  return listFlag(invocation, 'skills-dir').map((given) => {
    const path = resolve(invocation.cwd, given)
    if (isDirectory(path)) return path
    if (existsSync(path)) throw notADirectory(given)
    throw errorOf(
      'FILE_NOT_FOUND',
      `--skills-dir ${toSafeLine(given)}: the directory ${toSafeLine(path)} does not exist.`,
      commandFix(
        'Name a directory that exists, or make it with a first skill:',
        ...['skills', 'init', 'my-skill', '--path', given],
      ),
    )
  })
}

export function notADirectory(given: string): NexusError {
  const fix = `Give its directory: ${shellWord(dirname(given))}`
  return errorOf('INVALID_ARGUMENT', `${toSafeLine(given)} is a file, not a directory.`, fix)
}

/** Prints errors and warnings to stderr; information stays with `config check` and `skills check`. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], terminal: Terminal): void {
  for (const diagnostic of diagnostics) {
    if (diagnostic.severity !== 'info') terminal.note(formatDiagnostic(diagnostic, terminal.besideDocument()))
  }
}

/**
 * Finds the skills as the command's flags say, prints to stderr what is wrong with the configuration and the folders, and passes on
 * the share of the agent. Errors in the configuration do not stop it. Ctrl-C ends the process: there is nothing to clean up.
 */
export async function withInspection(
  invocation: Invocation,
  use: (inspection: Inspection, catalog: Catalog) => Answer | Promise<Answer>,
): Promise<Answer> {
  const { terminal } = invocation
  const { inspectSkills } = await import('../../local/index.ts')
  const asked = { ...places(invocation), tolerateConfigErrors: true }
  const inspection = await withProgress(terminal, 'looking for skills', () => inspectSkills(asked))
  printDiagnostics(findings(inspection.diagnostics, inspection.catalog()), terminal)
  return use(inspection, inspection.catalog(agentFlag(invocation)))
}

/** `none` is never silent. */
export function warnUnconfined(local: Pick<Local, 'sandbox'>, { terminal }: Invocation): void {
  if (local.sandbox.kind !== 'none') return
  const text =
    'WARNING: sandbox none. Commands run as you, with your files and your network. Nexus records no changes. Use it only for skills that you wrote.'
  terminal.note(terminal.paintNote('red', text))
}

/** The id that `--agent` names. */
export function agentFlag(invocation: Invocation): string | undefined {
  return stringFlag(invocation, 'agent')
}

/** The agent that `--agent` names, else the first. Throws INVALID_ARGUMENT when there is none of that name. */
export function agentOf({ runtime }: Pick<Local, 'runtime'>, invocation: Invocation, sessionId?: string): AgentHandle {
  return runtime.openAgent({ id: agentFlag(invocation), sessionId })
}

async function trustOrStop(local: Local, invocation: Invocation): Promise<void> {
  const { loaded, workspace } = local
  const { directory } = workspace
  const consent = await consentOf(loaded)
  const canRemember = invocation.terminal.isInteractive && !loaded.homeIsWorkspace
  const items = itemsText(consent, directory)
  const why = [
    workspace.lost.length > 0
      ? `Some settings of ${toSafeLine(directory)} are untrusted, because they were edited after you trusted it: ${workspace.lost.map(toSafeLine).join(', ')}.`
      : `${toSafeLine(directory)} is untrusted. Its skills instruct the model and run commands in the sandbox.${consent.text !== undefined ? ' Its nexus.yaml changes settings.' : ''}`,
    ...(items === '' ? [] : [items]),
  ]
  const text = consent.text === undefined ? [] : ['nexus.yaml:', consent.text]
  const question = [...why, ...text, TRUST_QUESTION].join('\n')
  if (!canRemember || !(await confirm(question, invocation))) throw notTrusted(local, why.join('\n'))
  await trustWorkspace({ nexusHome: loaded.nexusHome, directory, shown: consent.shown })
}

function notTrusted({ loaded, workspace }: Local, why: string): NexusError {
  const { directory, files } = workspace
  const configFile = files.find((path) => path !== join(directory, 'nexus.yaml'))
  const fix = loaded.homeIsWorkspace
    ? 'For this run only, add --trust. To trust it from now on, set NEXUS_HOME to a directory outside the workspace first.'
    : commandFix(
        'For this run only, add --trust. To trust it from now on, read it and then run:',
        ...['trust', directory, ...(configFile === undefined ? [] : ['--config', configFile])],
      )
  return errorOf('UNTRUSTED_WORKSPACE', why, fix)
}

const ONCE_OR_LONGER = { words: ['yes', 'session', 'always', 'no'], again: 'Type y, s, a or n.' } as const

/** For this connection and those after it in the same command, for the session, or always for this skill and host. */
async function askAboutHost(question: string, invocation: Invocation, signal: AbortSignal): Promise<ApprovalAnswer> {
  const text = `${toSafeLine(question)} [y: once / s: this session / a: always / N]`
  const answer = await choose(text, ONCE_OR_LONGER, invocation, signal)
  if (answer === undefined) return undefined
  const by = 'this terminal'
  if (answer === 'always') return { isAllowed: true, by, remember: 'exact' }
  if (answer === 'session') return { isAllowed: true, by, remember: 'session' }
  return { isAllowed: answer === 'yes', by }
}

/** `--yes`, or the person at the terminal; undefined when neither is there to confirm. */
export function approver(invocation: Invocation): LocalOptions['approve'] {
  const { isInteractive } = invocation.terminal
  const isYes = invocation.flags['yes'] === true
  if (!isInteractive && !isYes) return undefined
  const inTurn = oneAtATime<ApprovalAnswer>()
  return async (call, asked, signal, why) => {
    // A host is not the policy's: --yes opens none, --network does.
    if (call.tool === CONNECT) return isInteractive ? inTurn(() => askAboutHost(asked, invocation, signal)) : undefined
    // A person answers about what would be held: --yes only answers for the policy.
    if (isYes && (why === undefined || !isInteractive))
      return why === undefined ? { isAllowed: true, by: '--yes' } : undefined
    // Whole, because the answer is about all of it.
    const { command, more } = shownCall(call)
    const question = [
      `The agent${call.agentPath.includes('/') ? ` ${toSafeLine(call.agentPath)}` : ''} wants to run ${toSafeLine(call.tool)}${more === undefined ? '' : ` with ${toSafeLine(more)}`}${why === undefined ? ', and its policy asks you first' : ''}:`,
      ...quoteCommand(command),
      ...(why === undefined ? [] : [toSafeLine(why)]),
      'Allow it?',
    ]
    return inTurn(async () => {
      const isAllowed = await confirm(question.join('\n'), invocation, signal)
      return isAllowed === undefined ? undefined : { by: 'this terminal', isAllowed }
    })
  }
}
