import { type Diagnostic, nearest } from '../../kernel/index.ts'
import type { Catalog } from '../catalog.ts'
import { shownName } from '../shown-text.ts'
import type { CatalogSnapshot } from '../snapshot.ts'
import { type Finding, finding, fromDiagnostic } from './finding.ts'

/** A directory that was searched for skills. */
export interface SearchedRoot {
  /** Id of the source. */
  readonly source: string
  readonly path: string
}

/** A file that looks like a skill, in a place where none is looked for. */
export interface StrayFile {
  readonly file: string
  /** `below-skill`: inside another skill. `too-deep`: beyond the depth limit. `hidden`: in a hidden directory or node_modules. */
  readonly why: 'below-skill' | 'too-deep' | 'hidden' | 'beside-root' | 'no-skill-file'
}

interface MissingParts {
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

/** Nothing has that name: where it was looked for, what lies in the wrong place, and what got in the way. */
export function findMissing(name: string, parts: MissingParts): Finding[] {
  const { catalog, snapshot, strays = [] } = parts
  const findings: Finding[] = []
  if (strays.length === 0) findings.push(notFound(name, parts))
  for (const stray of strays.slice(0, MAX_LISTED)) findings.push(misplaced(name, stray, parts))
  const known = snapshot?.skills.find((skill) => shownName(skill) === name)
  if (known) {
    const text = `The session was told of it; since then it is gone (it was in ${known.directory}).`
    const fix = 'Put it back, or go on without it: the next turn no longer offers it.'
    findings.push(finding('stale-session', 'note', { text, fix, file: known.directory }))
  }
  const hindering = (codes: readonly string[]): readonly Diagnostic[] =>
    catalog.diagnostics.filter(({ code }) => codes.includes(code)).slice(0, MAX_LISTED)
  for (const diagnostic of hindering(LIMITS)) {
    findings.push({ ...fromDiagnostic(diagnostic), code: 'limit', severity: 'problem' })
  }
  for (const diagnostic of hindering(SEARCH_TROUBLES)) findings.push(fromDiagnostic(diagnostic))
  return findings
}

function notFound(name: string, { catalog, roots = [] }: MissingParts): Finding {
  const names = [...catalog.skills, ...catalog.held.map(({ skill }) => skill)].map(shownName)
  const near = nearest(name, [...names, ...catalog.rejected.map((broken) => broken.name)])
  const places = roots.slice(0, MAX_LISTED).map(({ path }) => `${path}${stateOf(path, catalog.diagnostics)}`)
  const looked = places.length === 0 ? '' : ` Looked in: ${places.join(', ')}.`
  const [first] = roots
  const create = first === undefined ? '' : `, or put it at ${first.path}/${name}/SKILL.md`
  return finding('not-found', 'problem', {
    text: `No skill is named '${name}'.${looked}`,
    fix:
      near === undefined
        ? `Make it with: nexus skills init ${name}${create}.`
        : `Did you mean '${near}'? Run: nexus skills why ${near}`,
  })
}

/** What the sources said of a root, in brackets. */
function stateOf(path: string, diagnostics: readonly Diagnostic[]): string {
  const found = diagnostics.find((diagnostic) => diagnostic.path === path && diagnostic.code.startsWith('root-'))
  if (!found) return ''
  return found.code === 'root-missing' || found.code === 'root-required' ? ' (does not exist)' : ` (${found.code})`
}

function misplaced(name: string, { file, why }: StrayFile, { roots = [] }: MissingParts): Finding {
  const [first] = roots
  const target = first === undefined ? 'a directory of its own below a skills directory' : `${first.path}/${name}/`
  const directory = file.replace(/[/\\][^/\\]*$/, '')
  const texts: Readonly<Record<StrayFile['why'], readonly [text: string, fix: string]>> = {
    'below-skill': [
      'It lies inside another skill, and the search ends at a skill.',
      `Move ${directory} to ${target}, or set nested: true on the source.`,
    ],
    'too-deep': ['It lies deeper than the search goes.', `Move ${directory} to ${target}.`],
    hidden: [
      'It lies in a hidden directory or in node_modules, where skills are not looked for.',
      `Move ${directory} to ${target}, or name its parent in skills.load.extraDirs.`,
    ],
    'beside-root': [
      'It does not lie in a directory where skills are looked for.',
      `Move ${directory} to ${target}, or name its parent in skills.load.extraDirs.`,
    ],
    'no-skill-file': [
      'There is a directory or file of that name, but no SKILL.md in it.',
      `Put the skill's text into ${target}SKILL.md.`,
    ],
  }
  const [text, fix] = texts[why]
  return finding('wrong-place', 'problem', { text: `Wrong place: ${text}`, file, fix })
}
