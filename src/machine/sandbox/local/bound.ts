/** bound: how root lets another user see places of a closed home: the runner starts in a mount namespace that has them elsewhere. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { CheckedPlace } from './programs.ts'
import type { Identity } from './state.ts'

const TRIAL_MS = 5_000

/** Places with the directory in which the runner sees them, each under its number. */
export interface Bound {
  readonly at: string
  readonly places: readonly CheckedPlace[]
  /** Absolute paths of `unshare` and `setpriv`. */
  readonly unshare: string
  readonly setpriv: string
}

/** Whether this process may make a mount namespace. */
export async function canBind(unshare: string | undefined, setpriv: string | undefined): Promise<boolean> {
  if (unshare === undefined || setpriv === undefined) return false
  try {
    await promisify(execFile)(unshare, ['--mount', 'true'], { timeout: TRIAL_MS })
    return true
  } catch {
    // No CAP_SYS_ADMIN, or a filter of system calls: as in most containers.
    return false
  }
}

export function boundSource({ at, places }: Bound, place: string): string {
  return join(at, String(places.findIndex(({ path }) => path === place)))
}

/**
 * Each place is mounted and then compared by device and inode with the one that was checked: who exchanges it between the two is found out.
 * The memory file system keeps the mounts out of the disk, and goes with the namespace.
 */
const SCRIPT = `
set -eu
at=$1 uid=$2 gid=$3 setpriv=$4; shift 4
mount -t tmpfs -o mode=0755,size=1m,nosuid,nodev nexus "$at"
number=0
while [ "$1" != -- ]; do
  to=$at/$number
  if [ -d "$1" ]; then mkdir "$to"; else : > "$to"; fi
  mount --bind -- "$1" "$to"
  [ "$(stat -c %d:%i -- "$to")" = "$2" ] || { echo "$1 was replaced" >&2; exit 125; }
  mount -o remount,bind,ro,nosuid,nodev "$to"
  shift 2; number=$((number + 1))
done
shift
exec "$setpriv" --reuid "$uid" --regid "$gid" --clear-groups -- "$@"
`

/** The words of a command line that starts `program` as another user in such a namespace. */
export function inBoundNamespace(
  program: readonly string[],
  { at, places, unshare, setpriv }: Bound,
  { uid, gid }: Identity,
): string[] {
  const pairs = places.flatMap(({ path, identity }) => [path, identity])
  const script = ['/bin/sh', '-c', SCRIPT, 'sh', at, String(uid), String(gid), setpriv, ...pairs, '--', ...program]
  return [unshare, '--mount', '--propagation', 'private', ...script]
}
