import { basename, dirname } from 'node:path'
import { type InvalidSkill, type Skill, skillAddress } from '../../kernel/index.ts'
import { readingsOf } from './address.ts'
import type { Catalog, ShadowedSkill } from './catalog.ts'
import { keyOf, takesPart, toKey } from './copy.ts'

/** Every copy that a text may mean. */
export interface Copies {
  readonly skills: readonly Skill[]
  readonly held: Catalog['held']
  readonly shadowed: readonly ShadowedSkill[]
  readonly invalid: readonly InvalidSkill[]
  readonly files: ReadonlySet<string>
  /** True when no skill has that name, but a directory. */
  readonly isDirectory: boolean
  /** Skills that have the text for their name, while it is the address of another one. */
  readonly alike: readonly Skill[]
}

type Candidate = Skill | InvalidSkill

/**
 * Every copy that a text means, whatever its state: by address, else by name, else by path, else by the directory's name. A text is tried
 * as it is before `$` is taken off. As in `Catalog.find`, an address wins over labels that look like it.
 */
export function copiesOf(catalog: Catalog, asked: string): Copies {
  const readings = readingsOf(asked)
  for (const reading of readings) {
    const found = called(catalog, reading)
    if (found.files.size > 0) return found
  }
  const path = asked.trim().replace(/\/+$/, '')
  const there = matching(catalog, ({ file }) => file === path || dirname(file) === path)
  if (there.files.size > 0) return there
  const names = new Set(readings)
  return { ...matching(catalog, ({ file }) => names.has(basename(dirname(file)))), isDirectory: true }
}

function called(catalog: Catalog, text: string): Copies {
  const key = toKey(text)
  const hasLabel = (place: Candidate): boolean => labelKey(place) === key
  if (!key.includes('/')) return matching(catalog, hasLabel)
  const hasAddress = (place: Candidate): boolean => addressKey(place, catalog) === key
  const addressed = matching(catalog, hasAddress)
  const named = matching(catalog, hasLabel)
  if (!takesName(addressed)) {
    return named.files.size === 0 ? addressed : matching(catalog, (each) => hasLabel(each) || hasAddress(each))
  }
  const alike = everyCopy(named).filter(({ file }) => !addressed.files.has(file))
  return { ...addressed, alike }
}

/** An untrusted copy, or one that this agent may not see, takes no name away. */
function takesName({ skills, held, shadowed }: Copies): boolean {
  return skills.length > 0 || [...held, ...shadowed].some(takesPart)
}

function matching(
  catalog: Pick<Catalog, 'skills' | 'held' | 'shadowed' | 'invalid'>,
  isMeant: (place: Candidate) => boolean,
): Copies {
  const skills = catalog.skills.filter(isMeant)
  const held = catalog.held.filter(({ skill }) => isMeant(skill))
  const shadowed = catalog.shadowed.filter(({ skill }) => isMeant(skill))
  const invalid = catalog.invalid.filter(isMeant)
  const copies = { skills, held, shadowed, invalid }
  const files = new Set([...everyCopy(copies), ...invalid].map(({ file }) => file))
  return { ...copies, files, isDirectory: false, alike: [] }
}

/** Those that can be read: ready, then held, then shadowed ones. */
export function everyCopy({ skills, held, shadowed }: Pick<Catalog, 'skills' | 'held' | 'shadowed'>): readonly Skill[] {
  return [...skills, ...held.map(({ skill }) => skill), ...shadowed.map(({ skill }) => skill)]
}

function labelKey(place: Candidate): string {
  return 'directory' in place ? keyOf(place) : toKey(place.name)
}

function addressKey(place: Candidate, catalog: Catalog): string {
  return toKey('directory' in place ? catalog.addressOf(place) : skillAddress(place))
}
