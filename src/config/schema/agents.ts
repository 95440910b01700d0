import * as v from 'valibot'
import { about, count, identifier, name, names, paths, time, timeOrNone } from './parts.ts'

/** Permission presets that are always there. Source: contracts §1.7. */
export const PRESETS = ['yolo', 'trusted', 'sandboxed', 'worker'] as const

/** null: no limit; []: nothing; absent: as the preset says. Source: decisions, "allowed_paths". */
const allowedPaths = v.pipe(v.nullable(paths), about('Directories; null: no limit, []: none.'))

const toolPermission = v.pipe(
  v.strictObject({
    enabled: v.optional(v.pipe(v.boolean(), about('false takes the tool away.'))),
    allowedPaths: v.optional(allowedPaths),
    timeoutMs: v.optional(v.pipe(timeOrNone, about('Time limit of one call; 0 means none.'))),
    requiresConfirmation: v.optional(v.pipe(v.boolean(), about('Ask a person first.'))),
  }),
  about('What is different for one tool.'),
)

const preset = v.strictObject({
  extends: v.optional(v.pipe(name, about('A built-in preset or one of this map; default trusted.'))),
  allowedPaths: v.optional(allowedPaths),
  blockedPaths: v.optional(v.pipe(paths, about('Directories that are refused whatever else is said.'))),
  network: v.optional(v.pipe(v.boolean(), about('Whether tools may reach the network.'))),
  disableTools: v.optional(v.pipe(names, about('Tools that are taken away.'))),
  tools: v.optional(v.pipe(v.record(name, toolPermission), about('What is different for single tools.'))),
  defaultToolTimeoutMs: v.optional(v.pipe(timeOrNone, about('Time limit of a tool call; 0 means none.'))),
})

export const permissions = v.pipe(
  v.strictObject({
    defaultPreset: v.optional(v.pipe(name, about('Preset of agents that name none.'))),
    presets: v.optional(v.pipe(v.record(identifier, preset), about('Presets of your own, by name.'))),
    destructiveTools: v.optional(v.pipe(names, about('Tools that a trusted agent confirms, besides the usual ones.'))),
  }),
  about('What agents are: presets, paths and limits per tool.'),
)

const delta = v.strictObject({
  disableTools: v.optional(names),
  enableTools: v.optional(names),
  allowedPaths: v.optional(allowedPaths),
  addBlockedPaths: v.optional(paths),
  toolOverrides: v.optional(v.record(name, toolPermission)),
})

const budget = v.strictObject({
  maxTokens: v.optional(v.pipe(count, about('Most tokens of the agent and its descendants together.'))),
  maxTurns: v.optional(v.pipe(count, about('Most turns.'))),
  maxTimeMs: v.optional(v.pipe(time, about('Most time in turns.'))),
  maxChildren: v.optional(v.pipe(count, about('Most agents it may create.'))),
})

const context = v.strictObject({
  maxTokens: v.optional(v.pipe(count, about('Most tokens of the history that is sent.')), 8_000),
  reserveTokens: v.optional(v.pipe(count, about('Kept free for the answer.')), 2_000),
  truncation: v.optional(
    v.pipe(v.picklist(['oldest_first', 'middle_out']), about('What is left out first.')),
    'oldest_first',
  ),
})

/** What an agent's `tools` says; none of these words can be the name of free settings at the top-level `tools`. */
export const POLICY_WORDS = ['profile', 'allow', 'ask', 'deny'] as const

const policy = v.strictObject({
  profile: v.optional(
    v.pipe(v.picklist(['minimal', 'coding', 'messaging', 'full']), about('Which tools there are at all.')),
    'full',
  ),
  allow: v.optional(v.pipe(names, about('Tools, groups (group:fs), servers (mcp:github) and patterns.'))),
  ask: v.optional(v.pipe(names, about('Tools that a person confirms at each call.'))),
  deny: v.optional(v.pipe(names, about('Tools that are refused. Weighs more than anything else.'))),
})

export const agent = v.strictObject({
  id: identifier,
  extends: v.optional(v.pipe(identifier, about('Another agent whose settings this one starts from.'))),
  skills: v.optional(v.pipe(names, about('Absent: all. A list: only these. []: none.'))),
  instructions: v.optional(v.pipe(v.string(), about('Text for the agent’s system prompt.'))),
  preset: v.optional(v.pipe(name, about('yolo, trusted, sandboxed, worker, or one of permissions.presets.'))),
  permissions: v.optional(v.pipe(delta, about('What is different from the preset.'))),
  budget: v.optional(v.pipe(budget, about('What the agent may use up.'))),
  context: v.optional(v.pipe(context, about('How much of the history is sent.'))),
  tools: v.optional(v.pipe(policy, about('Which tools the agent may call.'))),
})
