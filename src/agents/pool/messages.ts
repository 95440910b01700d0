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
  closed: (): Words => ({ message: 'The pool is closed: it takes no more messages.' }),
  clippedPaths: (asked: string, got: string): string => `Paths: the preset has ${asked}, the parent leaves ${got}.`,
  clippedTools: (tools: readonly string[]): string => `Tools that the parent's ceiling denies: ${tools.join(', ')}.`,
  clippedFlag: (what: string): string => `The parent has no ${what}.`,
}

export function poolError(code: ErrorCode, { message, ...fix }: Words): NexusError {
  return new NexusError(code, message, fix)
}
