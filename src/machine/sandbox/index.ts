/** sandbox: where commands run. `local` confines them, `none` does not; both are loaded when they are asked for. */
import type { Diagnostic } from '../../kernel/index.ts'
import { isNexusError } from '../../kernel/index.ts'
import type { SetsAt } from '../changes/index.ts'
import { LazySandbox } from './lazy.ts'
import { localFacts } from './local/facts.ts'
import { REQUESTS, sandboxError } from './messages.ts'
import { type LocalOptions, withDefaults } from './local/options.ts'
import type { NamedProgram } from './local/programs.ts'
import type { NoneOptions } from './none.ts'
import type { Sandbox } from './sandbox.ts'

export { SYSTEM_CERTIFICATES } from './runner/relay.ts'
export { placesIn, type Protecting } from './places.ts'
export { judgeWrite } from './write-check.ts'
export { holds, type OpenPaths, partsOf, type PathLimits, type Whole } from './open-paths.ts'

export { checkEnvironment, refusedVariable } from './environment.ts'
export type { LocalOptions } from './local/options.ts'
export type { NamedProgram } from './local/programs.ts'
export type { MirrorLimits } from './mirror/scan.ts'

export type { Mask } from '../egress/index.ts'

export { checkRequest } from './request.ts'

export type {
  CommandNetwork,
  CommandRequest,
  CommandResult,
  OnBytes,
  PlacedSkill,
  Sandbox,
  SetupResult,
} from './sandbox.ts'

/** Shown and recorded whenever `none` is in use. */
export const NONE_WARNING =
  'Sandbox "none": commands run with your own rights, see your files and reach the network. Nothing confines them.'

/** Which sandbox, for which project, with which settings. */
export type SandboxOptions = LocalOptions | NoneOptions

/** The programs of these names as commands would have them, with all their files checked. None for a sandbox that mounts nothing. */
export async function findPrograms(
  names: readonly string[],
  options: SandboxOptions,
): Promise<readonly NamedProgram[]> {
  if (options.kind === 'none' || names.length === 0) return []
  const settings = withDefaults(options)
  const { NamedPrograms } = await import('./local/programs.ts')
  return new NamedPrograms({ ...settings, programs: { ...settings.programs, names } }).check()
}

/** The interpreter of a virtual environment of a workspace that commands do not have; undefined where there is none. */
export async function unmountedInterpreter(
  workspace: string,
  options: SandboxOptions,
): Promise<NamedProgram | undefined> {
  if (options.kind === 'none') return undefined
  const { NamedPrograms } = await import('./local/programs.ts')
  return new NamedPrograms(withDefaults(options)).unmounted(workspace)
}

/** The group of the kernel in which commands are limited, or why there is none; completes "Nexus looks at processes itself, because …". */
export async function limitingGroup(): Promise<{ readonly directory: string } | { readonly why: string }> {
  const { findGroup, ownGroup } = await import('./local/cgroup.ts')
  return findGroup(ownGroup())
}

/** Where commands work: over the workspace, in a copy of it, or there with all rights of the user. */
export interface WorkspaceMode {
  readonly mode: 'layers' | 'mirror' | 'unconfined'
  /** Only a mirror has it; completes "in a copy, because …". */
  readonly why?: string
}

/** Tries an overlay, where one may be used. `workspace` is a real path. */
export async function workspaceModeOf(workspace: string, options: SandboxOptions): Promise<WorkspaceMode> {
  if (options.kind === 'none') return { mode: 'unconfined' }
  const settings = withDefaults(options)
  const why = await (await import('./local/layers.ts')).refusalFor(settings, workspace)
  return why === undefined ? { mode: 'layers' } : { mode: 'mirror', why }
}

/** Makes a sandbox. Throws INVALID_ARGUMENT for options that cannot be used; whether commands can be confined shows at the first one. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (options.kind === 'local') return (await import('./local/local.ts')).createLocal(options)
  if (options.kind === 'none') return (await import('./none.ts')).createNone(options)
  throw sandboxError(REQUESTS.unknownKind((options as { kind: unknown }).kind))
}

/** Like `createSandbox`, but nothing is loaded or made before the first command or skill; for programs that mostly look. */
export function openSandbox(options: SandboxOptions): Sandbox {
  // The facts of the local sandbox follow from its options; another one has to be asked.
  const facts = options.kind === 'local' ? localFacts(withDefaults(options)) : undefined
  return new LazySandbox({ kind: options.kind, facts, open: () => createSandbox(options) })
}

/** The reason why commands cannot be confined here, with the command that fixes it; empty when a trial command ran well. */
export async function checkSandbox(options: SandboxOptions): Promise<readonly Diagnostic[]> {
  if (options.kind === 'none')
    return [
      {
        code: 'sandbox-none',
        severity: 'warning',
        message: NONE_WARNING,
        path: 'sandbox',
        fix: 'Use the local sandbox: remove execution.sandbox: none.',
      },
    ]
  try {
    await (await import('./local/local.ts')).tryLocal(options)
    const { missingRelay } = await import('./local/unavailable.ts')
    return missingRelay(withDefaults(options))
  } catch (error) {
    if (!isNexusError(error)) throw error
    const code = error.code === 'SANDBOX_UNAVAILABLE' ? 'sandbox-unavailable' : 'sandbox-invalid'
    const { message, fix } = error
    return [{ code, severity: 'error', message, path: 'sandbox', ...(fix !== undefined && { fix }) }]
  }
}

/** Does work on the change sets of a workspace, of which `workspace` is the real path. Undefined for a sandbox that makes none. */
export async function withChangeSets<T>(
  workspace: string,
  options: SandboxOptions,
  work: (at: SetsAt) => Promise<T>,
): Promise<T | undefined> {
  if (options.kind === 'none') return undefined
  return (await import('./local/change-sets.ts')).withChangeSets(workspace, withDefaults(options), { work })
}

/** Throws INVALID_ARGUMENT for a directory in which a sandbox of that kind refuses to run commands. */
export async function checkWorkspace(workspace: string, options: SandboxOptions): Promise<void> {
  if (options.kind === 'none') return
  ;(await import('./local/check-workspace.ts')).checkWorkspace(workspace, withDefaults(options))
}
