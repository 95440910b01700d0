import { nameKey, type RejectedSkill, type Skill, skillAddress } from '../../kernel/index.ts'
import type { Catalog, ShadowedSkill } from '../catalog.ts'
import { shownName, shownText } from '../shown-text.ts'

/** Every copy that a name may mean. */
export interface Copies {
  readonly offered: readonly Skill[]
  readonly held: Catalog['held']
  readonly shadowed: readonly ShadowedSkill[]
  readonly rejected: readonly RejectedSkill[]
  /** Their SKILL.md files. */
  readonly files: ReadonlySet<string>
  /** True when no skill has that name, but a directory. */
  readonly isDirectory: boolean
}

interface Place {
  readonly name: string
  readonly file: string
  readonly origin: Skill['origin']
}

/** Looks by name, address or path; only when that finds nothing by the directory's name. */
export function copiesOf(catalog: Catalog, asked: string): Copies {
  const wanted = asked.trim().replace(/^\$/, '')
  const copies = matching(catalog, means(wanted))
  if (copies.files.size > 0) return copies
  return { ...matching(catalog, ({ file }) => directoryName(file) === wanted), isDirectory: true }
}

function matching(catalog: Catalog, isMeant: (place: Place) => boolean): Copies {
  const offered = catalog.skills.filter(isMeant)
  const held = catalog.held.filter(({ skill }) => isMeant(skill))
  const shadowed = catalog.shadowed.filter(({ skill }) => isMeant(skill))
  const rejected = catalog.rejected.filter(isMeant)
  const skills = [...offered, ...held.map(({ skill }) => skill), ...shadowed.map(({ skill }) => skill)]
  return {
    ...{ offered, held, shadowed, rejected },
    files: new Set([...skills, ...rejected].map(({ file }) => file)),
    isDirectory: false,
  }
}

function means(wanted: string): (place: Place) => boolean {
  const key = nameKey(shownText(wanted))
  const path = wanted.replace(/\/+$/, '')
  return (place) => {
    const { name, file } = place
    const label = 'directory' in place ? shownName(place as Skill) : shownText(name)
    if (nameKey(label) === key || nameKey(skillAddress(place)) === key) return true
    return file === path || directoryOf(file) === path
  }
}

function directoryOf(file: string): string {
  return file.replace(/[/\\][^/\\]*$/, '')
}

function directoryName(file: string): string {
  return directoryOf(file).replace(/^.*[/\\]/, '')
}
