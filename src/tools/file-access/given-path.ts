/** given-path: what a model wrote as a path, as an absolute one. Nothing is looked up. */
import { posix } from 'node:path'
import { PATHS, type Refused } from './messages.ts'

/** Directories that texts are relative to. */
export interface Bases {
  /** Absolute. */
  readonly workspace: string
  /** For `~`; absent without a home directory. */
  readonly home?: string | undefined
}

/** The longest path that a system opens. */
const MAX_BYTES = 4_096
const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i
const DRIVE = /^[a-z]:[\\/]/i

/**
 * The absolute path that a text means, `.` and `..` resolved by text; `/` and `\` separate names. What is no path here is refused:
 * URLs, paths with a drive, the homes of others. Source: contracts §1.6; decisions, "blocked paths".
 */
export function givenPath(text: string, { workspace, home }: Bases): string | Refused {
  if (text.includes('\0')) return PATHS.nul()
  if (Buffer.byteLength(text) > MAX_BYTES) return PATHS.tooLong(MAX_BYTES)
  if (URL_START.test(text)) return PATHS.url()
  if (DRIVE.test(text)) return PATHS.drive()
  const path = text.replaceAll('\\', '/')
  if (!path.startsWith('~')) return posix.resolve(workspace, path)
  if (path !== '~' && !path.startsWith('~/')) return PATHS.otherHome(path.slice(0, path.indexOf('/') >>> 0))
  return home === undefined ? PATHS.noHome() : posix.resolve(home, `.${path.slice(1)}`)
}
