/** The words of every error about agents of the pool. Models read them too. Names from outside are made safe here. */
import { commandFix, type ErrorCode, NexusError, type ProposedCommand, toSafeLine } from '../../kernel/index.ts'

export interface Words {
  readonly message: string
  readonly fix?: string
  readonly proposal?: ProposedCommand
}

const MAX_NAME_CHARS = 80

const named = (text: string): string => {
  const line = toSafeLine(text)
  return line.length > MAX_NAME_CHARS ? `${line.slice(0, MAX_NAME_CHARS)}…` : line
}

/** Source of the first sentences: contracts §1.3, §1.6, §1.7. */
export const POOL = {
  notFound: (id: string): Words => ({
    message: `Agent not found: ${named(id)}`,
    ...commandFix('List the living ones:', 'agent', 'list'),
  }),
  noParent: (id: string): Words => ({
    message: `Parent agent not found: ${named(id)}`,
    ...commandFix('List the living ones:', 'agent', 'list'),
  }),
  parentWithoutRights: (id: string): Words => ({
    message: `Parent agent '${named(id)}' has no permissions configured`,
    fix: 'Correct its preset in nexus.yaml: nexus config check names the fault.',
  }),
  unknownPreset: (preset: string, known: readonly string[]): Words => ({
    message: `Invalid preset: ${named(preset)}. Valid: [${known.join(', ')}]`,
    fix: 'Name one of these, or add yours under permissions.presets in nexus.yaml.',
  }),
  presetBeyond: (preset: string, parent: string): Words => ({
    message: `Requested preset '${named(preset)}' exceeds parent ceiling`,
    fix: `Name a lower preset. Only the user can raise the ceiling of ${named(parent)}: agents[].ceiling in nexus.yaml.`,
  }),
  deltaBeyond: (parent: string, part: { readonly part: string; readonly entry: string }): Words => ({
    message: `Permission delta would exceed parent ceiling: ${part.part} ${named(part.entry)}`,
    fix: `Leave it out. Only the user can raise the ceiling of ${named(parent)}: agents[].ceiling in nexus.yaml.`,
  }),
  skillBeyond: (skill: string, parent: string): Words => ({
    message: `The parent ${named(parent)} does not see the skill ${named(skill)}, so its child cannot.`,
    fix: 'Leave it out of skills.',
  }),
  badPath: (path: string): Words => ({
    message: `'${named(path)}' cannot be a directory of an agent.`,
    fix: 'Write an absolute path, or one relative to the workspace, without ~user, scheme or control characters.',
  }),
  noModels: (model: string): Words => ({
    message: `The model '${named(model)}' cannot be used: this pool has one model for all agents.`,
    fix: 'Leave the model out, or give createPool an openModel.',
  }),
  noProfile: (path: string, profile: string): Words => ({
    message: `The agent ${named(path)} was made from the configured agent '${named(profile)}', which the configuration does not have now, so it may do nothing.`,
    fix: `Add it again under agents: in nexus.yaml, or end the agent.`,
  }),
  unreadable: (path: string): Words => ({
    message: `The saved permissions of the agent ${named(path)} cannot be read, so it may do nothing.`,
    fix: 'End the agent, and make it anew.',
  }),
  badId: (id: string): Words => ({
    message: `Invalid agent_id: ${named(id)}`,
    fix: 'Use 1 to 63 letters, digits, dots, underscores and hyphens, such as worker-1; a leading dot makes it temporary.',
  }),
  toolBeyond: (preset: string, fix: string | undefined): Words => ({
    message: `Cannot create agent with '${named(preset)}' preset: exceeds permission ceiling`,
    fix,
  }),
  noId: (): Words => ({ message: 'No agent_id provided', fix: 'Give agent_id the id of an agent.' }),
  otherPort: (port: number): Words => ({
    message: `This process does not reach the server on port ${port}.`,
    fix: 'Leave port out: the agents of this process need none.',
  }),
  onePath: (): Words => ({
    message: 'Another server confines an agent to one directory.',
    fix: 'Give one directory in allowed_paths, or leave port out.',
  }),
  noServer: (): Words => ({
    message: 'No server runs these agents, so there is none to shut down.',
    fix: 'End the agents with nexus_destroy.',
  }),
  closed: (): Words => ({ message: 'The pool is closed: it takes no more messages.' }),
  clippedPaths: (asked: string, got: string): string => `Paths: the preset has ${asked}, the parent leaves ${got}.`,
  clippedTools: (tools: readonly string[]): string => `Tools that the parent's ceiling denies: ${tools.join(', ')}.`,
  clippedFlag: (what: string): string => `The parent has no ${what}.`,
}

const LIMITS = {
  maxTokens: 'tokens',
  maxTurns: 'turns',
  maxTimeMs: 'ms in turns',
  maxChildren: 'agents below it',
  maxCost: 'money',
  maxDepth: 'levels below it',
} as const

type Limit = keyof typeof LIMITS

const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 6 })

const raise = (limit: Limit): string =>
  `Only the user can raise it: agents[].budget.${limit} in nexus.yaml for a configured agent, else a new agent with a larger budget.`

/** A budget that is used up, for people and for the model. */
export const BUDGETS = {
  reached: (
    limit: Limit,
    about: {
      readonly holder: string
      readonly budget: { readonly [name in Limit]?: number }
      readonly spent: { readonly [name in Limit]?: number }
    },
  ): { readonly message: string; readonly fix: string; readonly forModel: string } => {
    const used = `${number(about.spent[limit] ?? 0)} of ${number(about.budget[limit] ?? 0)} ${LIMITS[limit]}`
    const message = `The budget of ${named(about.holder)} is used up: ${used}.`
    return { message, fix: raise(limit), forModel: `Stopped: ${message} ${raise(limit)}` }
  },
  noChild: (limit: 'maxChildren' | 'maxDepth'): Words => ({
    message: `The parent may make no further agent: its budget has no ${LIMITS[limit]} left.`,
    fix: raise(limit),
  }),
  beyond: (limit: Limit, { asked, left }: { readonly asked: number; readonly left: number }): Words => ({
    message: `The budget asks for ${number(asked)} ${LIMITS[limit]}, and the parent has ${number(left)} left.`,
    fix: `Ask for at most that. ${raise(limit)}`,
  }),
}

/** The cause of an error about a preset above the ceiling: the tool has words of its own for it. */
export const BEYOND_PRESET = Object.freeze({ what: 'preset' })

export function poolError(code: ErrorCode, { message, ...fix }: Words, cause?: unknown): NexusError {
  return new NexusError(code, message, { ...fix, cause })
}
