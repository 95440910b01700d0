import { lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, extname } from 'node:path'
import { type Diagnostic, SKILL_FILE } from '../../../kernel/index.ts'
import { finding, leadsTo } from '../codes.ts'
import { codeOf } from '../../../machine/files/index.ts'
import { reasonOf } from '../../../machine/skill-files/index.ts'
import { MESSAGES } from '../messages.ts'
import { isInside, linkFollowed, linkOutside } from '../skill-file.ts'

/**
 * The file that the SKILL.md of one directory (a real path) leads to when it is a link; undefined when it is none. As where the directory around it
 * is searched: a text (.md) below that one counts, with a warning, all else is an error. The user did not name that directory, so its other files
 * (keys, settings) are not for reading. The reader of `linkedTo` opens it without following links.
 */
export function linkAsSkillFile(directory: string): { linkedTo?: string; finding: Diagnostic } | undefined {
  const path = `${directory === '/' ? '' : directory}/${SKILL_FILE}`
  if (!isLink(path)) return undefined
  const root = dirname(directory)
  try {
    const real = realpathSync.native(path)
    if (!isInside(real, root)) return { finding: linkOutside(path) }
    if (extname(real) !== '.md' || !statSync(real).isFile()) {
      return { finding: finding('link-outside', path, MESSAGES['link-not-markdown'](path, leadsTo(path))) }
    }
    return { linkedTo: real, finding: linkFollowed(path, real) }
  } catch (error) {
    const code = codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP' ? 'skill-file-unreadable' : 'skill-file-kind'
    return { finding: finding(code, path, MESSAGES['link-broken'].file(path, leadsTo(path), reasonOf(error))) }
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    // Absent, or in a directory that is closed to us: the search says so.
    return false
  }
}
