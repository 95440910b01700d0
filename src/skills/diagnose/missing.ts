import { everyCopy, shownName } from '../catalog/index.ts'
import { ARCHIVE, type Diagnostic, nameKey, nearest, SKILL_FILE, skillAddress } from '../../kernel/index.ts'
import { type Facts, WHOLE_PATHS, type Paths, type SearchedRoot, type StrayFile } from './facts.ts'
import { type Finding, finding, fromDiagnostic } from './finding.ts'
import { lastPart, MESSAGES } from './messages.ts'
import { basename, dirname } from 'node:path'

/** These may hide a skill of any name: limits that ended a search, and directories that could not be searched. */
const LIMITS = ['depth-limit', 'directory-limit', 'skill-limit']
const NOT_SEARCHED = [
  ...['root-required', 'root-not-directory', 'root-unreadable', 'root-outside', 'root-vanished', 'root-is-skill'],
  ...['directory-unreadable', 'link-outside', 'source-failed'],
]
const OF_ONE_NAME = ['directory-vanished', 'name-encoding', 'link-broken', 'skill-single-file', 'skill-archive']
const MAX_LISTED = 20
const MAX_ALIKE = 5
const MAX_SHOWN_CHARS = 120
/** Names that `nexus skills init` takes. */
const NEW_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Nothing has that name: where it was looked for, what is in the wrong place, and what got in the way. */
export function findMissing(name: string, facts: Facts): readonly Finding[] {
  const { catalog, snapshot, roots = [], strays = [], paths = WHOLE_PATHS } = facts
  // A thing of that very name that was not searched, or is no directory, is the answer.
  const isOwn = ({ path, code }: Diagnostic): boolean => {
    const last = code.startsWith('skill-')
      ? lastPart(path)
          .replace(/\.(?:md|markdown)$/i, '')
          .replace(ARCHIVE, '')
      : lastPart(path)
    return nameKey(last) === nameKey(lastPart(name))
  }
  const notSearched = among(catalog.diagnostics, NOT_SEARCHED)
  const own = [...notSearched, ...among(catalog.diagnostics, OF_ONE_NAME)].filter(isOwn)
  const answers = [
    ...own.map((trouble): Finding => ({ ...fromDiagnostic(trouble), severity: 'error' })),
    ...strays.slice(0, MAX_LISTED).map((stray) => misplaced(name, stray, { roots, paths })),
  ]
  const others = notSearched.filter((trouble) => !isOwn(trouble)).map(fromDiagnostic)
  const limits = among(catalog.diagnostics, LIMITS).map((found): Finding => ({
    ...fromDiagnostic(found),
    code: 'limit',
    // Where the skill itself was met, the limit did not hide it.
    severity: answers.length > 0 ? 'info' : 'error',
  }))
  if (answers.length === 0) {
    const isBlocked = limits.length > 0 || others.some(({ severity }) => severity === 'error')
    answers.push(wrongAddress(name, facts) ?? notFound(name, facts, isBlocked))
  }
  const known = snapshot?.skills.find((skill) => shownName(skill) === name)
  if (known) {
    answers.push(
      finding('stale-session', 'info', {
        path: known.directory,
        ...MESSAGES['stale-session'].gone(paths.shown(known.directory)),
      }),
    )
  }
  return [...answers, ...limits, ...others]
}

function among(diagnostics: readonly Diagnostic[], codes: readonly string[]): readonly Diagnostic[] {
  return diagnostics.filter(({ code }) => codes.includes(code)).slice(0, MAX_LISTED)
}

/** `source/name` where the source, or a copy in it, does not exist. */
function wrongAddress(asked: string, { catalog, roots = [], paths = WHOLE_PATHS }: Facts): Finding | undefined {
  const [, source = '', name = ''] = /^([^/]+)\/([^/]+)$/.exec(asked) ?? []
  if (name === '') return undefined
  const isMeant = (copy: { readonly name: string }): boolean => nameKey(copy.name) === nameKey(name)
  const readable = everyCopy(catalog).filter((skill) => isMeant({ name: shownName(skill) }))
  const addresses = [...readable.map(catalog.addressOf), ...catalog.invalid.filter(isMeant).map(skillAddress)]
  const root = roots.find((each) => each.source === source)
  if (root === undefined && addresses.length === 0) return undefined
  const sources = [...new Set(roots.map((each) => each.source))]
  const shown = addresses.slice(0, MAX_ALIKE)
  const words = root
    ? MESSAGES['not-found'].inSource({ source, name, path: paths.shown(root.path), addresses: shown })
    : MESSAGES['not-found'].source({ source, sources, addresses: shown })
  return finding('not-found', 'error', { ...words, command: ['skills', 'why', addresses[0] ?? name] })
}

function notFound(name: string, { catalog, roots = [], paths = WHOLE_PATHS }: Facts, isBlocked: boolean): Finding {
  const all = [
    ...[...catalog.skills, ...catalog.held.map(({ skill }) => skill)].map(shownName),
    ...catalog.invalid.map((broken) => broken.name),
  ]
  const shown = name.slice(0, MAX_SHOWN_CHARS)
  const root = roots.find(({ path }) => path === name || lastPart(path) === name)
  if (root !== undefined && !all.includes(name)) {
    return finding('not-found', 'error', {
      ...MESSAGES['not-found'].isRoot(shown, paths.shown(root.path)),
      command: LIST,
    })
  }
  const places = roots.slice(0, MAX_LISTED).map(({ path }) => placeOf(path, catalog.diagnostics))
  const message = MESSAGES['not-found'].name(shown)
  const answer = (fix: string, command?: readonly string[]): Finding =>
    finding('not-found', 'error', { message, fix, ...(places.length > 0 && { places }), ...(command && { command }) })
  const near = nearest(name, all) ?? nearest(lastPart(name.replace(/\/(?:SKILL\.md)?$/i, '')), all)
  const { blocked, list, create, near: didYouMean } = MESSAGES['not-found']
  if (near !== undefined) return answer(didYouMean(near), ['skills', 'why', near])
  if (isBlocked) return answer(blocked())
  if (!NEW_NAME.test(name)) return answer(list(), LIST)
  const file = roots[0] && `${roots[0].path}/${name}/${SKILL_FILE}`
  return answer(create(file && paths.shown(file)), ['skills', 'init', name])
}

const LIST = ['skills', 'list', '--all']

/** A root, and what the sources reported of it. */
function placeOf(
  path: string,
  diagnostics: readonly Diagnostic[],
): { readonly path: string; readonly problem?: string } {
  const found = diagnostics.find((diagnostic) => diagnostic.path === path && diagnostic.code.startsWith('root-'))
  if (!found) return { path }
  return {
    path,
    problem: found.code === 'root-missing' || found.code === 'root-required' ? 'does not exist' : found.code,
  }
}

/** Where a misplaced skill is, why it is not found there, and the command that moves it. */
function misplaced(
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
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(name)) return name
  return basename(directory).replace(/^\.+/, '') || 'my-skill'
}
