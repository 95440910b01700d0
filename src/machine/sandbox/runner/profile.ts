/** profile: the arguments of bubblewrap for one command: a root that has only what is listed here. */
import { lstatSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandLimits, Policy, RunMessage, SeenPlace } from './protocol.ts'
import { throughRelay, wayOptions } from './relay.ts'

/** Where every command finds its private temp. It lies on the disk, not in memory, and is removed after the command. */
const TEMP_PATH = '/tmp'

/** Where bubblewrap reads the filter of system calls from. */
export const FILTER_DESCRIPTOR = 4

/** The kernel refuses processes only beyond so many more: those that are too many are seen before, and end the command. */
export const MORE_PROCESSES = 16

/** Settings of ssh that belong to no user inside, which ssh refuses to read. */
const HIDDEN = ['/etc/ssh/ssh_config.d']

/** One option of bubblewrap with its arguments, such as `['--bind', '/a', '/b']`. */
type Option = readonly [name: string, ...args: string[]]

type Mounted = Pick<RunMessage, 'workspace' | 'view' | 'places'>
type Confined = Mounted & Pick<RunMessage, 'way'>

/** The arguments of one command, whose private temp is `temp`. */
export function bwrapArguments(policy: Policy, run: Confined, temp: string): string[] {
  const { helper, readable, limits } = policy
  const options: readonly Option[] = [
    ['--new-session'],
    ['--die-with-parent'],
    ['--unshare-user'],
    // In a layer we are mapped to root already.
    ['--uid', String(process.getuid?.())],
    ['--gid', String(process.getgid?.())],
    ['--unshare-pid'],
    ['--unshare-net'],
    ['--unshare-ipc'],
    ['--unshare-uts'],
    ['--unshare-cgroup-try'],
    ['--hostname', 'sandbox'],
    ['--cap-drop', 'ALL'],
    ['--add-seccomp-fd', String(FILTER_DESCRIPTOR)],
    // Without it the helper lets commands make namespaces.
    ['--setenv', 'SRT_ALLOW_NESTED_USERNS', '0'],
    ['--bind', temp, TEMP_PATH],
    ['--ro-bind-try', '/sys', '/sys'],
    ...readable.map(readOption),
    ...HIDDEN.filter(isThere).map((path): Option => ['--tmpfs', path]),
    ['--dev', '/dev'],
    ['--size', String(limits.sharedMemoryBytes)],
    ['--tmpfs', '/dev/shm'],
    ['--proc', '/proc'],
    // The settings of the kernel are the host's.
    ['--ro-bind', '/proc/sys', '/proc/sys'],
    ...run.places.map(placeOption),
    ...mountsOf(run),
    ...wayOptions(run.way),
    // An empty directory lies in memory; read-only, it cannot be filled.
    ...['/', '/dev', ...HIDDEN.filter(isThere)].map((path): Option => ['--remount-ro', path]),
  ]
  const inside = [helper, '/bin/bash', '-c', entryScript(limits)]
  return [...options.flat(), '--', ...throughRelay(inside, run.way, policy.relay)]
}

/** `/bin` is often a link. */
function readOption(path: string): Option {
  return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}

