import { everyCopy, shownName } from '../catalog/index.ts'
import { type Diagnostic, nameKey, nearest, skillAddress } from '../kernel/index.ts'
import type { Facts } from './facts.ts'
import { type Finding, finding, fromDiagnostic } from './finding.ts'
import { lastPart, misplaced } from './misplaced.ts'

/** What may hide a skill: limits that ended a search, and places that could not be searched. */
const LIMITS = ['depth-limit', 'directory-limit', 'skill-limit']
const SEARCH_TROUBLES = [
  ...['root-required', 'root-not-directory', 'root-unreadable', 'root-outside', 'root-vanished', 'root-is-skill'],
  ...['directory-unreadable', 'directory-vanished', 'name-encoding', 'link-outside', 'link-broken', 'source-failed'],
]
const MAX_LISTED = 20
const MAX_ALIKE = 5
const MAX_SHOWN_CHARS = 120
/** Names that `nexus skills init` takes. */
const NEW_NAME = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Nothing has that name: where it was looked for, what is in the wrong place, and what got in the way. */
export function findMissing(name: string, facts: Facts): readonly Finding[] {
  const { catalog, snapshot, roots = [], strays = [] } = facts
  const troubles = among(catalog.diagnostics, SEARCH_TROUBLES)
  // A place of that very name which could not be looked into is the answer.
  const isOwn = ({ path }: Diagnostic): boolean => nameKey(lastPart(path)) === nameKey(lastPart(name))
  const answers = [
    ...troubles.filter(isOwn).map((trouble): Finding => ({ ...fromDiagnostic(trouble), severity: 'error' })),
    ...strays.slice(0, MAX_LISTED).map((stray) => misplaced(name, stray, roots)),
  ]
  const others = troubles.filter((trouble) => !isOwn(trouble)).map(fromDiagnostic)
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
    const message = `The session was told of it; since then it is gone (it was in ${known.directory}).`
    const fix = 'Put it back, or go on without it: the next turn no longer offers it.'
    answers.push(finding('stale-session', 'info', { message, fix, path: known.directory }))
  }
  return [...answers, ...limits, ...others]
}

function among(diagnostics: readonly Diagnostic[], codes: readonly string[]): readonly Diagnostic[] {
  return diagnostics.filter(({ code }) => codes.includes(code)).slice(0, MAX_LISTED)
}

/** `source/name` where the source, or a copy in it, does not exist. */
function wrongAddress(asked: string, { catalog, roots = [] }: Facts): Finding | undefined {
  const [, source = '', name = ''] = /^([^/]+)\/([^/]+)$/.exec(asked) ?? []
  if (name === '') return undefined
  const isMeant = (copy: { readonly name: string }): boolean => nameKey(copy.name) === nameKey(name)
  const readable = everyCopy(catalog).filter((skill) => isMeant({ name: shownName(skill) }))
  const addresses = [...readable.map(catalog.addressOf), ...catalog.rejected.filter(isMeant).map(skillAddress)]
  const root = roots.find((each) => each.source === source)
  if (root === undefined && addresses.length === 0) return undefined
  const sources = [...new Set(roots.map((each) => each.source))]
  const message = root
    ? `Source '${source}' has no skill named '${name}' (it is ${root.path}).`
    : `There is no source '${source}'. Sources: ${sources.join(', ')}.`
  const fix = addresses.length === 0 ? 'Run:' : `There is ${addresses.slice(0, MAX_ALIKE).join(', ')}. Run:`
  return finding('not-found', 'error', { message, fix, command: ['skills', 'why', addresses[0] ?? name] })
}

function notFound(name: string, { catalog, roots = [] }: Facts, isBlocked: boolean): Finding {
  const all = [
    ...[...catalog.skills, ...catalog.held.map(({ skill }) => skill)].map(shownName),
    ...catalog.rejected.map((broken) => broken.name),
  ]
  const shown = name.slice(0, MAX_SHOWN_CHARS)
  const root = roots.find(({ path }) => path === name || lastPart(path) === name)
  if (root !== undefined && !all.includes(name)) {
    const message = `'${shown}' is a directory where skills are looked for, not a skill: ${root.path}.`
    return finding('not-found', 'error', { message, fix: 'See what it holds:', command: LIST })
  }
  const places = roots.slice(0, MAX_LISTED).map(({ path }) => `${path}${stateOf(path, catalog.diagnostics)}`)
  const looked = places.length === 0 ? '' : ` Looked in: ${places.join(', ')}.`
  const message = `No skill is named '${shown}'.${looked}`
  const answer = (fix: string, command?: readonly string[]): Finding =>
    finding('not-found', 'error', { message, fix, ...(command && { command }) })
  const near = nearest(name, all) ?? nearest(lastPart(name.replace(/\/(?:SKILL\.md)?$/i, '')), all)
  if (near !== undefined) return answer(`Did you mean '${near}'? Run:`, ['skills', 'why', near])
  const similar = alike(name, all)
  if (isBlocked) return answer(`${similar}${BLOCKED}`)
  if (!NEW_NAME.test(name)) return answer(`${similar}See all names with:`, LIST)
  const put = roots[0] && `Put it at ${roots[0].path}/${name}/SKILL.md, or make it with:`
  return answer(`${similar}${put ?? 'Make it with:'}`, ['skills', 'init', name])
}

const LIST = ['skills', 'list', '--all']
const BLOCKED = 'Mend what is said below first: not every place could be searched.'

/** Names that hold the word. */
function alike(name: string, names: readonly string[]): string {
  const wanted = nameKey(name).toLowerCase()
  const found = wanted.length < 3 ? [] : names.filter((each) => nameKey(each).toLowerCase().includes(wanted))
  return found.length === 0 ? '' : `There are: ${found.slice(0, MAX_ALIKE).join(', ')}. `
}

/** What the sources said of a root, in brackets. */
function stateOf(path: string, diagnostics: readonly Diagnostic[]): string {
  const found = diagnostics.find((diagnostic) => diagnostic.path === path && diagnostic.code.startsWith('root-'))
  if (!found) return ''
  return found.code === 'root-missing' || found.code === 'root-required' ? ' (does not exist)' : ` (${found.code})`
}
