import { readlinkSync } from 'node:fs'
import type { Diagnostic, Severity } from '../../kernel/index.ts'

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

export type SourceCode = keyof typeof SOURCE_CODES

export function finding(
  code: SourceCode,
  path: string,
  { message, fix, proposal }: Pick<Diagnostic, 'message' | 'fix' | 'proposal'>,
): Diagnostic {
  const next = { ...(fix !== undefined && { fix }), ...(proposal && { proposal }) }
  return { code, severity: SOURCE_CODES[code], message, path, ...next }
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
