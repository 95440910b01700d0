/** `nexus policy check`, `diff` and `shadow`: what is wrong with policies, and where two of them decide otherwise. Nothing runs. */
import { many } from '../failure.ts'
import { type JsonObject, type LedgerEntry, toSafeLine } from '../../../kernel/index.ts'
import type { Store } from '../../../store/index.ts'
import { type Answer, argumentMissing, type Invocation, stringFlag } from '../command.ts'
import { openAgent, unknownAgent } from './policy.ts'
import { loadHere, openFor, printDiagnostics } from '../open.ts'
import { openStored } from '../stored.ts'
import { formatTable } from '../show/columns.ts'

/** `nexus policy check`: exit code 1 when a policy has an error, such as a denial that a typo makes void. */
export async function checkPolicies(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const { readPolicies } = await import('../../../local/index.ts')
  const loaded = await loadHere(invocation)
  const { policies, diagnostics: found } = await readPolicies(loaded)
  const diagnostics = [...loaded.diagnostics.filter(({ severity }) => severity === 'error'), ...found]
  const agents = policies.map(({ agent }) => agent.id)
  return {
    data: { agents },
    diagnostics,
    show: () => {
      printDiagnostics(diagnostics, terminal)
      terminal.line(`Checked the policy of ${many(agents.length, 'agent')}: ${many(diagnostics.length, 'finding')}`)
    },
  }
}

interface Verdict {
  readonly decision: string
  readonly rule: string
  readonly limits: JsonObject
}

/** `nexus policy diff`: the tools about which two agents, or one agent with other settings, are decided differently. */
export async function diffPolicies(invocation: Invocation): Promise<Answer> {
  const { terminal, positionals, flags } = invocation
  const [agent, other = agent] = positionals
  const against = stringFlag(invocation, 'against')
  if (agent === undefined || other === undefined || (agent === other && against === undefined))
    throw argumentMissing('policy diff', 'two agents', ['main', 'reviewer'])
  const before = await verdictsOf(invocation, agent)
  const over = against === undefined ? invocation : { ...invocation, flags: { ...flags, config: against } }
  const after = await verdictsOf(over, other)
  const changes = [...new Set([...before.keys(), ...after.keys()])].flatMap((tool) => {
    const [was, is] = [before.get(tool) ?? ABSENT, after.get(tool) ?? ABSENT]
    const isSame = was.decision === is.decision && JSON.stringify(was.limits) === JSON.stringify(is.limits)
    return isSame ? [] : [{ tool, before: was, after: is }]
  })
  const rows = changes.map(({ tool, before: was, after: is }) => [
    toSafeLine(tool),
    `${was.decision} (${toSafeLine(was.rule)})`,
    is.decision === was.decision ? 'other limits' : `${is.decision} (${toSafeLine(is.rule)})`,
  ])
  return {
    data: { changes },
    show: () => {
      if (rows.length > 0) terminal.line(formatTable([['tool', 'before', 'after'], ...rows], terminal))
      terminal.line(`${many(changes.length, 'tool')} decided differently`)
    },
  }
}

const ABSENT: Verdict = { decision: 'deny', rule: 'unknown tool', limits: {} }

/** The decision about a call of the model of each tool that the agent has, without arguments. */
async function verdictsOf(invocation: Invocation, id: string): Promise<ReadonlyMap<string, Verdict>> {
  await using local = await openFor(invocation, { record: 'memory' })
  const agent = openAgent(local, id)
  return new Map(
    agent.registry.names.map((tool) => {
      const { type, rule, limits } = agent.explain({ tool, arguments: {}, origin: 'model' }).decision
      return [tool, { decision: type, rule, limits: { ...limits } as JsonObject }]
    }),
  )
}

/** Calls about which an agent and its shadow differ in the same way. */
interface Shadowed {
  readonly agent: string
  readonly shadow: string
  readonly tool: string
  readonly own: string
  readonly decision: string
  readonly rule: string
  readonly count: number
}

/** `nexus policy shadow`: the differences that the calls of the workspace recorded, the most frequent first. */
export async function listShadowed(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const [agent] = invocation.positionals
  await using opened = await openStored(invocation)
  const { store, scope, config } = opened
  const all = await shadowedIn(store, scope)
  // Calls of an agent that was removed since are still recorded.
  const ids = [...new Set([...config.agents.map(({ id }) => id), ...all.map((each) => each.agent)])]
  if (agent !== undefined && !ids.includes(agent)) throw unknownAgent(agent, ids)
  const differences = all.filter((each) => agent === undefined || each.agent === agent)
  const show = (): void => {
    if (differences.length === 0) {
      terminal.line(
        `No shadow would have decided a recorded call of ${agent === undefined ? 'this workspace' : toSafeLine(agent)} differently.`,
      )
      if (config.agents.every(({ shadow }) => shadow === undefined))
        terminal.note('No agent has a shadow. Add shadow: ID to an agent in nexus.yaml, with the id of another agent.')
      return
    }
    const rows = differences.map(({ agent: id, tool, own, shadow, decision, rule, count }) => {
      const said = decision === own ? 'other limits' : decision
      return [...[id, tool, own, `${said} (${rule})`, shadow].map(toSafeLine), String(count)]
    })
    const titles = ['agent', 'tool', 'decision', 'decision of the shadow', 'shadow', 'calls']
    terminal.line(formatTable([titles, ...rows], terminal))
  }
  return { data: { differences }, show }
}

/** Newest differences that are counted, so that a long history is never in memory as a whole. */
const MAX_COUNTED = 10_000

/** The differences of one workspace: in its sessions, and in calls outside of them (`nexus mcp`, `nexus skills run`). */
async function shadowedIn({ ledger }: Store, scope: string): Promise<readonly Shadowed[]> {
  const found = new Map<string, Shadowed>()
  for (const entry of await ledger.list({ isShadowed: true, limit: MAX_COUNTED })) {
    const difference = shadowOf(entry, scope)
    if (difference === undefined) continue
    const key = JSON.stringify(difference)
    found.set(key, { ...difference, count: (found.get(key)?.count ?? 0) + 1 })
  }
  return [...found.values()].toSorted((a, b) => b.count - a.count)
}

function shadowOf({ call, decision: { shadow } }: LedgerEntry, scope: string): Omit<Shadowed, 'count'> | undefined {
  if (shadow?.scope !== scope) return undefined
  const { agent, type, rule, own } = shadow
  return { agent: call.agentId, shadow: agent, tool: call.tool, own, decision: type, rule }
}
