/** profile: the bubblewrap call for one command: the library's profile, checked, then made stricter. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { wrapCommandWithSandboxLinux } from '@anthropic-ai/sandbox-runtime/dist/sandbox/linux-sandbox-utils.js'
import { type BwrapCall, type Option, parseBwrapLine } from './bwrap-line.ts'
import type { CommandLimits, Mount, Policy, RunMessage, Seen } from './protocol.ts'

/** Where every command finds its private temp. It lies on the disk, not in memory, and is removed after the command. */
export const TEMP_PATH = '/tmp'

/** Where bubblewrap reads the filter of system calls from. */
export const FILTER_DESCRIPTOR = 4

/** Makes the arguments for bubblewrap; wraps once per workspace and policy and reuses the result. */
export class Profiles {
  readonly #policy: Policy
  readonly #cache = new Map<string, BwrapCall>()

  constructor(policy: Policy) {
    this.#policy = policy
  }

  /** The arguments of one command: the cached profile with its private temp put in. */
  async argumentsFor(run: Pick<RunMessage, 'workspace' | 'view' | 'readOnly'>, temp: string): Promise<string[]> {
    const call = await this.#wrapped(run)
    const options = call.options.map((option) => (isTempMount(option) ? ['--bind', temp, TEMP_PATH] : option))
    return [...options.flat(), '--', ...call.command]
  }

  async #wrapped(run: Pick<RunMessage, 'workspace' | 'view' | 'readOnly'>): Promise<BwrapCall> {
    // The library hides what lies in `/` entry by entry: a new entry needs a new profile.
    const key = JSON.stringify([run.workspace, run.view, run.readOnly, readdirSync('/')])
    const known = this.#cache.get(key)
    if (known) return known
    const { bwrap, ripgrep, readable, limits } = this.#policy
    const line = await wrapCommandWithSandboxLinux({
      command: entryScript(limits),
      // With no proxy socket named, the network namespace stays empty: no proxy, no relay, no proxy variables.
      needsNetworkRestriction: true,
      readConfig: { denyOnly: ['/'], allowWithinDeny: [...readable] },
      writeConfig: { allowOnly: [run.workspace.source], denyWithinAllow: [...run.readOnly] },
      binShell: 'bash',
      bwrapPath: bwrap,
      ripgrepConfig: { command: ripgrep },
    })
    const call = harden(parseBwrapLine(line), run, limits)
    if (this.#cache.size >= 64) this.#cache.clear()
    this.#cache.set(key, call)
    return call
  }
}

function isTempMount(option: Option): boolean {
  return option[0] === '--tmpfs' && option[1] === TEMP_PATH
}

/** Adds what the library leaves open: keyrings, /proc/sys, ipc, uts and cgroup namespaces, writable memory file systems. */
function harden(
  call: BwrapCall,
  { workspace, view }: Pick<RunMessage, 'workspace' | 'view'>,
  limits: CommandLimits,
): BwrapCall {
  const moved = workspace.source !== workspace.path
  // In the user's own directory another command could exchange a place before it is mounted.
  if (view && !moved) throw new Error('only a mirror can be mounted in parts')
  const kept = moved
    ? call.options.filter(([name, source]) => name !== '--bind' || source !== workspace.source)
    : call.options
  if (moved && kept.length === call.options.length) throw new Error('bwrap line changed: the workspace is not bound')
  const emptied = kept.flatMap(([name, path]) =>
    name === '--tmpfs' && path !== undefined && path !== TEMP_PATH ? [path] : [],
  )
  return {
    ...call,
    options: [
      ...kept,
      ['--add-seccomp-fd', String(FILTER_DESCRIPTOR)],
      ['--unshare-ipc'],
      ['--unshare-uts'],
      ['--hostname', 'sandbox'],
      ['--unshare-cgroup-try'],
      ['--ro-bind', '/proc/sys', '/proc/sys'],
      ['--size', String(limits.sharedMemoryBytes)],
      ['--tmpfs', '/dev/shm'],
      ...(moved ? mountsOf(workspace, view) : []),
      // A hidden directory is an empty file system in memory; read-only, it cannot be filled.
      ...[...new Set(emptied), '/dev'].map((path): Option => ['--remount-ro', path]),
    ],
  }
}

/** A workspace as a command sees it: whole, or in parts. Later mounts cover earlier ones; what is empty becomes read-only when all are made. */
function mountsOf(workspace: Mount, view: readonly Seen[] = [{ path: '', as: 'write' }]): Option[] {
  const mounts = view.map(({ path, as }): Option => {
    const [source, target] = [join(workspace.source, path), join(workspace.path, path)]
    if (as === 'empty') return ['--tmpfs', target]
    // When it vanished meanwhile, the empty directory of the mirror is seen.
    if (as === 'host') return ['--ro-bind-try', target, target]
    if (as === 'closed') return ['--ro-bind', '/dev/null', target]
    return [as === 'write' ? '--bind' : '--ro-bind', source, target]
  })
  const empty = view.filter(({ as }) => as === 'empty')
  return [...mounts, ...empty.map(({ path }): Option => ['--remount-ro', join(workspace.path, path)])]
}

/**
 * The first thing that runs inside: reads the order from descriptor 3 (NUL-separated: directory, command, then NAME=value …),
 * says that it has begun, closes every inherited descriptor, sets the limits and becomes the command.
 * So neither the command's text nor a value is ever part of a line that other users of the host could read, save the command itself.
 */
function entryScript(limits: CommandLimits): string {
  return [
    `mapfile -d '' -t NEXUS_ORDER <&3`,
    'printf b >&3',
    'for NEXUS_ITEM in /proc/self/fd/*; do NEXUS_ITEM=${NEXUS_ITEM##*/}; case $NEXUS_ITEM in 0|1|2|255) ;; *) eval "exec $NEXUS_ITEM>&-";; esac; done',
    'unset OLDPWD SRT_ALLOW_NESTED_USERNS SHLVL',
    'cd -- "${NEXUS_ORDER[0]}" || exit 126',
    'umask 022',
    'ulimit -c 0',
    ...limitLines(limits),
    'for NEXUS_ITEM in "${NEXUS_ORDER[@]:2}"; do export "$NEXUS_ITEM"; done',
    'set -- "${NEXUS_ORDER[1]}"',
    'unset NEXUS_ORDER NEXUS_ITEM',
    'exec /bin/bash --noprofile --norc -c "$1"',
  ].join('\n')
}

/** A limit that cannot be set is already stricter here, or the command does not start. */
function limitLines(limits: CommandLimits): string[] {
  const kib = (bytes: number): number => Math.max(1, Math.floor(bytes / 1024))
  const wanted: readonly (readonly [string, number])[] = [
    ['f', kib(limits.fileSizeBytes)],
    ['n', limits.openFiles],
    ['d', kib(limits.dataBytes)],
    ['u', limits.processes],
  ]
  return wanted.map(([flag, value]) => {
    const already = `{ [ "$(ulimit -H${flag})" != unlimited ] && [ "$(ulimit -H${flag})" -le ${value} ]; }`
    return `ulimit -${flag} ${value} 2>/dev/null || ${already} || exit 126`
  })
}
