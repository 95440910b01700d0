import { CODES } from '../../../../kernel/index.ts'
import { type GitSource, gitSources, refreshAccess, refreshAll } from '../../../../local/index.ts'
import {
  endWaiting,
  fetchKept,
  fetchNews,
  findNews,
  INSTALL_MESSAGES,
  installError,
  lockedOf,
  type LockedSkill,
  lockOf,
  nameOfPlace,
  type News,
  planOf,
  readStatus,
  type Waiting,
} from '../../../../skills/install/index.ts'
import type { Answer, Invocation } from '../../command.ts'
import { carryOut, type Outcome } from '../../installing/plan.ts'
import { noteSources, sourceText } from '../../show/installed.ts'
import { type Installing, noteKept, openInstalling, scopeData } from '../../installing/place.ts'
import { INSTALL_WORDS } from '../../installing/words.ts'
import { withProgress } from '../../interactive/progress.ts'
import type { LoadedConfig } from '../../../../config/index.ts'

/** `nexus skills outdated [name…]`: exit code 1 when a skill has a newer revision; that of the failure when a source could not be asked. */
export async function outdatedSkills(invocation: Invocation): Promise<Answer> {
  const { terminal, positionals } = invocation
  const installing = await openInstalling(invocation)
  const waiting = waitingSources(installing.loaded, positionals).flatMap((each) => each.waiting)
  const news = await ask(chosen(installing, positionals), installing)
  const isNewer = waiting.length > 0 || news.some(({ state }) => state === 'newer')
  const failed = news.find(({ error }) => error !== undefined)?.error
  return {
    data: { ...scopeData(installing.scope), skills: news.map(newsData), waiting },
    // A source that did not answer may have something newer.
    exit: failed ? CODES[failed.code].exit : Number(isNewer),
    show: () => {
      for (const { name } of waiting) terminal.line(INSTALL_WORDS.waits(name))
      for (const each of news.filter(({ state }) => state === 'newer' || state === 'unreachable'))
        terminal.line(newsText(each))
      if (waiting.length === 0 && news.every(({ state }) => state === 'current' || state === 'fixed'))
        terminal.line(INSTALL_WORDS.upToDate())
    },
  }
}

/** `nexus skills update [name…|--all]` */
export async function updateSkills(invocation: Invocation): Promise<Answer> {
  const { terminal, positionals, flags } = invocation
  const installing = await openInstalling(invocation)
  if (positionals.length === 0 && flags['all'] !== true)
    throw installError('INVALID_ARGUMENT', INSTALL_WORDS.needsNames('skills update'))
  const { scope } = installing
  const skills = chosen(installing, positionals)
  for (const { place, pinned } of skills) if (pinned) terminal.note(INSTALL_MESSAGES.pinned(nameOfPlace(place)).message)
  const free = skills.filter(({ pinned }) => !pinned)
  const news = await ask(free, installing)
  for (const { name, error } of news) if (error) terminal.note(INSTALL_WORDS.unreachable(name, error.message))
  const failed = news.some(({ state }) => state === 'unreachable') ? 1 : 0
  const waiting = waitingSources(installing.loaded, positionals)
  if (waiting.length > 0) {
    const taken = await takeAll(waiting, installing, invocation)
    if (!news.some(({ state }) => state === 'newer') || taken.exit !== 0) return taken
  }
  if (!news.some(({ state }) => state === 'newer'))
    return {
      data: { ...scopeData(scope), skills: [], news: news.map(newsData), applied: false },
      exit: failed,
      show: () => {
        if (failed === 0) terminal.line(INSTALL_WORDS.upToDate())
      },
    }
  return takeNews(news, installing, invocation)
}

/** Shows the plan for newer revisions, asks, and takes them. A skill that could not be asked for, or is gone, gives the exit code 1. */
async function takeNews(news: readonly News[], installing: Installing, invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const { scope, access } = installing
  const { fetched, gone } = await installing.fetching('fetching files', () => fetchNews(news, access))
  for (const { name, error } of gone) terminal.note(INSTALL_WORDS.unreachable(name, error.message))
  const failed = gone.length > 0 || news.some(({ state }) => state === 'unreachable')
  const planned = await planOf(scope, fetched, lockOf(scope))
  const { data, applied, exit } = await carryOut(planned, installing, invocation)
  return {
    data: { ...data, news: news.map(newsData), gone: gone.map(({ name, error }) => ({ name, why: error.message })) },
    exit: Math.max(exit, failed ? 1 : 0),
    show: () => {
      if (!applied) return
      noteKept(applied.kept, invocation)
      terminal.line(INSTALL_WORDS.placed(planned.length, terminal.shortPath(scope.lockPath)))
    },
  }
}

