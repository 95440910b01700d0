import { readlinkSync } from 'node:fs'
import type { Diagnostic, Severity } from '../kernel/index.ts'

/** Every code that looking for skills can give. docs/errors.md explains each. */
export const SOURCE_CODES = {
  'root-missing': 'info',
  'root-required': 'error',
  'root-not-directory': 'error',
  'root-unreadable': 'error',
  'root-outside': 'error',
  'root-vanished': 'error',
  'root-is-skill': 'warning',
  'directory-unreadable': 'warning',
  'directory-vanished': 'info',
  'name-encoding': 'warning',
  'link-outside': 'error',
  'link-broken': 'warning',
  'link-followed': 'warning',
  'depth-limit': 'warning',
  'directory-limit': 'error',
  'skill-limit': 'error',
  'skill-file-name': 'error',
  'skill-single-file': 'warning',
  'skill-archive': 'warning',
  'skill-file-kind': 'error',
  'skill-file-unreadable': 'error',
  'file-too-large': 'error',
  'duplicate-name': 'warning',
  'watch-polling': 'warning',
  'watch-limit': 'warning',
  'source-failed': 'error',
} as const satisfies Record<string, Severity>

/** A name in the table of source diagnostics. */
export type SourceCode = keyof typeof SOURCE_CODES

/** One finding about a path. */
export function finding(
  code: SourceCode,
  path: string,
  { message, fix, proposal }: Pick<Diagnostic, 'message' | 'fix' | 'proposal'>,
): Diagnostic {
  const next = { ...(fix !== undefined && { fix }), ...(proposal && { proposal }) }
  return { code, severity: SOURCE_CODES[code], message, path, ...next }
}

/** The reason in an error of the file system, for people. */
export function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case 'EACCES':
    case 'EPERM':
      return 'permission denied'
    case 'ENOENT':
      return 'it does not exist'
    case 'ELOOP':
      return 'too many links'
    case 'ENAMETOOLONG':
      return 'the name is too long'
    default:
      return error instanceof Error ? error.message : String(error)
  }
}

/** `, to "there"` for a link, for a message about it; empty when it cannot be read. */
export function leadsTo(link: string): string {
  try {
    return `, to ${JSON.stringify(readlinkSync(link))}`
  } catch {
    // No link any more, or closed to us: the message does without.
    return ''
  }
}

/** The code of a file system error, such as `ENOENT`; empty for anything else. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined
  return typeof code === 'string' ? code : ''
}
