import { existsSync } from 'node:fs'
import {
  fetchLocked,
  fetchNpm,
  findToRestore,
  hostsToAsk,
  INSTALL_MESSAGES,
  installError,
  lockOf,
  npmHosts,
  planOf,
  readNpmLock,
  restore,
} from '../../../../skills/install/index.ts'
import type { Answer, Invocation } from '../../command.ts'
import { carryOut } from '../../installing/plan.ts'
import {
  askPolicy,
  type Installing,
  namesFlag,
  noteKept,
  openInstalling,
  overwriting,
  scopeData,
  typedAgain,
} from '../../installing/place.ts'
import { INSTALL_WORDS } from '../../installing/words.ts'
import { confirm } from '../../interactive/confirm.ts'

/** `nexus skills ci`: exactly the lock, or an error. */
export async function restoreSkills(invocation: Invocation): Promise<Answer> {
  const { terminal, flags } = invocation
  const installing = await openInstalling(invocation)
  const { scope, access, alone } = installing
  if (!existsSync(scope.lockPath)) return restoreNpm(installing, invocation)
  const lock = lockOf(scope)
  const due = await findToRestore(scope, lock)
  const overwrite = namesFlag(invocation, 'overwrite')
  const edited = due.filter(({ name, isMissing }) => !isMissing && !overwrite.has(name))
  for (const { drift } of edited)
    for (const { place, path, change } of drift) terminal.note(INSTALL_WORDS.drift(place, path, change))
  const hosts = hostsToAsk(due)
  const data = {
    ...scopeData(scope),
    hosts,
    skills: due.map(({ name, skill, isKept, drift }) => ({ name, source: skill.source, cached: isKept, drift })),
  }
  if (edited.length > 0) {
    const error = INSTALL_WORDS.notVerified(edited.map(({ name }) => name))
    return {
      data: { ...data, applied: false },
      error: { code: 'CONFLICT', ...error },
      show: () => terminal.note(`${error.message} ${error.fix}`),
    }
  }
  if (due.length === 0)
    return { data: { ...data, applied: true }, show: () => terminal.line(INSTALL_WORDS.restored(0)) }
  terminal.note(INSTALL_WORDS.hosts(hosts))
  if (flags['dry-run'] === true)
    return { data: { ...data, applied: false }, show: () => terminal.line(INSTALL_WORDS.dryRun()) }
  if (flags['yes'] !== true) {
    if (!terminal.isInteractive) throw installError('INVALID_ARGUMENT', INSTALL_WORDS.needsYes(typedAgain(invocation)))
    if (!(await confirm(INSTALL_WORDS.question(), invocation)))
      return { data: { ...data, applied: false }, exit: 1, show: () => terminal.line(INSTALL_WORDS.refused()) }
  }
  const wanted = await installing.fetching('fetching locked skills', () => fetchLocked(scope, due, access))
  await askPolicy(wanted, installing, invocation)
  const kept = await restore(scope, { due, wanted }, { alone, ...overwriting(invocation), now: new Date() })
  return {
    data: { ...data, applied: true, kept: Object.fromEntries(kept) },
    show: () => {
      noteKept(kept, invocation)
      terminal.line(INSTALL_WORDS.restored(due.length))
    },
  }
}

/** From the lock of the npm program `skills`, where ours is missing; then ours is there. */
async function restoreNpm(installing: Installing, invocation: Invocation): Promise<Answer> {
  const { scope, access } = installing
  const { terminal, flags } = invocation
  const entries = readNpmLock(scope)
  if (!entries) throw installError('FILE_NOT_FOUND', INSTALL_MESSAGES.lockMissing(scope.lockPath))
  const hosts = npmHosts(scope, entries, access)
  terminal.note(INSTALL_WORDS.hosts(hosts))
  if (flags['yes'] !== true && !terminal.isInteractive)
    throw installError('INVALID_ARGUMENT', INSTALL_WORDS.needsYes(typedAgain(invocation)))
  const wanted = await installing.fetching('fetching locked skills', () => fetchNpm(scope, entries, access))
  const planned = await planOf(scope, wanted, lockOf(scope))
  const { data, applied, exit } = await carryOut(planned, installing, invocation)
  const skills = planned.map(({ name, source }) => ({ name, source, cached: false, drift: [] }))
  return {
    data: { ...data, hosts, skills },
    exit,
    show: () => {
      if (applied) terminal.line(INSTALL_WORDS.restored(planned.length))
    },
  }
}
