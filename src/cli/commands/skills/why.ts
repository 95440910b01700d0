import { type Explanation, type Finding, fromSnapshot } from '../../../catalog/index.ts'
import { CODES, DEFAULT_PROJECT, NexusError, toSafeLine } from '../../../kernel/index.ts'
import type { Local } from '../../../local/index.ts'
import { stateFile } from '../../../local/index.ts'
import { openSqliteStore } from '../../../store/index.ts'
import { type Invocation, stringFlag } from '../../command.ts'
import { envelope } from '../../envelope.ts'
import { findSession } from '../../sessions/find-session.ts'
import { agentFlag, openFor } from '../../open.ts'
import { explainHere, heldAmong, printExplanation } from '../../show/explanation.ts'
import { commandLine, installGround, missingInstallsOf } from '../../show/install.ts'

/** `nexus skills why <name>`: the one answer to why a skill is, or is not, there. Exit code 0 when it is offered, 1 when not, 4 when missing. */
export async function whySkill(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const [name] = invocation.positionals
  if (name === undefined || name.trim() === '') {
    throw new NexusError('INVALID_ARGUMENT', 'nexus skills why: the name of the skill is missing.', {
      fix: 'nexus skills why csv-report',
    })
  }
  const local = await openFor(invocation, { record: 'memory' })
  try {
    const explanation = await explain(name, local, invocation)
    if (invocation.flags['json'] === true) {
      const { state, findings } = explanation
      const data = { name: explanation.name, state, findings: findings.map((found) => ({ ...found })) }
      const { text, fix } = findings[0] ?? { text: 'There is no such skill.', fix: 'nexus skills list --all' }
      const error = { code: 'SKILL_NOT_FOUND', message: text, fix }
      const about = { diagnostics: local.diagnostics, exit: exitOf(explanation), ...(state === 'missing' && { error }) }
      terminal.json(envelope('skills why', data, about))
    } else printExplanation(explanation, invocation)
    return exitOf(explanation)
  } finally {
    await local.close()
  }
}

function exitOf({ state }: Explanation): number {
  if (state === 'missing') return CODES.SKILL_NOT_FOUND.exit
  return state === 'offered' ? 0 : 1
}

async function explain(name: string, local: Local, invocation: Invocation): Promise<Explanation> {
  const { runtime, loaded, sources } = local
  const agentId = agentFlag(invocation)
  const catalog = runtime.catalog(agentId)
  const snapshot = await pinned(invocation)
  const canLoad = runtime.definitions(agentId).some((tool) => tool.name === 'load_skill' || tool.name === 'Skill')
  const told = {
    index: runtime.index(agentId),
    ...(snapshot && { snapshot }),
    ...(!canLoad && catalog.skills.length > 0 && { loadTool: false as const }),
  }
  const seen = { loaded, sources, facts: runtime.facts, catalog }
  const explanation = await explainHere(name, seen, { invocation, told })
  return explanation.state === 'held' ? withInstalls(explanation, local, invocation) : explanation
}

/** After what is missing: what the skill proposes to install, as the exact command. Nothing is run. */
function withInstalls(explanation: Explanation, local: Local, invocation: Invocation): Explanation {
  const held = heldAmong(explanation, local.runtime.catalog(agentFlag(invocation)))
  const ground = installGround({ facts: local.runtime.facts, loaded: local.loaded }, invocation)
  const proposed = held.flatMap((skill) =>
    missingInstallsOf(skill, ground)
      .filter(({ isChosen }) => isChosen)
      .map((proposal): Finding => {
        const text = toSafeLine(
          `The skill proposes to install what is missing: ${proposal.label ?? proposal.kind}. Nexus does not run it.`,
        )
        return {
          code: 'install',
          severity: 'note',
          text,
          file: toSafeLine(skill.file),
          fix: toSafeLine(commandLine(proposal)),
        }
      }),
  )
  return { ...explanation, findings: [...explanation.findings, ...proposed] }
}

/** What the session named by `--session` was told when its last turn began. */
async function pinned(invocation: Invocation): Promise<ReturnType<typeof fromSnapshot>> {
  const id = stringFlag(invocation, 'session')
  if (id === undefined) return undefined
  const store = await openSqliteStore({ path: stateFile(invocation.environment), projectId: DEFAULT_PROJECT })
  try {
    const session = await findSession(store, id)
    return session.snapshot && fromSnapshot(session.snapshot)
  } finally {
    await store.close()
  }
}
