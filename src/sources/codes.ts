import { readlinkSync } from 'node:fs'
import type { Diagnostic, Severity } from '../kernel/index.ts'

/** Every code that looking for skills can give. `docs/sources.md` lists the same rows; a test keeps the two equal. */
export const SOURCE_CODES = {
  'root-missing': { severity: 'info', means: 'the directory does not exist; nothing is wrong' },
  'root-required': { severity: 'error', means: 'a directory that the configuration names does not exist' },
  'root-not-directory': { severity: 'error', means: 'the path of a source is not a directory' },
  'root-unreadable': { severity: 'error', means: 'the directory of a source cannot be read' },
  'root-outside': { severity: 'error', means: 'the directory is a link that leaves the workspace; it is not searched' },
  'root-vanished': {
    severity: 'error',
    means: 'the directory disappeared while it was searched; what was found until then counts',
  },
  'root-is-skill': {
    severity: 'warning',
    means: 'the root itself is a skill, so the skills below it are not searched',
  },
  'directory-unreadable': { severity: 'warning', means: 'a directory below the root cannot be read' },
  'directory-vanished': { severity: 'info', means: 'a directory disappeared while it was searched' },
  'name-encoding': { severity: 'warning', means: 'the name of a directory is not UTF-8; it is not searched' },
  'link-outside': { severity: 'error', means: 'a link leaves the root; it is not followed' },
  'link-broken': { severity: 'warning', means: 'a link leads nowhere or in a circle' },
  'link-followed': {
    severity: 'warning',
    means: 'SKILL.md is a link to a file inside the root, which is read in its place',
  },
  'depth-limit': { severity: 'warning', means: 'directories below the depth limit were not searched' },
  'directory-limit': { severity: 'error', means: 'too many directories; the rest was not searched' },
  'skill-limit': { severity: 'error', means: 'too many skills; the rest was not searched' },
  'skill-file-name': { severity: 'error', means: 'the file is named skill.md or alike; only SKILL.md is read' },
  'skill-file-kind': { severity: 'error', means: 'SKILL.md is a directory, FIFO, socket or device' },
  'skill-file-unreadable': { severity: 'error', means: 'SKILL.md cannot be opened or read' },
  'file-too-large': { severity: 'error', means: 'SKILL.md is larger than the limit and was not read' },
  'duplicate-name': { severity: 'warning', means: 'two skills of one source have the same name; the last one counts' },
  'watch-polling': {
    severity: 'warning',
    means: 'the system gives no events for a directory, so it is looked at again and again; changes are noticed later',
  },
  'watch-limit': { severity: 'warning', means: 'too many directories to look at; changes in the rest are not noticed' },
  'source-failed': { severity: 'error', means: 'a source failed as a whole; the others load' },
} as const satisfies Record<string, { severity: Severity; means: string }>

/** A name in the table of source diagnostics. */
export type SourceCode = keyof typeof SOURCE_CODES

/** One finding about a path. */
export function finding(
  code: SourceCode,
  path: string,
  { message, fix }: { message: string; fix?: string },
): Diagnostic {
  return { code, severity: SOURCE_CODES[code].severity, message, path, ...(fix === undefined ? {} : { fix }) }
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
