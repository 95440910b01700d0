/** The decision about a call, and the question to a person: decide -> record -> ask -> decide again -> record. */
import { basename } from 'node:path'
import { shownCommand } from '../authorize/index.ts'
import { type Decision, DEFAULTS, newId, toSafeLine } from '../kernel/index.ts'
import type { LoadedInSession } from '../skills/load/index.ts'
import type { NewApproval } from '../store/index.ts'
import { heldChange, namesDirectory } from '../tools/index.ts'
import { type CheckedCall, isOtherSkill } from './check-call.ts'
import { ASKED } from './messages.ts'
import type { ProjectState } from './project-state.ts'
import type { CallOptions } from './types.ts'

/** The decision, and the question to a person when it is `ask`. A remembered answer allows; where no person can be asked, it is a denial. */
export async function decideCall(
  checked: CheckedCall,
  { broker, stacks, parts }: ProjectState,
  options: Pick<CallOptions, 'approve' | 'whyNotAsked'> = {},
): Promise<{
  readonly decision: Decision
  readonly approval?: NewApproval & { readonly id: string }
  readonly isRemembered: boolean
}> {
  const { agent, call, shown, skill, row } = checked
  const { scope = '' } = parts
  const decision = await withHeld(checked, agent.decide(shown, skill))
  if (decision.type !== 'ask') return { decision, isRemembered: false }
  const command = shownCommand(shown)
  const asked = { agentId: agent.key, tool: shown.tool, scope, skillDigest: row?.treeDigest }
  // A tool that wants a confirmation asks each time, and a command with a hidden secret may be another one.
  const canRemember =
    !decision.limits.confirmation &&
    JSON.stringify(call.arguments) === JSON.stringify(shown.arguments) &&
    !namesOtherSkill(checked, command.command, stacks.loadedIn(call))
  if (canRemember && (await broker.isRemembered(asked, command)))
    return { decision: allowed(decision, ASKED.remembered(decision.rule)), isRemembered: true }
  if (!canAsk(broker, options)) {
    const asking = { tool: shown.tool, chain: decision.chain, canRemember, why: options.whyNotAsked }
    const isAboutHeld = whyHeld(decision) !== undefined
    const ways = ASKED.noTerminal(decision.question, { ...asking, isAboutHeld, isConfined: isConfined(parts) })
    return { decision: denied(decision, ways), isRemembered: false }
  }
  const prefix = canRemember ? command.prefix : undefined
  const asks = { id: newId(), ...command, prefix, scope }
  const approval = { ...asks, canRemember, ...timesOf(parts) }
  return { decision, approval, isRemembered: false }
}

/** The layer of the question about a change that would be held. */
const CHANGES = 'changes'

/** A person is asked about a change that would be held if a command made it, whatever the rules say. */
async function withHeld({ agent, call }: CheckedCall, decision: Decision): Promise<Decision> {
  const { registry } = agent
  if (decision.type === 'deny' || registry.ownerOf(call.tool) !== 'nexus') return decision
  const { chain, limits, shadow } = decision
  const held = await heldChange(registry.services, { ...call, limits })
  if (!held) return decision
  const place = toSafeLine(held.place)
  // It is asked each time, and no skill answers it.
  const ruling = { layer: CHANGES, type: 'ask', rule: `hold ${place}`, reason: ASKED.held(place, held.reason) } as const
  const question = ASKED.mayChange(toSafeLine(call.tool), ruling.reason)
  const asked = {
    rule: ruling.rule,
    chain: [...chain, ruling],
    limits: { ...limits, confirmation: true as const },
    shadow,
  }
  return { type: 'ask', question, ...asked }
}

/** Why a command's change would be held, where a decision is about that. */
export function whyHeld({ chain }: Decision): string | undefined {
  return chain.find(({ layer }) => layer === CHANGES)?.reason
}

/** How long a question may be answered: while this process waits for it, and after it ended. */
function timesOf({ approvals }: ProjectState['parts']): Required<Pick<NewApproval, 'ttlMs' | 'waitingTtlMs'>> {
  const { approvalsExpiresMs, approvalsWaitingExpiresMs } = DEFAULTS
  return {
    ttlMs: approvals?.expiresMs ?? approvalsExpiresMs,
    waitingTtlMs: approvals?.waitingExpiresMs ?? approvalsWaitingExpiresMs,
  }
}

