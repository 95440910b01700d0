/** overlay: arguments of `unshare` that mount a workspace in layers, in namespaces that need no rights (kernel 5.11, util-linux). */

/** Relative to the directory of one command: a path in the options of a mount would need escapes. */
const BELOW = '../kept:../workspace'
const NAMESPACES = ['-Urm', '/bin/sh', '-c'] as const

/** Starts a program that sees the workspace at `seen`; what it changes is in `upper`. Without `volatile` each end would write all to the disk. */
export function overOverlay(program: readonly string[]): string[] {
  const mount = `mount -t overlay overlay -o lowerdir=${BELOW},upperdir=upper,workdir=work,userxattr,volatile seen`
  return [...NAMESPACES, `${mount} && exec "$@"`, 'sh', ...program]
}

/** Shows the workspace as later commands see it without `upper` at `below`, and with it at `seen`, until standard input ends. */
export function viewOverlay(): string[] {
  const mounts = [
    ['seen', `upper:${BELOW}`],
    ['below', BELOW],
  ].map(([at, layers]) => `mount -t overlay overlay -o lowerdir=${layers},userxattr ${at}`)
  return [...NAMESPACES, `${mounts.join(' && ')} && echo shown && exec cat`]
}

/** Removes and replaces directories of a lower layer, which not every file system can keep; leaves the mark of a removal in `upper`. */
export function tryOverlay(): string[] {
  const steps = 'cd seen && rm -r tried && mkdir tried && test -z "$(ls -A tried)" && rmdir tried'
  const layers = `lowerdir=trial:${BELOW},upperdir=upper,workdir=work,userxattr,volatile`
  return [...NAMESPACES, `mount -t overlay overlay -o ${layers} seen && ${steps}`]
}
