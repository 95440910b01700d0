/** Texts of failures by the code of `FileError`. */
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

/**
 * Why a step on files failed. `code` is that of open(2) and openat2(2), whatever the system called it: `ELOOP` a link where none is followed,
 * `EXDEV` a path that leaves the root, `EAGAIN` a directory that changed its place meanwhile, `ENXIO` a FIFO, socket or device,
 * `EFBIG` more bytes than allowed, `ESTALE` another file than the one that was read, `EMLINK` a file with a second name, `ENOTSUP` not possible on this system; else the system's own.
 */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly code: string
  /** The path as it is meant, not as it was opened. */
  readonly path: string

  constructor(code: string, path: string, options: { detail?: string; cause?: unknown } = {}) {
    const { detail, cause } = options
    const known = detail ?? reasonIn(cause)
    super(
      `${shownPath(path)} ${REASONS[code]?.(known) ?? `failed: ${known ?? code}`}`,
      cause === undefined ? {} : { cause },
    )
    this.code = code
    this.path = path
  }
}

/** The code of an error, such as `ENOENT`; empty for others. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}

/** True for the errors of a path that does not exist without following links. */
export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error))
}

/** True for the errors of missing rights. */
export function isClosed(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(codeOf(error))
}

/** The text of a system error without the path that it names, which is one of /proc. */
function reasonIn(cause: unknown): string | undefined {
  if (cause === undefined) return undefined
  return cause instanceof Error ? cause.message.replace(/, \w+ '.*$/s, '') : String(cause)
}

/** Bytes that are not UTF-8 are shown as U+FFFD; a long path loses its middle. */
export function shownPath(path: string): string {
  const text = path.length > 400 ? `${path.slice(0, 200)}…${path.slice(-200)}` : path
  return JSON.stringify(text.toWellFormed())
}

/** EFBIG for a file of that size. */
export function tooLarge(path: string, size: number, maxBytes: number): FileError {
  return new FileError('EFBIG', path, { detail: `has ${size} bytes, the limit is ${maxBytes}` })
}
