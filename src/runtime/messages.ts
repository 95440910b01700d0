/** The words of every refusal of a call and of every error of a runtime. Names from outside are already safe to print. */
import { commandFix, type Decision, failed, type HostPort, toSafeLine } from '../kernel/index.ts'
import type { Approval } from '../store/index.ts'

/** Why a call does not run; the model reads it. */
export const REFUSALS = {
  noTool: (tool: string) => ({ message: `There is no tool '${tool}'.` }),
  notWaitedFor: (tool: string) => ({
    message: `The end of the call of '${tool}' was not waited for; it goes on where it was made first.`,
  }),
  cancelledBefore: (tool: string) => ({ message: `The call of '${tool}' was cancelled before it began.` }),
  anotherCall: () =>
    failed('INTERRUPTED', 'not run: it is another call than the one that was asked about. Send it again.'),
  /** `rule`: the line of the policy that decided, such as `deny run_command`. */
  denied: ({ tool, rule, reason, fix = fixOfRule(rule) }: Denied) => {
    return { message: `The call of '${tool}' was refused (${rule}): ${reason}`, fix }
  },
}

interface Denied {
  readonly tool: string
  readonly rule: string
  readonly reason: string
  readonly fix?: string | undefined
}

/** The change of a rule of the policy that only the user can make. */
function fixOfRule(rule: string): string | undefined {
  const list = rule.split(' ', 1)[0]
  const entry = rule.slice(rule.indexOf(' ') + 1)
  if (list === 'deny') return `Only the user can allow it: remove ${entry} from tools.deny of the agent in nexus.yaml.`
  return undefined
}

/** Changes after which no rule asks, the narrowest first; empty where a person must answer each time. */
function noQuestion({ tool, chain, isConfined }: Asking): string {
  const asking = chain.filter(({ type }) => type === 'ask')
  const changes = asking.map(({ layer, rule, isPresetOwn }) => {
    const entry = layer === 'policy' ? /^ask (.+)$/.exec(rule)?.[1] : undefined
    if (entry !== undefined) return `remove ${entry} from tools.ask`
    return isPresetOwn
      ? `write permissions: { toolOverrides: { ${tool}: { requiresConfirmation: false } } }`
      : undefined
  })
  if (changes.includes(undefined)) return ''
  // A preset of the user may have fewer paths than `sandboxed`, and nothing confines a command without a sandbox.
  const isTrusted = isConfined && asking.every(({ rule, isPresetOwn }) => isPresetOwn && rule === 'preset trusted')
  const narrower = isTrusted ? ' Or write preset: sandboxed, which asks nothing and has no network.' : ''
  return ` To be asked no more, ${changes.join(' and ')} for the agent in nexus.yaml.${narrower}`
}

interface Asking {
  readonly tool: string
  readonly chain: Decision['chain']
  /** Whether a sandbox keeps commands to the limits of the agent. */
  readonly isConfined: boolean
}

interface NotAsked extends Asking {
  readonly isAboutHeld: boolean
  readonly canRemember: boolean
  readonly why: string | undefined
}

const BY_COMMAND =
  ' Or make the change with run_command: Nexus holds it, and the user can take it with nexus changes keep.'

const REMEMBERED = ' With --wait the answer can be kept: nexus approvals answer ID --allow --remember exact.'

