/** connecting: a person is asked about a host that no setting allows, while the command waits. Each question is a call of its own. */
import {
  type Call,
  type Connecting,
  type Decision,
  failed,
  type HostPort,
  type JsonObject,
  newId,
  type SkillRevision,
  succeeded,
  toSafeLine,
} from '../kernel/index.ts'
import type { CheckedCall } from './check-call.ts'
import { CONNECTING } from './messages.ts'
import type { ProjectState } from './project-state.ts'
import type { CallOptions } from './types.ts'

/** Its name in the ledger and in remembered answers. No agent has a tool of this name. */
export const CONNECT = 'network.connect'

/** How long a connection is held. */
const HELD_MS = 60_000

export function createConnecting(
  { agent, call }: CheckedCall,
  project: ProjectState,
  options: CallOptions,
): Connecting {
  const { broker, parts } = project
  const { scope = '' } = parts
  const about = (skill: SkillRevision | undefined) => ({
    agentId: agent.key,
    tool: CONNECT,
    scope,
    skillDigest: skill?.treeDigest,
  })
  return {
    canAsk: broker.canAsk || options.approve !== undefined,
    async remembered(skill) {
      const known = await broker.rememberedTexts(about(skill))
      return [...known, ...(await allowedForSession(agent, project, skill))]
    },
    async ask(to, skill, signal) {
      return askAbout({ to, skill, signal }, { agent, call, project, options, scope })
    },
  }
}

/** The session has its answers in its ledger, so that they count whichever process goes on with it, and go with it. */
async function allowedForSession(
  { key, sessionId }: CheckedCall['agent'],
  { store }: ProjectState,
  skill: SkillRevision | undefined,
): Promise<readonly string[]> {
  if (sessionId === undefined) return []
  const hosts: string[] = []
  for (const answered of await store.approvals.list({ sessionId, states: ['allowed'] })) {
    const { tool, agentId, skillDigest, callId, command } = answered
    if (tool !== CONNECT || agentId !== key || skillDigest !== skill?.treeDigest) continue
    const entry = await store.ledger.get(callId)
    if (entry?.outcome?.data?.['remembered'] === 'session') hosts.push(command)
  }
  return hosts
}

interface Asked {
  readonly to: HostPort
  readonly skill: SkillRevision | undefined
  readonly signal: AbortSignal
}

interface Asking {
  readonly agent: CheckedCall['agent']
  /** The call of the command. */
  readonly call: Call
  readonly project: ProjectState
  readonly options: CallOptions
  readonly scope: string
}

async function askAbout({ to, skill, signal }: Asked, asking: Asking): Promise<boolean> {
  const { agent, project, options, scope } = asking
  const { store, broker, clock } = project
  const call = callOf(to, asking, newId(clock.now()))
  const question = CONNECTING.question(to, skill?.name)
  const decision: Decision = { type: 'ask', question, rule: CONNECT, chain: [], limits: {} }
  const approval = {
    id: newId(),
    command: `${to.host}:${to.port}`,
    scope,
    canRemember: true,
    ttlMs: HELD_MS,
    waitingTtlMs: HELD_MS,
  }
  const lease = await agent.lease()
  await store.ledger.record({ call, decision, lease, approval, skill })
  let isForSession = false
  const approve = options.approve ?? project.parts.approve
  options.onAsked?.({ approvalId: approval.id, isOpen: true })
  const reply = await broker.ask(approval.id, {
    call: { ...call, agentPath: toSafeLine(agent.path) },
    question,
    signal,
    approve:
      approve &&
      (async (...asked) => {
        const said = await approve(...asked)
        if (typeof said !== 'object' || said.remember !== 'session') return said
        isForSession = said.isAllowed
        return { ...said, remember: undefined }
      }),
  })
  options.onAsked?.({ approvalId: approval.id, isOpen: false })
  if (reply.type === 'allowed') {
    const kept: JsonObject = isForSession ? { remembered: 'session' } : {}
    const allowed: Decision = { ...decision, type: 'allow', rule: CONNECTING.approvedBy(reply.by) }
    await store.ledger.start(call.id, allowed, lease)
    await store.ledger.close(call.id, succeeded(CONNECTING.allowed(to), { ...to, ...kept }), { lease })
    return true
  }
  const denied: Decision = { ...decision, type: 'deny', reason: reply.reason }
  const outcome = failed('PERMISSION_DENIED', CONNECTING.refused(to), { error: 'CALL_DENIED' })
  await store.ledger.close(call.id, outcome, { lease, decision: denied })
  return false
}

/** It belongs to the session and to no turn: when this process ends, nobody goes on with it. */
function callOf({ host, port }: HostPort, { agent, call, project }: Asking, id: string): Call {
  const { origin } = call
  const who = { id, projectId: project.store.projectId, agentId: agent.key, sessionId: agent.sessionId }
  return { ...who, origin, tool: CONNECT, arguments: { host, port, command_call: call.id } }
}
