import {
  fetchNews,
  findNews,
  INSTALL_MESSAGES,
  installError,
  lockedOf,
  type LockedSkill,
  lockOf,
  type News,
  nameOfPlace,
  planOf,
} from '../../../../skills/install/index.ts'
import { type Answer, type Invocation } from '../../command.ts'
import { carryOut, sourceText } from '../../installing/plan.ts'
import { type Installing, noteKept, openInstalling, scopeData } from '../../installing/place.ts'
import { INSTALL_WORDS } from '../../installing/words.ts'
import { withProgress } from '../../interactive/progress.ts'

/** `nexus skills outdated [name…]`: exit code 1 when a skill has a newer revision. */
export async function outdatedSkills(invocation: Invocation): Promise<Answer> {
  const { terminal, positionals } = invocation
  const installing = await openInstalling(invocation)
  const news = await ask(chosen(installing, positionals), installing, invocation)
  const newer = news.filter(({ state }) => state === 'newer')
  return {
    data: { ...scopeData(installing.scope), skills: news.map(newsData) },
    exit: newer.length > 0 ? 1 : 0,
    show: () => {
      for (const each of news.filter(({ state }) => state === 'newer' || state === 'unreachable'))
        terminal.line(newsText(each))
      if (news.every(({ state }) => state === 'current' || state === 'fixed')) terminal.line(INSTALL_WORDS.upToDate())
    },
  }
}

/** `nexus skills update [name…|--all]` */
export async function updateSkills(invocation: Invocation): Promise<Answer> {
  const { terminal, positionals, flags } = invocation
  const installing = await openInstalling(invocation)
  if (positionals.length === 0 && flags['all'] !== true)
    throw installError('INVALID_ARGUMENT', INSTALL_WORDS.needsNames('skills update'))
  const { scope, access } = installing
  const skills = chosen(installing, positionals)
  for (const { place, pinned } of skills) if (pinned) terminal.note(INSTALL_MESSAGES.pinned(nameOfPlace(place)).message)
  const free = skills.filter(({ pinned }) => !pinned)
  const news = await ask(free, installing, invocation)
  for (const { name, error } of news) if (error) terminal.note(INSTALL_WORDS.unreachable(name, error.message))
  const failed = news.some(({ state }) => state === 'unreachable') ? 1 : 0
  if (!news.some(({ state }) => state === 'newer'))
    return {
      data: { ...scopeData(scope), skills: [], news: news.map(newsData), applied: false },
      exit: failed,
      show: () => {
        if (failed === 0) terminal.line(INSTALL_WORDS.upToDate())
      },
    }
  const wanted = await withProgress(terminal, 'fetching files', () => fetchNews(news, access))
  const planned = await planOf(scope, wanted, lockOf(scope))
  const { data, applied, exit } = await carryOut(planned, installing, { invocation })
  return {
    data: { ...data, news: news.map(newsData) },
    exit: Math.max(exit, failed),
    show: () => {
      if (!applied) return
      noteKept(applied.kept, invocation)
      terminal.line(INSTALL_WORDS.placed(planned.length, terminal.shortPath(scope.lockPath)))
    },
  }
}

function chosen({ scope }: Installing, names: readonly string[]): readonly LockedSkill[] {
  const lock = lockOf(scope)
  return names.length === 0 ? [...lock.values()] : names.map((name) => lockedOf(lock, name))
}

function ask(skills: readonly LockedSkill[], { access }: Installing, { terminal }: Invocation) {
  return withProgress(terminal, 'asking for newer revisions', () => findNews(skills, access))
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