/** Takes waiting revisions of git sources of nexus.yaml, one plan for each source. */
async function takeAll(
  waiting: ReturnType<typeof waitingSources>,
  installing: Installing,
  invocation: Invocation,
): Promise<Answer> {
  const { terminal } = invocation
  const taken = []
  for (const each of waiting) taken.push(await takeWaiting(each, installing, invocation))
  const placed = taken.filter(({ applied }) => applied)
  return {
    data: {
      ...scopeData(installing.scope),
      ...{ skills: taken.flatMap(({ data }) => data['skills']), news: [], applied: placed.length === taken.length },
    },
    exit: Math.max(...taken.map(({ exit }) => exit)),
    show: () => {
      for (const { applied } of placed) if (applied) noteKept(applied.kept, invocation)
      if (placed.length > 0)
        terminal.line(INSTALL_WORDS.taken(waiting.flatMap((each) => each.waiting).map(({ name }) => name)))
    },
  }
}

/** The skills of the lock that are named; copies of a git source are in the lock of the source. */
function chosen({ scope, loaded }: Installing, names: readonly string[]): readonly LockedSkill[] {
  const lock = lockOf(scope)
  const isHere = (name: string) => [...lock.keys()].some((place) => place === name || nameOfPlace(place) === name)
  if (names.length === 0) return [...lock.values()]
  return names.filter((name) => isHere(name) || !isKept(loaded, name)).map((name) => lockedOf(lock, name))
}

function ask(skills: readonly LockedSkill[], { access, fetching }: Installing) {
  return fetching('asking for newer revisions', () => findNews(skills, access))
}

function newsText({ name, skill, newest, error }: News): string {
  if (error) return INSTALL_WORDS.unreachable(name, error.message)
  const from = skill.source.type === 'git' ? skill.source.commit.slice(0, 12) : skill.digest
  const to = `${newest?.ref ?? ''} ${newest?.commit.slice(0, 12) ?? ''}`.trim()
  return INSTALL_WORDS.outdated({ name, from, to, source: sourceText(skill.source) })
}

function newsData({ name, skill, state, newest, error }: News) {
  const { source, pinned } = skill
  return { name, state, pinned, source, newest: newest ?? null, why: error?.message }
}

/** `nexus skills refresh`: exit code 1 when a source could not be asked; its copies go on serving. */
export async function refreshSources(invocation: Invocation): Promise<Answer> {
  const { terminal, environment, signal } = invocation
  const { loaded } = await openInstalling(invocation)
  const sources = gitSources(loaded)
  await withProgress(terminal, 'asking git sources', () => refreshAll(sources, loaded, { environment, signal }))
  const asked = sources.map(({ shown, scope }) => ({ url: shown, ...readStatus(scope) }))
  return {
    data: { sources: asked },
    exit: asked.some(({ problem }) => problem !== undefined) ? 1 : 0,
    show: () => {
      noteSources(loaded, invocation)
      for (const { url, commit = '', problem } of asked)
        if (problem === undefined) terminal.line(INSTALL_WORDS.refreshed(url, commit))
      if (asked.length === 0) terminal.line(INSTALL_WORDS.noSources())
    },
  }
}

/** A source with what waits in it for a person. */
interface WaitingSource extends GitSource {
  readonly waiting: readonly Waiting[]
}

/** Sources where a revision waits, of these skills or of all. */
export function waitingSources(loaded: LoadedConfig, names: readonly string[] = []): readonly WaitingSource[] {
  return gitSources(loaded).flatMap((each) => {
    const { waiting } = readStatus(each.scope)
    const chosen = waiting.filter(({ name }) => names.length === 0 || names.includes(name))
    return chosen.length === 0 ? [] : [{ ...each, waiting: chosen }]
  })
}

/** Whether a git source has a skill of this name, served or waiting. */
export function isKept(loaded: LoadedConfig, name: string): boolean {
  return gitSources(loaded).some(
    ({ scope }) =>
      [...lockOf(scope).keys()].some((place) => nameOfPlace(place) === name) ||
      readStatus(scope).waiting.some((each) => each.name === name),
  )
}

/** Shows the plan for what waits, asks, and takes it. */
export async function takeWaiting(
  { source, scope, waiting }: WaitingSource,
  installing: Installing,
  invocation: Invocation,
): Promise<Outcome> {
  const { environment, signal, terminal } = invocation
  const access = refreshAccess(scope, installing.loaded, { environment, signal })
  const fetched = await withProgress(terminal, 'fetching files', () => fetchKept(scope, source, { access }))
  const names = waiting.map(({ name }) => name)
  const planned = (fetched?.planned ?? []).filter(({ name }) => names.includes(name))
  const outcome = await carryOut(planned, { ...installing, scope, isTrusted: true }, invocation)
  if (outcome.applied) await endWaiting(scope, names)
  return outcome
}
