/** accounts: whose files and homes are on this machine, and what root leaves to their owner. */
import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { commandFix, commandLine, NexusError, shellWord, toSafeLine } from '../kernel/index.ts'
import type { Environment } from './environment.ts'
import { realPath } from './home.ts'

interface Account {
  readonly name: string
  readonly uid: number
  readonly home: string
}

/** Where systems put homes, for accounts that a directory service knows and /etc/passwd does not. */
const PARENTS_OF_HOMES: ReadonlySet<string> = new Set(['/home', '/Users', '/var/home'])
const HOMES_OF_ROOT: ReadonlySet<string> = new Set(['/root', '/var/root'])

/** Whether a directory, by its real path, is the home of an account. */
export function isHome(directory: string): boolean {
  if (HOMES_OF_ROOT.has(directory) || PARENTS_OF_HOMES.has(dirname(directory))) return true
  return listAccounts().some(({ home }) => realPath(home) === directory)
}

/** Throws FOREIGN_OWNER as root for the first of the paths that belongs to another account, unless the user said `--as-root`. */
export function refuseForeign(paths: readonly string[], environment: Pick<Environment, 'caller' | 'get'>): void {
  for (const path of paths) refuseOwner({ path, uid: uidOf(path) }, environment)
}

/** The same for a file that was read, by the owner that it had then. */
export function refuseOwner(
  { path, uid }: { readonly path: string; readonly uid: number | undefined },
  { caller, get }: Pick<Environment, 'caller' | 'get'>,
): void {
  if (uid === undefined || uid === 0 || process.getuid?.() !== 0 || caller.asRoot === true) return
  const name = listAccounts().find((account) => account.uid === uid)?.name
  const { argv } = caller
  const words =
    argv === undefined
      ? { fix: 'Run the program as the owner. To let root use these files, set asRoot: true.' }
      : commandFix(
          [
            ...asOwner(commandLine('nexus', argv), name, get('SUDO_UID') === String(uid)),
            'To let root use these files, run:',
          ].join('\n'),
          ...asRootArgs(argv),
        )
  throw new NexusError(
    'FOREIGN_OWNER',
    `You are root, and ${toSafeLine(path)} belongs to ${toSafeLine(name ?? `uid ${uid}`)}. Nexus did not use it, because its owner would decide what root runs.`,
    { ...words, path },
  )
}

/** The line that runs a command as the owner, with the owner's home; none without an account. */
function asOwner(line: string, name: string | undefined, isThroughSudo: boolean): string[] {
  if (isThroughSudo) return [`Run it without sudo: ${line}`]
  return name === undefined ? [] : [`Run it as the owner: su ${shellWord(name)} -s /bin/sh -c ${shellWord(line)}`]
}

/** Arguments behind `--` belong to the command of a skill. */
function asRootArgs(argv: readonly string[]): readonly string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  return [...argv.slice(0, end), '--as-root', ...argv.slice(end)]
}

function uidOf(path: string): number | undefined {
  try {
    return statSync(path).uid
  } catch {
    // Not there, or a link to nowhere: nothing is read from it.
    return undefined
  }
}

/** The accounts of this machine's own list. */
function listAccounts(): Account[] {
  let text: string
  try {
    text = readFileSync('/etc/passwd', 'utf8')
  } catch {
    // Systems without it keep homes where `PARENTS_OF_HOMES` says.
    return []
  }
  return text.split('\n').flatMap((line) => {
    const [name = '', , uid = '', , , home = ''] = line.split(':')
    return /^\d+$/.test(uid) && home.startsWith('/') ? [{ name, uid: Number(uid), home }] : []
  })
}