function placeOption(seen: SeenPlace): Option {
  if (seen.as === 'link') return ['--symlink', seen.target, seen.path]
  if (seen.as === 'closed') return ['--ro-bind', '/dev/null', seen.path]
  return [seen.as === 'write' ? '--bind' : '--ro-bind', seen.source, seen.path]
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** A workspace as a command sees it: whole, or in parts. Later mounts cover earlier ones; what is empty becomes read-only when all are made. */
function mountsOf({ workspace, view }: Mounted): Option[] {
  // In the user's own directory another command could exchange a place before it is mounted.
  if (view && workspace.source === workspace.path) throw new Error('only a mirror can be mounted in parts')
  const seen = view ?? [{ path: '', as: 'write' }]
  const mounts = seen.map(({ path, as }): Option => {
    const [source, target] = [join(workspace.source, path), join(workspace.path, path)]
    if (as === 'empty') return ['--tmpfs', target]
    // When it vanished meanwhile, the empty directory of the mirror is seen.
    if (as === 'host') return ['--ro-bind-try', target, target]
    if (as === 'closed') return ['--ro-bind', '/dev/null', target]
    return [as === 'write' ? '--bind' : '--ro-bind', source, target]
  })
  const empty = seen.filter(({ as }) => as === 'empty')
  return [...mounts, ...empty.map(({ path }): Option => ['--remount-ro', join(workspace.path, path)])]
}

/** Processes of the inner namespace besides its first one and this shell, with their words, NUL-separated. Programs inside can forge it: it is for notes only. */
const NAME_SURVIVORS = [
  'for NEXUS_ITEM in /proc/[0-9]*/status; do',
  '  NEXUS_STATE= NEXUS_INNER=',
  '  while read -r NEXUS_KEY NEXUS_ONE NEXUS_TWO NEXUS_MORE; do',
  '    case $NEXUS_KEY in State:) NEXUS_STATE=$NEXUS_ONE;; NSpid:) NEXUS_INNER=$NEXUS_TWO; break;; esac',
  '  done <"$NEXUS_ITEM"',
  '  case $NEXUS_STATE/$NEXUS_INNER in */|*/1|*/$$|Z/*|X/*) continue;; esac',
  `  mapfile -d '' -t NEXUS_WORDS <"\${NEXUS_ITEM%status}cmdline"`,
  `  printf '%s\\0' "\${NEXUS_WORDS[*]:0:8}" >&3`,
  'done',
].join('\n')

/**
 * The first thing that runs inside: reads the order from descriptor 3 (NUL-separated: directory, command, then NAME=value …),
 * says that it has begun, closes every other inherited descriptor, sets the limits, runs the command, and names on 3 what still runs after it.
 * So neither the command's text nor a value is ever part of a line that other users of the host could read, save the command itself.
 */
function entryScript(limits: CommandLimits): string {
  return [
    `mapfile -d '' -t NEXUS_ORDER <&3`,
    'printf b >&3',
    'for NEXUS_ITEM in /proc/self/fd/*; do NEXUS_ITEM=${NEXUS_ITEM##*/}; case $NEXUS_ITEM in 0|1|2|3|255) ;; *) eval "exec $NEXUS_ITEM>&-";; esac; done',
    'unset OLDPWD SRT_ALLOW_NESTED_USERNS SHLVL',
    'cd -- "${NEXUS_ORDER[0]}" || exit 126',
    'umask 022',
    'ulimit -c 0',
    ...limitLines(limits),
    'for NEXUS_ITEM in "${NEXUS_ORDER[@]:2}"; do export "$NEXUS_ITEM"; done',
    'set -- "${NEXUS_ORDER[1]}"',
    'unset NEXUS_ORDER NEXUS_ITEM',
    // Its own shell says nothing about how the command ended.
    'exec 4>&2 2>/dev/null',
    '/bin/bash --noprofile --norc -c "$1" 2>&4 3>&- 4>&-',
    'NEXUS_END=$?',
    NAME_SURVIVORS,
    'exit $NEXUS_END',
  ].join('\n')
}

/** A limit that cannot be set is already stricter here, or the command does not start. */
function limitLines(limits: CommandLimits): string[] {
  const kib = (bytes: number): number => Math.max(1, Math.floor(bytes / 1024))
  const wanted: readonly (readonly [string, number])[] = [
    ['f', kib(limits.fileSizeBytes)],
    ['n', limits.openFiles],
    ['d', kib(limits.dataBytes)],
    ['u', limits.processes + MORE_PROCESSES],
  ]
  return wanted.map(([flag, value]) => {
    const already = `{ [ "$(ulimit -H${flag})" != unlimited ] && [ "$(ulimit -H${flag})" -le ${value} ]; }`
    return `ulimit -${flag} ${value} 2>/dev/null || ${already} || exit 126`
  })
}