/** Why a call that a person is asked about is denied, and how an answer is named in a rule. */
export const ASKED = {
  /** `why`: of a front that has its own way to ask, and could not. */
  noTerminal: (question: string, asked: NotAsked) => {
    const { canRemember, isAboutHeld, why } = asked
    const inTerminal = isAboutHeld ? ': in a terminal, or with --wait' : ': in a terminal, with --yes, or with --wait'
    const ways = why === undefined ? inTerminal : ''
    const remembered = canRemember && why === undefined ? REMEMBERED : ''
    return {
      reason: `${question} ${why ?? 'There is no terminal to ask in.'}`,
      fix: `Only the user can allow it${ways}.${isAboutHeld ? BY_COMMAND : ''}${remembered}${noQuestion(asked)}`,
    }
  },
  /** `reason` completes "held, because …". */
  held: (place: string, reason: string) => `If a command changed ${place}, Nexus would hold the change: ${reason}.`,
  mayChange: (tool: string, why: string) => `May '${tool}' make the change in the workspace? ${why}`,
  skillChanged: () => ({
    reason: 'The skill changed while a person was asked.',
    fix: 'Load the skill again, then repeat the call: the user is asked again.',
  }),
  /** For an agent that another one made. */
  ofAgent: (path: string, question: string) => `${path} asks: ${question}`,
  saidNo: () => 'A person said no.',
  late: (question: string) => `${question} No answer came in time.`,
  closed: (question: string) => `${question} The question was closed without an answer.`,
  /** For a question that nobody answered. */
  answerIt: (isTyped: boolean, asking: Asking) =>
    `${isTyped ? 'Type the command again and answer y, or add --yes.' : 'Only the user can allow it: repeat the call when the user can answer.'}${noQuestion(asking)}`,
  /** For a no. */
  notAllowed: (isTyped: boolean) =>
    isTyped ? 'To allow it, type the command again and answer y.' : 'The call runs only if the user asks for it again.',
  cancelled: (question: string) => `${question} There was no answer (cancelled while a person was asked).`,
  callbackFailed: (question: string, why: string) => `${question} The question failed: ${why}.`,
  remembered: (rule: string) => `${rule}, remembered`,
  /** A person has a name; any other credential is named with its kind. */
  answerer: ({ answeredBy: by, answeredKind: kind }: Approval) =>
    kind === undefined || kind === 'person' ? (by ?? 'a person') : `${by} (${kind})`,
  approvedBy: (rule: string, by: string) => `${rule}, approved by ${by}`,
}

/** About the hosts of a command. */
export const CONNECTING = {
  question: ({ host, port }: HostPort, skill: string | undefined) =>
    `May a command${skill === undefined ? '' : ` of the skill ${toSafeLine(skill)}`} reach ${host} port ${port}?`,
  approvedBy: (by: string) => `network.connect, approved by ${by}`,
  allowed: ({ host, port }: HostPort) => `${host} port ${port} was allowed.`,
  refused: ({ host, port }: HostPort) => `${host} port ${port} was not allowed.`,
}

/** Errors for callers of the runtime. */
export const ERRORS = {
  mayNotAnswer: ({ by, id }: { readonly by: string; readonly id: string }) => ({
    message: `'${by}' may not answer the question ${id}.`,
    ...commandFix('Let a person answer it:', 'approvals', 'answer', id),
  }),
  leaseTaken: () => ({ message: 'The lease of this process was taken by another one.' }),
  noTarget: () => ({
    message: 'A runtime needs a target to gate against.',
    fix: 'Pass `sandbox`, or `facts` that say what is true where commands would run.',
  }),
  unknownAgent: ({ id, known }: { readonly id: string | undefined; readonly known: readonly string[] }) => ({
    message: `There is no agent '${id}'.`,
    fix: `Known agents: ${known.join(', ')}. Add it under agents: in nexus.yaml.`,
  }),
  badAgentId: (id: string) => ({
    message: `'${id}' cannot be the id of an agent.`,
    fix: 'Use 1 to 64 letters, digits, dots, underscores and hyphens, such as worker-1.',
  }),
  agentEnded: (path: string) => ({
    message: `The agent ${path} has ended.`,
    fix: 'Make a new one: an ended agent takes no message and makes no child.',
  }),
  unreadableRules: (path: string) => ({
    message: `The saved permissions of the agent ${path} cannot be read, so it may do nothing.`,
    fix: 'End the agent, and make it anew.',
  }),
  cancelled: () => ({ message: 'The caller cancelled.' }),
  refreshFailed: () => ({ message: 'The skills could not be found again. Those known before stay.' }),
}

/** Warnings of the process; the call goes on. */
export const WARNINGS = {
  eventNotStored: (error: unknown) => `An event was not stored: ${String(error)}`,
}
