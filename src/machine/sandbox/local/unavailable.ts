/** unavailable: says why commands cannot be confined here and what to type, and finds the programs that confine. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Diagnostic, errorCode, type NexusError } from '../../../kernel/index.ts'
import { sandboxError, UNAVAILABLE } from '../messages.ts'
import type { LocalSettings } from './options.ts'

/** Confines commands; its package has the same name on Debian, Fedora, Alpine and Arch alike. */
const PROGRAM = { name: 'bwrap', package: 'bubblewrap' } as const

const INSTALLERS = [
  ['/usr/bin/apt-get', 'apt-get install -y'],
  ['/usr/bin/dnf', 'dnf install -y'],
  ['/sbin/apk', 'apk add'],
  ['/usr/bin/pacman', 'pacman -S --noconfirm'],
] as const

/** Root may not become another user here, and commands never run as uid 0. */
export function cannotDrop(step: string, cause: unknown): NexusError {
  return sandboxError(UNAVAILABLE.uid({ step, code: errorCode(cause) ?? 'unknown' }), cause)
}

/** The path of bubblewrap; throws SANDBOX_UNAVAILABLE with the command that installs it. */
export function findBwrap({
  programDirectories,
  isRoot,
}: Pick<LocalSettings, 'programDirectories' | 'isRoot'>): string {
  if (process.platform !== 'linux') {
    throw sandboxError(UNAVAILABLE.system({ system: process.platform }))
  }
  const path = findProgram(PROGRAM.name, programDirectories)
  if (path !== undefined) return path
  throw sandboxError(UNAVAILABLE.bwrap({ command: installCommand(PROGRAM.package, isRoot) }))
}

export function findProgram(name: string, directories: readonly string[]): string | undefined {
  return directories.map((directory) => join(directory, name)).find(isExecutable)
}

/** True for a file that this process may execute. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    // Absent or without permission: either way it cannot be used.
    return false
  }
}

/** Without socat commands run, and reach no host. */
export function missingRelay({
  programDirectories,
  isRoot,
}: Pick<LocalSettings, 'programDirectories' | 'isRoot'>): readonly Diagnostic[] {
  if (process.platform !== 'linux' || findProgram('socat', programDirectories) !== undefined) return []
  const { message, fix } = UNAVAILABLE.socat({ command: installCommand('socat', isRoot) })
  return [{ code: 'sandbox-no-relay', severity: 'warning', message, fix, path: 'sandbox' }]
}

/** The command that adds a package to this system. */
export function installCommand(name: string, isRoot: boolean): string {
  const installer = INSTALLERS.find(([path]) => existsSync(path))?.[1] ?? 'apt-get install -y'
  return `${isRoot ? '' : 'sudo '}${installer} ${name}`
}

/** The error for a failed trial, with the setting that most likely causes it. */
export function explainRefusal(reason: string): NexusError {
  const isNamespace = /namespace|uid_?map|setgroups|Operation not permitted|Permission denied|No space left/i.test(
    reason,
  )
  const said = firstLine(reason)
  return sandboxError(
    isNamespace ? UNAVAILABLE.namespaces({ said, command: namespaceCommand() }) : UNAVAILABLE.other({ why: said }),
  )
}

/** The command that changes the setting which forbids namespaces; undefined when none does. */
function namespaceCommand(): string | undefined {
  const settings = [
    ['user/max_user_namespaces', '0', 'sysctl -w user.max_user_namespaces=15000'],
    ['kernel/unprivileged_userns_clone', '0', 'sysctl -w kernel.unprivileged_userns_clone=1'],
    ['kernel/apparmor_restrict_unprivileged_userns', '1', 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0'],
  ] as const
  const bad = settings.find(([path, value]) => readSetting(path) === value)
  return bad?.[2]
}

function readSetting(path: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${path}`, 'utf8').trim()
  } catch {
    // This kernel does not have the setting.
    return undefined
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
