import { basename, dirname } from 'node:path'
import type { Paths, SearchedRoot, StrayFile } from './facts.ts'
import { type Finding, finding } from './finding.ts'
import { lastPart, MESSAGES } from './messages.ts'

/** Where a misplaced skill is, why it is not found there, and the command that moves it. */
export function misplaced(
  asked: string,
  stray: StrayFile,
  { roots, paths: { shown, typed } }: { readonly roots: readonly SearchedRoot[]; readonly paths: Paths },
): Finding {
  const { file, why, inside } = stray
  const directory = dirname(file)
  const root = rootFor(stray, roots)
  const name = nameFor(asked, directory)
  if (why === 'no-skill-file') {
    return finding('no-skill-file', 'error', { path: file, ...MESSAGES['no-skill-file']({ file: shown(file), name }) })
  }
  const kind = why === 'below-skill' && inside === root ? 'below-root-skill' : why
  const words = MESSAGES['wrong-place'][kind]({
    ...{ file: typed(file), directory: typed(directory), root: typed(root), target: `${typed(root)}/${name}`, name },
    inside: shown(inside ?? directory),
    above: typed(directory.slice(0, directory.lastIndexOf('/skills/')) || '/'),
    isAboveRoot: root.startsWith(`${directory}/`),
  })
  return finding('wrong-place', 'error', { path: file, ...words })
}

/** The root around it; for what is in none, the workspace's, and the user's own for what is elsewhere. */
function rootFor({ file, why }: StrayFile, roots: readonly SearchedRoot[]): string {
  const around = roots.find(({ path }) => file.startsWith(`${path}/`))
  const own = why === 'elsewhere' ? roots.find(({ source }) => source === 'local') : undefined
  return (around ?? own ?? roots[0])?.path ?? 'skills'
}

/** The name that was asked for where a directory can have it. */
function nameFor(asked: string, directory: string): string {
  const name = lastPart(asked.replace(/^\$/, '').replace(/\/(?:SKILL\.md)?$/i, ''))
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(name)) return name.replace(/\.(?:md|markdown|zip|skill)$/i, '')
  return basename(directory).replace(/^\.+/, '') || 'my-skill'
}
