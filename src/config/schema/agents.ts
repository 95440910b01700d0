import * as v from 'valibot'
import { about, count, domains, identifier, is, name, names, paths, time, timeOrNone, setting } from './parts.ts'

/** Permission presets that are always there. Source: contracts §1.7. */
export const PRESETS = ['yolo', 'trusted', 'sandboxed', 'worker'] as const

/** null: no limit; []: nothing; absent: as the preset says. Source: decisions, "allowed_paths". */
const allowedPaths = v.pipe(v.nullable(paths), about('Directories; null: no limit, []: none.'))

const network = v.union([v.boolean(), domains])

const toolPermission = v.pipe(
  v.strictObject({
    enabled: setting(v.boolean(), 'false takes the tool away.'),
    allowedPaths: v.optional(allowedPaths),
    timeoutMs: setting(timeOrNone, 'Time limit of one call; 0: none.'),
    requiresConfirmation: setting(v.boolean(), 'Ask a person first.'),
  }),
  about('What is different for one tool.'),
)

const preset = v.strictObject({
  extends: setting(name, 'A built-in preset or one of this map; default trusted.'),
  allowedPaths: v.optional(allowedPaths),
  blockedPaths: setting(is(paths, { merge: 'add' }), 'Directories that are refused whatever else is said.'),
  network: setting(network, 'Whether tools may reach the network; a list: only hosts that it contains.'),
  disableTools: setting(is(names, { merge: 'add' }), 'Tools that are taken away.'),
  tools: setting(v.record(name, toolPermission), 'What is different for single tools.'),
  defaultToolTimeoutMs: setting(timeOrNone, 'Time limit of a tool call; 0: none.'),
})

export const permissions = v.pipe(
  v.strictObject({
    defaultPreset: setting(name, 'Preset of agents that name none.'),
    presets: setting(v.record(identifier, preset), 'Presets of your own, by name.', {}),
    destructiveTools: setting(
      is(names, { merge: 'add' }),
      'Tools that a trusted agent confirms, besides the usual ones.',
      [],
    ),
  }),
  about('What agents are: presets, paths and limits per tool.'),
)

const delta = v.strictObject({
  network: setting(
    network,
    'false: no tool reaches the network. A list: only hosts that it contains. It never opens one.',
  ),
  disableTools: setting(is(names, { merge: 'add' }), 'Tools that are taken away.'),
  enableTools: setting(names, 'Tools that the preset takes away and this agent has.'),
  allowedPaths: v.optional(allowedPaths),
  addBlockedPaths: setting(is(paths, { merge: 'add' }), 'Directories that are refused besides those of the preset.'),
  toolOverrides: setting(v.record(name, toolPermission), 'What is different for single tools.'),
})

const cost = v.pipe(v.number(), v.minValue(0))

const budget = v.strictObject({
  maxTokens: setting(count, 'Most tokens of the agent and its descendants together.'),
  maxTurns: setting(count, 'Most turns.'),
  maxTimeMs: setting(time, 'Most time in turns.'),
  maxChildren: setting(count, 'Most agents that it and its descendants may create.'),
  maxDepth: setting(count, 'Most levels of agents below it; never more than 5 from the root.'),
  maxCost: setting(cost, 'Most money, in the currency of model.price.'),
})

const context = v.strictObject({
  maxTokens: setting(count, 'Most tokens of a request; default model.contextTokens, else 128,000.'),
  reserveTokens: setting(count, 'Kept free for the answer.', 2_000),
  truncation: setting(v.picklist(['oldest_first', 'middle_out']), 'What is left out first.', 'oldest_first'),
  compaction: setting(
    v.picklist(['auto', 'off']),
    'auto: when the context is full, the model writes a summary of older messages.',
    'auto',
  ),
})

/** None of these words can be the name of free settings at the top-level `tools`. */
export const POLICY_WORDS = ['profile', 'allow', 'ask', 'deny'] as const

const profiles = v.picklist(['minimal', 'coding', 'messaging', 'full'])

const policy = v.strictObject({
  profile: setting(is(profiles, { untrusted: 'narrow-profile' }), 'Which tools there are at all.', 'full'),
  allow: setting(is(names, { merge: 'add' }), 'Tools, groups (group:fs), servers (mcp:github) and patterns.', []),
  ask: setting(is(names, { merge: 'add', untrusted: 'add' }), 'Tools that a person confirms at each call.', []),
  deny: setting(
    is(names, { merge: 'add', untrusted: 'add' }),
    'Tools that are refused. Weighs more than anything else.',
    [],
  ),
})

/** The same of a ceiling, which an untrusted workspace does not set: a rule of `tools` is enough to tighten. */
const mostTools = v.strictObject({
  profile: setting(profiles, 'Which tools there are at all.', 'full'),
  allow: setting(is(names, { merge: 'add' }), 'As in tools.', []),
  ask: setting(is(names, { merge: 'add' }), 'As in tools.', []),
  deny: setting(is(names, { merge: 'add' }), 'As in tools.', []),
})

const ceiling = v.strictObject({
  preset: setting(name, 'The preset that it starts from; default that of the agent.'),
  permissions: setting(delta, 'What is different from the preset.'),
  tools: setting(mostTools, 'Which tools there are at all; default those of the agent.'),
})

export const agent = v.strictObject({
  id: v.pipe(
    is(v.pipe(identifier, v.maxLength(63, '1 to 63 letters, digits, dots, underscores and hyphens')), {
      untrusted: 'add',
    }),
    about('1 to 63 letters, digits, dots, underscores and hyphens.'),
  ),
  extends: setting(identifier, 'Another agent whose settings this one starts from.'),
  skills: setting(is(names, { untrusted: 'remove' }), 'Absent: all. A list: only these. []: none.'),
  instructions: setting(is(v.string(), { texts: 'literal' }), 'Text for the agent’s system prompt.'),
  preset: setting(name, 'yolo, trusted, sandboxed, worker, or one of permissions.presets.'),
  permissions: setting(delta, 'What is different from the preset.'),
  ceiling: setting(
    ceiling,
    'The most that it and the agents that it makes may ever do; default its tools and permissions. It never widens its own.',
  ),
  budget: setting(budget, 'What the agent and those that it makes may use up together.'),
  context: setting(context, 'How much of the history is sent.'),
  tools: setting(policy, 'Which tools the agent may call.', {}),
  shadow: setting(identifier, 'Another agent whose rules are compared at each call, and never decide.'),
})
