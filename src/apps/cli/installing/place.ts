import { assertValid, type LoadedConfig } from '../../../config/index.ts'
import { toSafeLine } from '../../../kernel/index.ts'
import { aloneOf, installScope, sourceAccess } from '../../../local/index.ts'
import {
  type Alone,
  CLIENT_NAMES,
  enforce,
  installError,
  judge,
  type Judged,
  type Scope,
  type SourceAccess,
  type Wanted,
} from '../../../skills/install/index.ts'
import { choiceFlag, CHOICES, type Invocation, listFlag } from '../command.ts'
import { loadHere } from '../open.ts'
import { ask } from '../interactive/confirm.ts'
import { withProgress } from '../interactive/progress.ts'
import { INSTALL_WORDS } from './words.ts'

/** The ground on which every command of this kind works. */
export interface Installing {
  readonly loaded: LoadedConfig
  readonly scope: Scope
  readonly alone: Alone
  readonly access: SourceAccess & { readonly httpHosts: readonly string[] }
  /** A copy placed here is trusted, and gets what the settings give to skills. */
  readonly isTrusted: boolean
  /** Says what is fetched meanwhile: with bytes in a terminal, as one line elsewhere. */
  fetching<T>(what: string, work: () => Promise<T>): Promise<T>
}

/** The scope that is asked for; by default the workspace where something makes one. Throws CONFIG_INVALID. */
export async function openInstalling(invocation: Invocation): Promise<Installing> {
  const { environment, signal, terminal } = invocation
  const kind = choiceFlag(invocation, 'scope', CHOICES.place)
  const loaded = await loadHere(invocation)
  assertValid(loaded)
  const { workspace } = loaded
  const scope = installScope(kind ?? (workspace.marker === undefined ? 'user' : 'workspace'), loaded, environment)
  const isTrusted = scope.kind === 'user' ? !loaded.homeIsWorkspace : workspace.trusted
  let seen = 0
  const onBytes = (bytes: number): void => void (seen = bytes)
  return {
    ...{ loaded, scope, isTrusted, alone: aloneOf(loaded, signal) },
    fetching: (what, work) => {
      if (!terminal.isWatched) terminal.note(INSTALL_WORDS.fetching(what, 0))
      return withProgress(terminal, () => INSTALL_WORDS.fetching(what, seen), work)
    },
    access: { ...sourceAccess(scope, environment, signal), onBytes, httpHosts: loaded.config.skills.install.httpHosts },
  }
}

/** Asks the install policy of the user about skills, and stops for what it does not allow. */
export async function askPolicy(
  wanted: readonly Wanted[],
  { scope, loaded }: Pick<Installing, 'scope' | 'loaded'>,
  invocation: Invocation,
): Promise<void> {
  const { command, positionals, signal, terminal } = invocation
  const kind: 'install' | 'update' | 'restore' = KINDS[command] ?? 'install'
  const [specifier] = positionals
  const hook = {
    program: loaded.config.skills.install.policy,
    workspace: loaded.workspace.directory,
    kind,
    signal,
    specifier,
  }
  const judged = await judge(scope, wanted, hook)
  for (const { name, findings } of judged)
    for (const { severity, message } of findings) terminal.note(INSTALL_WORDS.policyFinding(name, severity, message))
  const warned = judged.filter(({ decision }) => decision === 'warn')
  for (const { name, reason } of warned) terminal.note(INSTALL_WORDS.policyReason(name, reason))
  const accepted = new Set(namesFlag(invocation, 'accept'))
  const isDry = invocation.flags['dry-run'] === true
  const taken = isDry ? new Set(warned.map(({ name }) => name)) : await acceptedOf(judged, accepted, invocation)
  enforce(judged, taken, typedAgain(invocation))
}

/** The names that are accepted; a person in a terminal types those that are missing, where nothing is blocked. */
async function acceptedOf(
  judged: readonly Judged[],
  given: ReadonlySet<string>,
  invocation: Invocation,
): Promise<ReadonlySet<string>> {
  const { terminal, flags } = invocation
  const isBlocked = judged.some(({ decision }) => decision === 'block')
  if (isBlocked || flags['yes'] === true || !terminal.isInteractive) return given
  const accepted = new Set(given)
  for (const { name, decision } of judged) {
    if (decision !== 'warn' || accepted.has(name)) continue
    const read = (typed: string): string | undefined => (typed === name ? name : undefined)
    const words = { read, again: INSTALL_WORDS.typeAgain(name) }
    if (!(await ask(`${INSTALL_WORDS.typeName(name)}\n>`, words, invocation))) return accepted
    accepted.add(name)
  }
  return accepted
}

const KINDS: Readonly<Record<string, 'update' | 'restore'>> = {
  'skills update': 'update',
  'skills ci': 'restore',
  'skills rollback': 'restore',
}

/** Names given with a flag that may be repeated, or separated by commas. */
export function namesFlag(invocation: Invocation, flag: string): ReadonlySet<string> {
  return new Set(
    listFlag(invocation, flag)
      .flatMap((value) => value.split(','))
      .filter(Boolean),
  )
}

/** Names whose edits are replaced, and the command as it was typed. */
export function overwriting(invocation: Invocation) {
  const clients = [...namesFlag(invocation, 'client')]
  const unknown = clients.find((name) => !CLIENT_NAMES.includes(name))
  if (unknown !== undefined) throw installError('INVALID_ARGUMENT', INSTALL_WORDS.unknownClient(unknown, CLIENT_NAMES))
  return { overwrite: namesFlag(invocation, 'overwrite'), command: typedAgain(invocation), clients }
}

/** Consent that was given once is not proposed again. */
const ONCE: ReadonlySet<string> = new Set(['yes', 'dry-run', 'json'])

/** The words of this invocation, for a proposal that adds to them. */
export function typedAgain({ command, positionals, flags }: Invocation): readonly string[] {
  const options = Object.entries(flags).flatMap(([name, value]) => {
    if (ONCE.has(name) || value === undefined || value === false) return []
    const values = [value].flat()
    return values.flatMap((each) => (each === true ? [`--${name}`] : [`--${name}`, String(each)]))
  })
  return [...command.split(' '), ...positionals, ...options].map(toSafeLine)
}

/** Says where copies of replaced edits are. */
export function noteKept(kept: Iterable<readonly [string, string]>, { terminal }: Invocation): void {
  for (const [name, path] of kept) terminal.note(INSTALL_WORDS.keptEdits(name, terminal.shortPath(path)))
}

/** For JSON: where copies are and where the lock is. */
export function scopeData({ kind, root, lockPath }: Scope) {
  return { scope: kind, root: toSafeLine(root), lock: toSafeLine(lockPath) }
}
