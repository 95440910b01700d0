import { toSafeLine } from '../../../../kernel/index.ts'
import {
  type Candidate,
  INSTALL_MESSAGES,
  installError,
  type Locator,
  lockOf,
  openSource,
  type OpenedSource,
  planOf,
  readLocator,
} from '../../../../skills/install/index.ts'
import { type Answer, argument, type Invocation } from '../../command.ts'
import { carryOut } from '../../installing/plan.ts'
import { namesFlag, noteKept, openInstalling } from '../../installing/place.ts'
import { INSTALL_WORDS } from '../../installing/words.ts'
import { ask } from '../../interactive/confirm.ts'
import { formatTable } from '../../show/columns.ts'

/** `nexus skills install <source>`: fetches, shows a plan, asks, and places. */
export async function installSkills(invocation: Invocation): Promise<Answer> {
  const { terminal, cwd, flags } = invocation
  if (flags['frozen'] === true) return frozen(invocation)
  const installing = await openInstalling(invocation)
  const what = argument(invocation, 'a source', ['anthropics/skills', '--skill', 'pdf'])
  const { scope, access } = installing
  const locator = readLocator(what, { cwd, httpHosts: access.httpHosts })
  const likely = flags['all'] === true ? 'all' : [...namesFlag(invocation, 'skill')]
  await using opened = await installing.fetching(`fetching ${toSafeLine(what)}`, () =>
    openSource(locator, { ...access, likely }),
  )
  for (const { path, why } of opened.refused) terminal.note(INSTALL_WORDS.refusedSkill(path, why))
  if (opened.candidates.length === 0) throw installError('FILE_NOT_FOUND', INSTALL_MESSAGES.noSkills(what))
  if (flags['list'] === true) return listed(opened, invocation)
  const chosen = await choose(opened, what, locator, invocation)
  const packages = await installing.fetching('fetching files', () => opened.read(chosen))
  const wanted = packages.map((each) => ({ package: each, source: opened.lockedAs(each) }))
  const planned = await planOf(scope, wanted, lockOf(scope))
  const from = locator.type === 'directory' || locator.type === 'archive' ? locator.path : undefined
  const offers = opened.candidates.map(({ name }) => name)
  const outcome = await carryOut(planned, installing, invocation, { from, offers })
  return {
    data: outcome.data,
    exit: outcome.exit,
    show: () => {
      if (!outcome.applied) return
      noteKept(outcome.applied.kept, invocation)
      terminal.line(INSTALL_WORDS.placed(planned.length, terminal.shortPath(scope.lockPath)))
    },
  }
}

/** The same as `nexus skills ci`. */
async function frozen(invocation: Invocation): Promise<Answer> {
  if (invocation.positionals.length > 0) throw installError('INVALID_ARGUMENT', INSTALL_WORDS.frozenSource())
  const { frozen: _, skill: _skill, all: _all, client: _client, list: _list, ...flags } = invocation.flags
  return (await import('./ci.ts')).restoreSkills({ ...invocation, flags, command: 'skills ci' })
}

function listed({ candidates, refused }: OpenedSource, { terminal }: Invocation): Answer {
  return {
    data: { skills: candidates, refused },
    show: () => {
      const rows = candidates.map(({ name, path, description }) => [
        toSafeLine(name),
        toSafeLine(path || '.'),
        toSafeLine(description),
      ])
      terminal.line(formatTable(rows, terminal))
    },
  }
}

/** The skills that are asked for. Throws SKILL_NOT_FOUND, INVALID_ARGUMENT when nothing says which. */
async function choose(
  { candidates }: OpenedSource,
  what: string,
  locator: Locator,
  invocation: Invocation,
): Promise<readonly Candidate[]> {
  const asked = [...namesFlag(invocation, 'skill')]
  if (locator.type === 'git' && locator.skill !== undefined) asked.push(locator.skill)
  const isOpen = asked.length === 0 && candidates.length > 1 && invocation.flags['all'] !== true
  const byName = asked.length > 0 ? asked.flatMap((name) => named(candidates, name, what)) : candidates
  const all = isOpen ? await chosenByPerson(candidates, what, invocation) : byName
  return [...new Set(all)]
}

/** Throws INVALID_ARGUMENT when nobody chooses. */
async function chosenByPerson(
  candidates: readonly Candidate[],
  what: string,
  invocation: Invocation,
): Promise<readonly Candidate[]> {
  const { terminal, flags } = invocation
  const rows = candidates.map(({ name, description }, index) => [
    ...[`${index + 1}`, toSafeLine(name), toSafeLine(description)],
  ])
  terminal.note(formatTable(rows, terminal))
  const read = (typed: string): readonly Candidate[] | undefined => {
    if (typed === 'all') return candidates
    const words = typed.split(/[\s,]+/).filter(Boolean)
    const found = words.map((word) => candidates.find(({ name }, index) => name === word || `${index + 1}` === word))
    return found.length > 0 && found.every((each) => each !== undefined) ? found : undefined
  }
  const words = { read, again: INSTALL_WORDS.whichAgain() }
  const canAsk = terminal.isInteractive && flags['yes'] !== true
  const chosen = canAsk ? await ask(INSTALL_WORDS.which(), words, invocation) : undefined
  if (chosen) return chosen
  throw installError('INVALID_ARGUMENT', INSTALL_WORDS.needsChoice(candidates.length, what))
}

function named(candidates: readonly Candidate[], name: string, what: string): readonly Candidate[] {
  const found = candidates.filter((each) => each.name === name || each.directory === name || each.path === name)
  if (found.length > 0) return found
  throw installError(
    'SKILL_NOT_FOUND',
    INSTALL_MESSAGES.skillNotThere(
      name,
      what,
      candidates.map((each) => each.name),
    ),
  )
}
