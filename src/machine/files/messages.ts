/** Texts of failures by the code of `FileError`. The caller that shows one adds the fix. */
const REASONS: Readonly<Record<string, (detail: string | undefined) => string>> = {
  EACCES: () => 'cannot be read or changed: permission denied',
  EAGAIN: () => 'changed its place while it was opened',
  EBADF: () => 'is closed',
  EEXIST: () => 'already exists',
  EFBIG: (detail) => detail ?? 'is too large',
  EINVAL: (detail) => detail ?? 'is not a usable path',
  EISDIR: () => 'is a directory, not a regular file',
  ELOOP: () => 'is a link; links are not followed',
  EMLINK: () => 'has a second name (a hard link), which may be outside; it is not changed',
  ENAMETOOLONG: () => 'has a part that is too long',
  ENOENT: () => 'does not exist',
  ENOTDIR: () => 'is not a directory',
  ENOTEMPTY: () => 'is not empty',
  ENOTSUP: () => 'cannot be changed safely on this system: it has no /proc/self/fd',
  ENXIO: (detail) => `is ${detail ?? 'a socket or device'}, not a regular file`,
  ESTALE: () => 'was changed meanwhile',
  EXDEV: (detail) => detail ?? 'leaves the directory it must stay in',
}

/** Every sentence of this room. */
export const MESSAGES = {
  failed: (code: string, path: string, detail: string | undefined): string =>
    `${shown(path)} ${REASONS[code]?.(detail) ?? `failed: ${detail ?? code}`}`,
  behindLink: (real: string): string => `is reached through a link; its real path is ${shown(real)}`,
  emptyPath: 'is empty',
  holdsNul: 'contains a NUL character',
  notUnicode: 'is not valid Unicode',
  absolute: 'is absolute',
  tooLong: (bytes: number): string => `is longer than ${bytes} bytes`,
  notAName: 'is not a name in a directory',
  tooLarge: (size: number, maxBytes: number): string => `has ${size} bytes, the limit is ${maxBytes}`,
} as const

/** Bytes that are not UTF-8 are shown as U+FFFD; a long path loses its middle. */
function shown(path: string): string {
  const text = path.length > 400 ? `${path.slice(0, 200)}…${path.slice(-200)}` : path
  return JSON.stringify(text.toWellFormed())
}
