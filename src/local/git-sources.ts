/** git-sources: the git sources of nexus.yaml on this machine: where their copies are, how old these are, and how they are kept fresh. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Environment, LoadedConfig } from '../config/index.ts'
import { toSafeLine } from '../kernel/index.ts'
import { readGitSettings } from '../machine/host/index.ts'
import {
  inScope,
  isDue,
  type KeptSource,
  keptScope,
  type Lock,
  LOCK_FILE,
  type LockedSkill,
  lockOf,
  needsRecovery,
  readMemory,
  readStatus,
  refreshKept,
  resultsOf,
  type Scope,
  sideBySide,
  type SourceStatus,
  type Waiting,
} from '../skills/install/index.ts'
import { aloneOf, installScope, sourceAccess } from './scope.ts'

/** A configured source with the place of its copies. */
export interface GitSource {
  readonly source: KeptSource
  readonly scope: Scope
  /** Its address without user and query, which may be secret. */
  readonly shown: string
}

const DAY_MS = 86_400_000

/** The git sources of nexus.yaml, in order. */
export function gitSources(loaded: LoadedConfig): readonly GitSource[] {
  return loaded.config.skills.sources.flatMap((configured) => {
    if (configured.type !== 'git') return []
    const { type: _, refresh, follow = false, ...rest } = configured
    const source = { ...rest, follow, refreshMs: refresh === undefined ? DAY_MS : millisecondsOf(refresh) }
    return [{ source, scope: keptScope(source, loaded), shown: shownUrl(source.url) }]
  })
}

function shownUrl(text: string): string {
  const url = URL.parse(text)
  return toSafeLine(url ? `${url.protocol}//${url.host}${url.pathname}` : text.replace(/^[^@]*@/, ''))
}

const UNITS: Readonly<Record<string, number>> = { ns: 1e-6, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS }

function millisecondsOf(duration: string): number {
  const parts = [...duration.matchAll(/([\d.]+)([a-z\u00b5\u03bc]+)/g)]
  // The other unit is the microsecond, in its three spellings.
  return parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNITS[unit] ?? 1e-3), 0)
}

export interface RefreshOptions {
  readonly environment: Environment
  /** The part of the user's git configuration that git needs, read once for many sources. Default: it is read. */
  readonly settings?: ReturnType<typeof readGitSettings> | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Asks the servers of sources for news, several side by side, and takes what asks for nothing more. What goes wrong with a source is in its
 * status. Any other failure is thrown, the first of them, when all have ended.
 */
export async function refreshAll(
  sources: readonly GitSource[],
  loaded: LoadedConfig,
  { environment, signal }: Omit<RefreshOptions, 'settings'>,
): Promise<void> {
  const settings = sources.length > 1 ? readGitSettings(environment.home, signal) : undefined
  const alone = aloneOf(loaded, signal)
  resultsOf(
    await sideBySide(sources, ({ scope, source }) => {
      const access = refreshAccess(scope, loaded, { environment, settings, signal })
      return refreshKept(scope, source, { access, alone, now: new Date() })
    }),
  )
}

export function refreshAccess(scope: Scope, loaded: LoadedConfig, { environment, settings, signal }: RefreshOptions) {
  const { entries, install } = loaded.config.skills
  const { httpHosts, policy } = install
  return {
    ...sourceAccess(scope, environment, signal),
    settings,
    httpHosts,
    policy,
    workspace: loaded.workspace.directory,
    hasSettings: (key: string) => entries.has(key),
  }
}

const SOONEST_MS = 60_000

/** Refreshes what is due, now and as long as the program runs. It keeps no program from ending, and fails silently. The returned function stops it. */
export function keepFresh(loaded: LoadedConfig, environment: Environment): () => Promise<void> {
  const sources = gitSources(loaded)
  const stop = new AbortController()
  const { signal } = stop
  const work = async (): Promise<void> => {
    const { setTimeout: sleep } = await import('node:timers/promises')
    while (!signal.aborted) {
      const due = sources.filter(({ source, scope }) => isDue(source, readStatus(scope), new Date()))
      await refreshAll(due, loaded, { environment, signal }).catch(() => undefined)
      const shortest = Math.min(...sources.map(({ source }) => source.refreshMs / 10))
      await sleep(Math.min(Math.max(SOONEST_MS, shortest), DAY_MS), undefined, { signal, ref: false })
    }
  }
  const running = sources.length === 0 ? Promise.resolve() : work().catch(() => undefined)
  return async () => {
    stop.abort()
    await running
  }
}

/** Ends what a killed process left under way in the places of this user. */
export async function recoverInstalls(loaded: LoadedConfig): Promise<void> {
  for (const scope of scopesOf(loaded, true))
    if (needsRecovery(scope)) await inScope(scope, { alone: aloneOf(loaded) }, async () => undefined)
}

/** Scopes of this user; without `all` only those with a lock, as the name of a scope costs the loading of node:crypto. */
function scopesOf(loaded: LoadedConfig, all: boolean): readonly Scope[] {
  const places = (['workspace', 'user'] as const).filter(
    (kind) => all || existsSync(join(kind === 'user' ? loaded.nexusHome : loaded.workspace.directory, LOCK_FILE)),
  )
  return [...places.map((kind) => installScope(kind, loaded)), ...gitSources(loaded).map(({ scope }) => scope)]
}

/** The entry of one copy in a lock of this machine. */
export interface Installed extends Pick<LockedSkill, 'source' | 'digest' | 'version' | 'pinned'> {
  /** The commit, or the digest of the archive; a folder has none. */
  readonly revision?: string
  /** When its source was last seen with this content, as an ISO time. */
  readonly lastGood?: string
  /** A revision of it that waits for `nexus skills update`. */
  readonly waiting?: Waiting
}

/** Finds the entry of a copy by the path of its SKILL.md; undefined for a copy that was not installed. */
export function installedCopies(loaded: LoadedConfig): (file: string) => Installed | undefined {
  const found = new Map<string, Installed>()
  for (const scope of scopesOf(loaded, false)) addCopies(found, scope, readStatus(scope))
  return (file) => found.get(dirname(file))
}

function addCopies(found: Map<string, Installed>, scope: Scope, status: SourceStatus): void {
  if (!existsSync(scope.lockPath)) return
  const memory = readMemory(scope)
  for (const { place, source, digest, version, pinned } of readable(scope).values()) {
    const lastGood = status.seenAt ?? memory[place]?.seenAt
    const waiting = status.waiting.find(({ name }) => place === `skills/${name}`)
    found.set(join(scope.root, place), {
      ...{ source, digest, pinned },
      ...(version !== undefined && { version }),
      ...revisionOf(source),
      ...(lastGood !== undefined && { lastGood }),
      ...(waiting && { waiting }),
    })
  }
}

function revisionOf(source: LockedSkill['source']): Pick<Installed, 'revision'> {
  if (source.type === 'git') return { revision: source.commit }
  return source.type === 'archive' ? { revision: source.sha256 } : {}
}

/** A lock that cannot be read keeps no skill from being listed; the commands that need it say why. */
function readable(scope: Scope): Lock {
  try {
    return lockOf(scope)
  } catch {
    return new Map()
  }
}
