import * as v from 'valibot'
import { compareUtf8, isJsonObject, type JsonValue, type Manifest } from '../../kernel/index.ts'
import { checkArchiveUrl, checkGitUrl, checkPath, checkRef } from './locator.ts'
import { isPlacedName } from './names.ts'
import { installError, MESSAGES } from './messages.ts'

export const LOCK_FILE = 'nexus-skills.lock'
const VERSION = 1

/** Where a placed skill came from; no path and no time of one machine. */
export type LockedSource =
  | {
      readonly type: 'git'
      readonly url: string
      readonly commit: string
      /** `update` follows a branch, or the newest tag. A commit follows nothing. */
      readonly follows: 'branch' | 'tags' | 'commit'
      /** Name of the branch or tag; of a commit there is none. */
      readonly ref?: string
      /** Directory of the skill in the repository; empty for its root. */
      readonly path: string
    }
  | { readonly type: 'archive'; readonly url?: string; readonly sha256: string; readonly path: string }
  /** `path` is relative to the directory of the lock; without it the copy came from outside. */
  | { readonly type: 'local'; readonly path?: string }

/** One placed skill. */
export interface LockedSkill {
  /** Directory of the copy below the directory of the lock, such as `skills/pdf`. */
  readonly place: string
  readonly source: LockedSource
  /** Digest of the tree. */
  readonly digest: string
  /** Lower-case hex sha256, followed by ` x` for a file that may be executed, by path. */
  readonly files: Readonly<Record<string, string>>
  readonly pinned: boolean
  /** Clients that find the copy where they look. */
  readonly clients: readonly string[]
  /** Version as the skill says it. */
  readonly version?: string
}

export type Lock = ReadonlyMap<string, LockedSkill>

/** The name of the skill's directory, by which commands call it. */
export function nameOfPlace(place: string): string {
  return place.slice(place.lastIndexOf('/') + 1)
}

export function lockedFiles({ files }: Pick<Manifest, 'files'>): Record<string, string> {
  return Object.fromEntries(files.map(({ path, sha256, executable }) => [path, executable ? `${sha256} x` : sha256]))
}

/**
 * Each entry ends with the same line, and the last line is none of a skill: git merges two added skills. Keys are in byte order, so the same skills
 * give the same bytes. Throws SKILL_INVALID for what `readLock` would refuse: a server chooses names of branches, directories and files.
 */
export function writeLock(lock: Lock): string {
  const rows = [...lock.values()].sort((a, b) => compareUtf8(a.place, b.place))
  const entries = rows.map((skill) => {
    const { place, source, digest, files, pinned, clients, version } = skill
    const value = {
      clients: [...clients].sort(compareUtf8),
      digest,
      files,
      pinned,
      source,
      ...(version !== undefined && { version }),
    }
    checkEntry(place, value)
    return `  ${JSON.stringify(place)}: ${JSON.stringify(sorted(value as unknown as JsonValue), null, 2).replaceAll('\n', '\n  ')},\n`
  })
  return `{\n${entries.join('')}  "version": ${VERSION}\n}\n`
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.sort(([a], [b]) => compareUtf8(a, b)).map(([key, member]) => [key, sorted(member)]))
}

const hex = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
const place = v.pipe(
  v.string(),
  v.check((text) => text.startsWith('skills/') && isPlacedName(nameOfPlace(text)) && text.split('/').length === 2),
)
/** Empty for the root. */
const inside = v.pipe(
  v.string(),
  v.check((text) => text === '' || passes(() => checkPath(text))),
)
const filePath = v.pipe(
  v.string(),
  v.check((text) => passes(() => checkPath(text))),
)
/** Plain http is checked against the user's own hosts when the address is used. */
const address = (check: (text: string, rules: { httpHosts: string[] }) => unknown) =>
  v.pipe(
    v.string(),
    v.check((text) => passes(() => check(text, { httpHosts: URL.canParse(text) ? [new URL(text).hostname] : [] }))),
  )
const SOURCE = v.variant('type', [
  v.object({
    type: v.literal('git'),
    url: address(checkGitUrl),
    commit: v.pipe(v.string(), v.regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/)),
    follows: v.picklist(['branch', 'tags', 'commit']),
    ref: v.exactOptional(
      v.pipe(
        v.string(),
        v.check((text) => passes(() => checkRef(text))),
      ),
    ),
    path: inside,
  }),
  v.object({
    type: v.literal('archive'),
    url: v.exactOptional(address(checkArchiveUrl)),
    sha256: hex,
    path: inside,
  }),
  v.object({ type: v.literal('local'), path: v.exactOptional(filePath) }),
])
const ENTRY = v.object({
  source: SOURCE,
  digest: v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/)),
  files: v.record(filePath, v.pipe(v.string(), v.regex(/^[0-9a-f]{64}(?: x)?$/))),
  pinned: v.boolean(),
  clients: v.array(v.string()),
  version: v.exactOptional(v.string()),
})

function checkEntry(key: string, value: Omit<LockedSkill, 'place'>): void {
  const read = v.safeParse(ENTRY, value)
  // A record is read without keys such as `constructor`.
  if (read.success && Object.keys(read.output.files).length === Object.keys(value.files).length) return
  throw installError('SKILL_INVALID', MESSAGES.cannotLock(nameOfPlace(key)))
}

function passes(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}

/** Reads what `writeLock` wrote. Everything in it is checked: a lock comes with a repository. Throws CONFIG_INVALID, with the file. */
export function readLock(text: string, path: string): Lock {
  if (/^(?:<{7}|={7}|>{7})(?: |$)/m.test(text)) throw installError('CONFIG_INVALID', MESSAGES.lockConflict(path))
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (cause) {
    throw installError('CONFIG_INVALID', MESSAGES.lockSyntax(path, (cause as Error).message), cause)
  }
  if (!isJsonObject(document)) throw installError('CONFIG_INVALID', MESSAGES.lockSyntax(path, 'it is no object'))
  const { version } = document
  if (version !== VERSION) throw installError('CONFIG_INVALID', MESSAGES.lockVersion(path, version))
  const entries = Object.entries(document).filter(([key]) => key !== 'version')
  return new Map(entries.map(([key, value]) => [key, readEntry(key, value, path)]))
}

function readEntry(key: string, value: unknown, path: string): LockedSkill {
  const read = v.safeParse(ENTRY, value, { abortEarly: true })
  if (read.success && v.is(place, key)) return { place: key, ...read.output }
  const at = read.success ? 'its name' : (v.getDotPath(read.issues[0]) ?? 'its value')
  throw installError('CONFIG_INVALID', MESSAGES.lockEntry(path, key, at))
}