function canAsk(broker: ProjectState['broker'], { approve }: Pick<CallOptions, 'approve'>): boolean {
  return broker.canAsk || approve !== undefined
}

function isConfined({ sandbox }: ProjectState['parts']): boolean {
  return sandbox?.kind !== 'none'
}

/** Whether the text names files of a skill that the call does not name: no revision of it would be recorded with the answer. */
function namesOtherSkill(
  { agent, call, skill, row }: CheckedCall,
  text: string,
  loaded: readonly LoadedInSession[],
): boolean {
  if (agent.registry.get(call.tool)?.options?.skillArgument === undefined) return false
  // Copies of the skill that the call names have its directory name too.
  const own = skill && basename(skill.directory)
  const isNamed = (name: string): boolean => name !== own && namesFilesIn(text, name)
  return (
    loaded.some(({ address, baseDir }) => address !== row?.name && namesDirectory(text, baseDir)) ||
    agent.calledCatalog().skills.some(({ directory }) => isNamed(basename(directory)))
  )
}

/** Words that a command changes its directory with: behind one, a bare name can be a directory too. */
const CHANGES_DIRECTORY = /(?<![\w-])(?:cd|pushd|chdir|-C|--(?:cwd|chdir|directory|prefix))(?![\w-])/

/** Whether the text names a directory of that name, or a file in it, as a part of a path or as where to go. */
function namesFilesIn(text: string, name: string): boolean {
  if ([`${name}/`, `/${name}`, `"${name}"`].some((part) => text.includes(part))) return true
  return CHANGES_DIRECTORY.test(text) && text.split(/[^\p{L}\p{N}._-]+/u).includes(name)
}

/** The decision after a person was asked, if one was: decided again, so that what changed meanwhile counts. */
export async function decideAfterAsking(
  checked: CheckedCall,
  { broker, parts }: ProjectState,
  asked: {
    readonly first: Decision
    readonly approval: { readonly id: string } | undefined
    readonly options: CallOptions & { readonly signal: AbortSignal }
  },
): Promise<Decision> {
  const { agent, shown, skill } = checked
  const { first, approval, options } = asked
  if (!approval || first.type !== 'ask') return first
  const { signal, onAsked, approve } = options
  onAsked?.({ approvalId: approval.id, isOpen: true })
  const why = whyHeld(first)
  const agentPath = toSafeLine(agent.path)
  const isMade = agent.path !== agent.id
  const question = isMade ? ASKED.ofAgent(agentPath, first.question) : first.question
  const reply = await broker.ask(approval.id, { call: { ...shown, agentPath }, question, why, signal, approve })
  onAsked?.({ approvalId: approval.id, isOpen: false })
  const decision = agent.decide(shown, skill)
  if (decision.type === 'deny') return decision
  // A no stays a no, whatever the rules say by now; so does a question without an answer.
  const isTyped = shown.origin === 'cli'
  if (reply.type === 'denied') return denied(decision, { reason: reply.reason, fix: ASKED.notAllowed(isTyped) })
  if (reply.type === 'unanswered')
    return denied(decision, {
      reason: reply.reason,
      fix: ASKED.answerIt(isTyped, { tool: shown.tool, chain: first.chain, isConfined: isConfined(parts) }),
    })
  // A skill that cannot be read again is another one: it has no revision.
  if (await isOtherSkill(checked, signal)) return denied(decision, ASKED.skillChanged())
  if (why !== undefined) return allowed(decision, ASKED.approvedBy(first.rule, reply.by))
  return decision.type === 'ask' ? allowed(decision, ASKED.approvedBy(decision.rule, reply.by)) : decision
}

function allowed({ chain, limits, shadow }: Decision, rule: string): Decision {
  return { type: 'allow', rule, chain, limits, shadow }
}

function denied(
  { rule, chain, limits, shadow }: Decision,
  { reason, fix }: { readonly reason: string; readonly fix: string | undefined },
): Decision {
  return { type: 'deny', rule, chain, limits, reason, fix, shadow }
}
