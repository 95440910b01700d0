import { join } from 'node:path'
import { type Manifest, type ManifestEntry, SKILL_FILE, type SkillDocument } from '../../kernel/index.ts'
import { hostsIn, parseSkill } from '../format/index.ts'
import { copyAt, driftOf, filesAt } from './copies.ts'
import type { Package, PackedFile } from './found.ts'
import type { Lock, LockedSkill, LockedSource } from './lock-file.ts'
import { installError, MESSAGES } from './messages.ts'
import { type Scope, textOf } from './scope.ts'

/** Everything that a skill asks for, by kind, each in the words of the skill. */
export type Asks = Readonly<Record<AskKind, readonly string[]>>
export type AskKind =
  | 'scripts'
  | 'tools'
  | 'variables'
  | 'programs'
  | 'config'
  | 'installs'
  | 'secret'
  | 'skills'
  | 'hosts'

export interface FileChange {
  readonly path: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly size: number
}

/** One skill as it would be placed. Nothing is changed yet. */
export interface PlannedSkill {
  /** Name of its directory, by which commands call it. */
  readonly name: string
  readonly place: string
  readonly action: 'add' | 'replace' | 'same'
  readonly package: Package
  readonly source: LockedSource
  readonly before: LockedSkill | undefined
  readonly changes: readonly FileChange[]
  /** Files of the copy that differ from the lock. */
  readonly edited: readonly string[]
  /** False when something is at the place that the lock does not have. */
  readonly isOurs: boolean
  readonly asks: Asks
  /** Everything that it asks for and the replaced copy did not. */
  readonly widens: Asks
  /** Names under which settings may speak of it, and of the replaced copy. */
  readonly keys: readonly string[]
  readonly keysBefore: readonly string[]
}

export interface Wanted {
  readonly package: Package
  readonly source: LockedSource
}

/** Compares what would be placed with what is there. Throws CONFLICT for two skills of one place. */
export async function planOf(scope: Scope, wanted: readonly Wanted[], lock: Lock): Promise<readonly PlannedSkill[]> {
  for (const [name, same] of Map.groupBy(wanted, (each) => each.package.directory))
    if (same.length > 1)
      throw installError(
        'CONFLICT',
        MESSAGES.twoOfOneName(
          name,
          same.map((each) => each.package.path),
        ),
      )
  const planned: PlannedSkill[] = []
  for (const each of wanted) planned.push(await planOne(scope, each, lock))
  return planned
}

async function planOne(scope: Scope, { package: packed, source }: Wanted, lock: Lock): Promise<PlannedSkill> {
  const place = `skills/${packed.directory}`
  const before = lock.get(place)
  const there = await copyAt(scope, place)
  const edited = before && there ? driftOf(before, there).map(({ path }) => path) : []
  const asks = { ...asksOf(packed.document, packed.manifest), hosts: hostsOf(packed.files) }
  const old = there && documentAt(scope, place)
  const isSame = there?.treeDigest === packed.digest
  const oldFiles = there?.files ?? []
  return {
    ...{ name: packed.directory, place, package: packed, source, before, edited, asks },
    action: actionFor(there, packed),
    changes: changesBetween(oldFiles, packed.manifest),
    isOurs: there === undefined || before !== undefined || there.treeDigest === packed.digest,
    widens: old
      ? beyond(asks, isSame ? asks : { ...asksOf(old, oldFiles), hosts: hostsOf(await filesAt(scope, place)) })
      : asks,
    keys: keysOf(packed.document, packed.name),
    keysBefore: old ? keysOf(old, packed.directory) : [],
  }
}

function keysOf({ name, metadata: { skillKey } }: SkillDocument, directory: string): readonly string[] {
  const own = name ?? directory
  return skillKey === undefined || skillKey === own ? [own] : [skillKey, own]
}

function actionFor(there: Manifest | undefined, { digest }: Package): PlannedSkill['action'] {
  if (there === undefined) return 'add'
  return there.treeDigest === digest ? 'same' : 'replace'
}

function documentAt({ root }: Pick<Scope, 'root'>, place: string): SkillDocument | undefined {
  const text = textOf(join(root, place, SKILL_FILE))
  return text === undefined ? undefined : parseSkill(text, { path: SKILL_FILE }).document
}

function changesBetween(before: readonly ManifestEntry[], after: readonly ManifestEntry[]): readonly FileChange[] {
  const old = new Map(before.map((file) => [file.path, file]))
  const changes = after.flatMap((file): FileChange[] => {
    const was = old.get(file.path)
    old.delete(file.path)
    if (was === undefined) return [{ path: file.path, change: 'added', size: file.size }]
    const isSame = was.sha256 === file.sha256 && was.executable === file.executable
    return isSame ? [] : [{ path: file.path, change: 'changed', size: file.size }]
  })
  return [...changes, ...[...old.values()].map(({ path, size }): FileChange => ({ path, change: 'removed', size }))]
}

/** Reads what a skill asks for. A script is a file that may be executed, or one below `scripts/`. */
function asksOf({ allowedTools, metadata }: SkillDocument, files: readonly ManifestEntry[]): Omit<Asks, 'hosts'> {
  const { requires, install, primaryEnv, skillKey, requiredSkills } = metadata
  const scripts = files.filter(({ path, executable }) => executable || path.startsWith('scripts/'))
  return {
    scripts: scripts.map(({ path }) => path),
    tools: allowedTools,
    variables: [...new Set([...requires.env, ...(primaryEnv === undefined ? [] : [primaryEnv])])],
    programs: [...requires.bins, ...requires.anyBins],
    config: requires.config,
    installs: install.map(({ kind, id }) => `${kind}: ${id}`),
    secret: skillKey === undefined ? [] : [skillKey],
    skills: requiredSkills ?? [],
  }
}

/** Larger files are data. */
const MAX_TEXT_BYTES = 1024 * 1024

/** The hosts that texts and scripts of a skill name. */
function hostsOf(files: readonly PackedFile[]): readonly string[] {
  const texts = files.filter(({ bytes }) => bytes.length <= MAX_TEXT_BYTES && !bytes.includes(0))
  return [...new Set(texts.flatMap(({ bytes }) => hostsIn(new TextDecoder().decode(bytes))))].sort()
}

/** Those of the first that the second has not. */
function beyond(asks: Asks, before: Asks): Asks {
  const rows = Object.entries(asks).map(([kind, words]) => {
    const old = new Set(before[kind as AskKind])
    return [kind, words.filter((word) => !old.has(word))]
  })
  return Object.fromEntries(rows) as unknown as Asks
}

/** Whether it asks for anything. */
export function asksAnything(asks: Asks): boolean {
  return Object.values(asks).some((words) => words.length > 0)
}
