import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Tree } from '../../machine/files/index.ts'
import { MANIFEST_LIMITS, readManifest } from '../../machine/skill-files/index.ts'
import { SKILL_FILE } from '../../kernel/index.ts'
import { type Candidate, candidatesOf, type Package, packageOf } from './found.ts'
import { type Likely, openGit, type OpenedSource, skillFilesIn } from './git-source.ts'
import type { Locator } from './locator.ts'
import type { LockedSource } from './lock-file.ts'
import type { GitAccess } from './repository.ts'
import { installError, MESSAGES } from './messages.ts'
import { privateDirectory, type Scope } from './scope.ts'

/** How sources are reached. */
export interface SourceAccess extends Omit<GitAccess, 'workDirectory'> {
  readonly scope: Pick<Scope, 'root' | 'nexusHome'>
  readonly likely?: Likely
}

/** Opens whatever a locator names. Throws NETWORK_FAILED, FILE_NOT_FOUND, LIMIT_EXCEEDED. Dispose of it after use. */
export async function openSource(locator: Locator, access: SourceAccess): Promise<OpenedSource> {
  if (locator.type === 'git') return openGit(locator, { ...gitAccess(access), likely: access.likely })
  if (locator.type === 'directory') return openDirectory(locator.path, access)
  return (await import('./archive/open-archive.ts')).openArchive(locator, access)
}

export function gitAccess({ scope, likely: _, ...access }: SourceAccess): GitAccess {
  return { ...access, workDirectory: privateDirectory(scope.nexusHome, 'git') }
}

/** Entries that are looked at in a folder that a person names. */
const MAX_ENTRIES = 50_000

async function openDirectory(directory: string, { scope }: SourceAccess): Promise<OpenedSource> {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw installError('FILE_NOT_FOUND', MESSAGES.noFolder(directory))
  using tree = new Tree(directory)
  const found: { path: string; kind: 'file' }[] = []
  await tree.walk({
    maxEntries: MAX_ENTRIES,
    visit: ({ path, name, kind }) => {
      if (kind === 'file' && name === SKILL_FILE) found.push({ path, kind })
      return name !== '.git' && name !== 'node_modules'
    },
  })
  const skillFiles = []
  for (const { path } of skillFilesIn(found, '')) {
    const { bytes } = await tree.read(path, { maxBytes: MANIFEST_LIMITS.maxFileBytes })
    skillFiles.push({ path, bytes })
  }
  return {
    ...candidatesOf(skillFiles),
    read: async (chosen) => Promise.all(chosen.map((candidate) => readLocal(directory, candidate))),
    lockedAs: ({ path }) => localSource(join(directory, path), scope.root),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

/** A path outside of the scope is of one machine, so the lock does not have it. */
function localSource(path: string, root: string): LockedSource {
  return path.startsWith(`${root}/`) ? { type: 'local', path: path.slice(root.length + 1) } : { type: 'local' }
}

async function readLocal(directory: string, candidate: Candidate): Promise<Package> {
  const from = join(directory, candidate.path)
  const { files, leftOut } = await readManifest(from)
  using tree = new Tree(from)
  const packed = []
  for (const { path, executable } of files) {
    const { bytes } = await tree.read(path, { maxBytes: MANIFEST_LIMITS.maxFileBytes })
    packed.push({ path, executable, bytes })
  }
  const others = leftOut.map(({ path }) => path)
  return packageOf(candidate, packed, others)
}
