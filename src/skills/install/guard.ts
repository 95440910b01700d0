import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { Tree } from '../../machine/files/index.ts'
import type { ReadManifest } from '../../machine/skill-files/index.ts'
import { type Drift, driftOf } from './copies.ts'
import type { LockedSkill } from './lock-file.ts'
import { randomHex } from './names.ts'
import { openState, type Scope } from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

export interface Overwriting {
  /** Names whose local edits, or foreign copies, are replaced; a copy of the files is kept. */
  readonly overwrite?: ReadonlySet<string>
  /** Words of the command that the person typed, for the proposal to type it again. Default: `skills update`. */
  readonly command?: readonly string[]
}

export interface Guarded {
  readonly name: string
  readonly place: string
  readonly there: ReadManifest | undefined
  readonly before: LockedSkill | undefined
  /** Digest of what will be there; undefined when the copy is removed. */
  readonly next?: string
}

/** Nothing of a person is lost: returns where a copy of edited files is kept. Throws CONFLICT where that was not asked for. */
export async function guardCopy(
  scope: Scope,
  guarded: Guarded,
  { overwrite, command }: Overwriting,
): Promise<string | undefined> {
  const { name, place, there, before, next } = guarded
  if (there === undefined || there.treeDigest === next) return undefined
  // No file of a skill, so no copy of edits has them: a repository of the user, or links.
  const others = there.leftOut.map(({ path }) => path)
  if (lstatSync(join(scope.root, place, '.git'), { throwIfNoEntry: false })) others.unshift('.git')
  if (others.length > 0) throw installError('CONFLICT', MESSAGES.notOfSkill(place, others))
  const drift =
    before === undefined ? there.files.map(({ path }): Drift => ({ path, change: 'added' })) : driftOf(before, there)
  if (drift.length === 0) return undefined
  if (overwrite?.has(name) !== true) {
    if (before === undefined) throw installError('CONFLICT', MESSAGES.notOurs(place))
    throw installError(
      'CONFLICT',
      MESSAGES.edited(
        name,
        drift.map(({ path, change }) => `${path} (${change})`),
        command ?? ['skills', 'update', name],
      ),
    )
  }
  return keepEdits(scope, { name, place }, drift)
}

async function keepEdits(
  scope: Scope,
  { name, place }: { name: string; place: string },
  drift: readonly Drift[],
): Promise<string> {
  using state = openState(scope)
  using source = new Tree(join(scope.root, place))
  const directory = `edits/${name}-${randomHex()}`
  for (const { path, change } of drift) {
    if (change === 'missing') continue
    const { bytes, mode } = await source.read(path, { maxBytes: Number.MAX_SAFE_INTEGER })
    await state.write(`${directory}/${path}`, { bytes, mode: mode & 0o700, makesParents: true })
  }
  return join(scope.stateDirectory, directory)
}
