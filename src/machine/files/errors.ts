import { MESSAGES } from './messages.ts'

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
    super(MESSAGES.failed(code, path, detail ?? reasonIn(cause)), cause === undefined ? {} : { cause })
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
