import { type Diagnostic, nameKey, nearest, shellWord, skillAddress } from '../../kernel/index.ts'
import type { Catalog } from '../catalog.ts'
import { shownName } from '../shown-text.ts'
import type { CatalogSnapshot } from '../snapshot.ts'
import { type Finding, finding, fromDiagnostic } from './finding.ts'
import { lastPart, misplaced, type SearchedRoot, type StrayFile } from './misplaced.ts'

export interface MissingParts {
  readonly catalog: Catalog
  readonly roots?: readonly SearchedRoot[]
  readonly snapshot?: Pick<CatalogSnapshot, 'skills'>
  readonly strays?: readonly StrayFile[]
}

/** What may hide a skill: limits that ended a search, and places that could not be searched. */
const LIMITS = ['depth-limit', 'directory-limit', 'skill-limit']
const SEARCH_TROUBLES = [
  ...['root-required', 'root-not-directory', 'root-unreadable', 'root-outside', 'root-vanished', 'root-is-skill'],
  ...['directory-unreadable', 'directory-vanished', 'name-encoding', 'link-outside', 'link-broken', 'source-failed'],
]
const MAX_LISTED = 20
const MAX_SHOWN_CHARS = 120
/** Directory names that `nexus skills init` takes. */
const NEW_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Nothing has that name: where it was looked for, what lies in the wrong place, and what got in the way. */
export function findMissing(name: string, parts: MissingParts): Finding[] {
  const { catalog, snapshot, roots = [], strays = [] } = parts
  const troubles = among(catalog.diagnostics, SEARCH_TROUBLES)
  // A place of that very name which could not be looked into is the answer.
  const own = troubles.filter(({ path }) => nameKey(lastPart(path)) === nameKey(lastPart(name)))
  const others = troubles.filter((trouble) => !own.includes(trouble)).map(fromDiagnostic)
  const limits = among(catalog.diagnostics, LIMITS).map((found): Finding => ({
    ...fromDiagnostic(found),
    code: 'limit',
    severity: 'problem',
  }))
  const findings: Finding[] = [
    ...own.map((found): Finding => ({ ...fromDiagnostic(found), severity: 'problem' })),
    ...strays.slice(0, MAX_LISTED).map((stray) => misplaced(name, stray, roots)),
  ]
  if (findings.length === 0) {
    const isBlocked = limits.length > 0 || others.some(({ severity }) => severity === 'problem')
    findings.push(wrongAddress(name, parts) ?? notFound(name, { ...parts, isBlocked }))
  }
  const known = snapshot?.skills.find((skill) => shownName(skill) === name)
  if (known) {
    const text = `The session was told of it; since then it is gone (it was in ${known.directory}).`
    const fix = 'Put it back, or go on without it: the next turn no longer offers it.'
    findings.push(finding('stale-session', 'note', { text, fix, file: known.directory }))
  }
  return [...findings, ...limits, ...others]
}

function among(diagnostics: readonly Diagnostic[], codes: readonly string[]): readonly Diagnostic[] {
  return diagnostics.filter(({ code }) => codes.includes(code)).slice(0, MAX_LISTED)
}

/** `source/name` where the source, or a copy in it, does not exist. */
function wrongAddress(asked: string, { catalog, roots = [] }: MissingParts): Finding | undefined {
  const [, source = '', name = ''] = /^([^/]+)\/([^/]+)$/.exec(asked) ?? []
  if (name === '') return undefined
  const addresses = copies(catalog)
    .filter((copy) => nameKey(copy.name) === nameKey(name))
    .map(({ address }) => address)
  const root = roots.find((each) => each.source === source)
  if (root === undefined && addresses.length === 0) return undefined
  const sources = [...new Set(roots.map((each) => each.source))]
  const text = root
    ? `Source '${source}' has no skill named '${name}' (it is ${root.path}).`
    : `There is no source '${source}'. Sources: ${sources.join(', ')}.`
  return finding('not-found', 'problem', { text, fix: fixOfAddress(name, addresses) })
}

function fixOfAddress(name: string, addresses: readonly string[]): string {
  const [first] = addresses
  if (first === undefined) return `Run: nexus skills why ${shellWord(name)}`
  return `There is ${addresses.slice(0, 5).join(', ')}. Run: nexus skills why ${shellWord(first)}`
}

/** Every copy as it is called. */
function copies(catalog: Catalog): readonly { name: string; address: string }[] {
  const { skills, held, shadowed, rejected } = catalog
  const readable = [...skills, ...held.map(({ skill }) => skill), ...shadowed.map(({ skill }) => skill)]
  return [
    ...readable.map((skill) => ({ name: shownName(skill), address: catalog.addressOf(skill) })),
    ...rejected.map((broken) => ({ name: broken.name, address: skillAddress(broken) })),
  ]
}

function notFound(name: string, { catalog, roots = [], isBlocked }: MissingParts & { isBlocked: boolean }): Finding {
  const names = [...catalog.skills, ...catalog.held.map(({ skill }) => skill)].map(shownName)
  const all = [...names, ...catalog.rejected.map((broken) => broken.name)]
  const near = nearest(name, all)
  const places = roots.slice(0, MAX_LISTED).map(({ path }) => `${path}${stateOf(path, catalog.diagnostics)}`)
  const looked = places.length === 0 ? '' : ` Looked in: ${places.join(', ')}.`
  return finding('not-found', 'problem', {
    text: `No skill is named '${name.slice(0, MAX_SHOWN_CHARS)}'.${looked}`,
    fix:
      near === undefined
        ? [alike(name, all), isBlocked ? BLOCKED : makeIt(name, roots)].filter((part) => part !== '').join(' ')
        : `Did you mean '${near}'? Run: nexus skills why ${shellWord(near)}`,
  })
}

const BLOCKED = 'Mend what is said below first: not every place could be searched.'

/** Names that hold the word, or the other way round. */
function alike(name: string, names: readonly string[]): string {
  const wanted = nameKey(name).toLowerCase()
  const found = wanted.length < 3 ? [] : names.filter((each) => nameKey(each).toLowerCase().includes(wanted))
  return found.length === 0 ? '' : `There are: ${found.slice(0, 5).join(', ')}.`
}

function makeIt(name: string, roots: readonly SearchedRoot[]): string {
  if (!NEW_NAME.test(name) || name.length > 64) return 'See all names with: nexus skills list --all'
  const [first] = roots
  const put = first === undefined ? '' : `, or put it at ${first.path}/${name}/SKILL.md`
  return `Make it with: nexus skills init ${name}${put}.`
}

/** What the sources said of a root, in brackets. */
function stateOf(path: string, diagnostics: readonly Diagnostic[]): string {
  const found = diagnostics.find((diagnostic) => diagnostic.path === path && diagnostic.code.startsWith('root-'))
  if (!found) return ''
  return found.code === 'root-missing' || found.code === 'root-required' ? ' (does not exist)' : ` (${found.code})`
}
