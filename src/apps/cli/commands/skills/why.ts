import { type Catalog, fromSnapshot } from '../../../../skills/catalog/index.ts'
import { type Diagnosis, type Facts, finding } from '../../../../skills/diagnose/index.ts'
import { isOutdated, latestLoaded } from '../../../../skills/load/index.ts'
import { hasErrors, toSafeLine } from '../../../../kernel/index.ts'
import { installedCopies, type Local } from '../../../../local/index.ts'
import type { AgentHandle } from '../../../../runtime/index.ts'
import { type Answer, argument, type Invocation, stringFlag } from '../../command.ts'
import { findSession, openStored } from '../../stored.ts'
import { installedData, installedRows } from '../../show/installed.ts'
import { agentOf, openFor } from '../../open.ts'
import { diagnoseHere, type Seen, seenIn } from '../../show/facts.ts'
import { findingsData, printDiagnosis } from '../../show/findings.ts'
import { commandLine, installGround, missingInstallsOf } from '../../show/install.ts'

/** `nexus skills why <name>`: the one answer to why a skill is, or is not, there. Exit code 0 when it is ready and no finding is an error, 1 when not, 4 when missing. */
export async function whySkill(invocation: Invocation): Promise<Answer> {
  const name = argument(invocation, 'the name of a skill', ['csv-report'])
  await using local = await openFor(invocation, { record: 'memory' })
  const diagnosis = await explain(name, local, invocation)
  const { verdict, findings, copies } = diagnosis
  const [answer] = findings
  const installedAt = installedCopies(local.loaded)
  const isMissing = verdict === 'missing' && answer !== undefined
  return {
    data: {
      ...{ name: diagnosis.name, verdict, findings: findingsData(findings) },
      copies: copies.map((copy) => ({ ...copy, ...installedData(installedAt(copy.file)) })),
    },
    diagnostics: local.diagnostics,
    ...(isMissing
      ? { error: { ...answer, code: 'SKILL_NOT_FOUND' } }
      : { exit: verdict === 'ready' && !hasErrors(findings) ? 0 : 1 }),
    show: () => {
      printDiagnosis(diagnosis, invocation)
      for (const { file } of copies)
        for (const [label, text] of installedRows(installedAt(file)))
          if (text !== '') invocation.terminal.line(`    ${label}: ${toSafeLine(text)}`)
    },
  }
}

async function explain(name: string, local: Local, invocation: Invocation): Promise<Diagnosis> {
  const agent = agentOf(local, invocation)
  const catalog = agent.catalog()
  const canLoad = catalog.skills.length === 0 || canLoadSkills(agent)
  const known = { index: agent.index(), canLoad, ...(await knownToSession(catalog, invocation)) }
  const seen = seenIn(local, invocation)
  const diagnosis = await diagnoseHere(name, seen, invocation, known)
  return diagnosis.verdict === 'held' ? withInstalls(diagnosis, seen, invocation) : diagnosis
}

/** True when policy leaves the agent a tool that loads skills. */
export function canLoadSkills(agent: AgentHandle): boolean {
  return agent.definitions().some(({ name }) => name === 'load_skill' || name === 'Skill')
}

/** After what is missing: what the skill proposes to install, as the exact command. Nothing is run. */
function withInstalls(diagnosis: Diagnosis, seen: Seen, invocation: Invocation): Diagnosis {
  const files = new Set(diagnosis.copies.filter(({ verdict }) => verdict === 'held').map(({ file }) => file))
  const ground = installGround(seen, invocation)
  const found = seen.catalog.held
    .filter(({ skill }) => files.has(skill.file))
    .flatMap(({ skill }) => missingInstallsOf(skill, ground).map((proposal) => ({ ...proposal, path: skill.file })))
    .filter(({ isChosen }) => isChosen)
    .map(({ path, label, kind, ...proposal }) => {
      const message = `The skill proposes to install what is missing: ${label ?? kind}. Nexus does not run it.`
      return finding('install', 'info', { path, message, fix: commandLine(proposal) })
    })
  return { ...diagnosis, findings: [...diagnosis.findings, ...found] }
}

/** The offer to the session of `--session` when its last turn began, and the skills that it loaded. */
async function knownToSession(catalog: Catalog, invocation: Invocation): Promise<Pick<Facts, 'snapshot' | 'loaded'>> {
  const id = stringFlag(invocation, 'session')
  if (id === undefined) return {}
  await using opened = await openStored(invocation)
  const { snapshot, loaded: found } = await findSession(opened.store, id)
  const loaded = new Map<string, 'same' | 'changed'>()
  for (const { address, treeDigest } of latestLoaded(found)) {
    const skill = catalog.skills.find((each) => catalog.addressOf(each) === address)
    if (skill === undefined) continue
    loaded.set(address, (await isOutdated(skill, treeDigest, invocation.signal)) ? 'changed' : 'same')
  }
  return { snapshot: snapshot && fromSnapshot(snapshot), loaded }
}
