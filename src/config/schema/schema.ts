import * as v from 'valibot'
import { agent, permissions, POLICY_WORDS } from './agents.ts'
import { approvals, execution, limits, store } from './execution.ts'
import { about, count, is, NAME, name, names, secret, url, setting } from './parts.ts'
import { mcp, nats, search, secrets, server, telemetry } from './services.ts'
import { skills } from './skills.ts'

/** The model providers that `model:` may name. */
export const MODEL_PROVIDERS = ['openai', 'anthropic', 'openai-compatible'] as const

const price = v.strictObject({
  input: v.pipe(v.number(), v.minValue(0, 'a number from 0 up'), about('Of what is sent.')),
  output: v.pipe(v.number(), v.minValue(0, 'a number from 0 up'), about('Of what the model writes.')),
  cachedInput: setting(
    v.pipe(v.number(), v.minValue(0, 'a number from 0 up')),
    'Of what the provider read from its cache. Default: as input.',
  ),
})

const modelMap = v.strictObject({
  provider: v.pipe(v.picklist(MODEL_PROVIDERS), about('Who answers, or whose interface is spoken.')),
  name: v.pipe(name, about('The model as its provider calls it.')),
  baseUrl: setting(url, 'Address of the API; required for openai-compatible unless OPENAI_BASE_URL is set.'),
  apiKey: setting(is(secret, { isUnit: true }), 'Default: the provider’s usual key variable.'),
  api: setting(v.picklist(['chat', 'responses']), 'Which interface of OpenAI is spoken.'),
  contextTokens: setting(count, 'Most tokens of one request with its answer.'),
  price: setting(price, 'Money for a million tokens, for budgets.'),
})

const modelText = v.pipe(
  v.string(),
  v.regex(
    /^(openai|anthropic|openai-compatible)\/.+$/,
    'provider/name, with openai, anthropic or openai-compatible as provider',
  ),
  v.metadata({ ...NAME, example: 'openai/gpt-5.4-mini' }),
)

/** Policy is an agent's. Here it would be taken for free settings and do nothing. */
const misplaced = setting(v.never(), 'Policy belongs to an agent: agents[].tools.')

const groupName = v.pipe(
  v.string(),
  v.regex(/^group:\S+$/, 'a name that begins with "group:", such as "group:mine"'),
  v.metadata({ ...NAME, example: '"group:mine"' }),
)

const runCommand = v.objectWithRest(
  {
    blocked: setting(
      is(names, { texts: 'plain' }),
      'Commands that run_command refuses by name. Default: none in a sandbox; without one rm, chmod and the like.',
    ),
    allowed: setting(
      is(names, { texts: 'plain' }),
      'The only commands that run_command runs, by name; blocked has no effect then.',
    ),
    blockedPatterns: setting(
      is(names, { texts: 'literal' }),
      'Texts that no command of run_command may contain, such as "| sudo".',
    ),
  },
  v.unknown(),
)

const fileOps = v.objectWithRest(
  {
    allowedExtensions: setting(
      is(names, { texts: 'plain' }),
      'Extensions of the files that read_file, write_file and edit_file may use. Default: all.',
    ),
    maxReadBytes: setting(count, 'Largest file that read_file and edit_file read, in bytes.', 10_485_760),
  },
  v.unknown(),
)

const tools = is(
  v.objectWithRest(
    {
      groups: setting(
        is(v.record(groupName, names), { texts: 'plain' }),
        'Names for several tools, used in allow, ask and deny.',
        {},
      ),
      run_command: v.optional(runCommand),
      file_ops: v.optional(fileOps),
      ...v.entriesFromList(POLICY_WORDS, misplaced),
    },
    v.unknown(),
  ),
  { texts: 'secret' },
)

/** The whole of nexus.yaml: the one source of checks, types, defaults and the published JSON Schema. Nothing in it transforms. */
export const CONFIG_SCHEMA = v.pipe(
  v.strictObject({
    model: setting(
      is(v.union([modelText, modelMap]), { merge: 'whole', texts: 'value', isUnit: true }),
      '"provider/name", or a map.',
    ),
    skills: v.optional(skills, {}),
    agents: setting(
      is(v.array(agent), { merge: 'by-id' }),
      'Agents, by id. Without any there is one, main, with all tools.',
    ),
    permissions: v.optional(permissions, {}),
    tools: setting(tools, 'Groups of tools, and free settings per tool that skills may ask for.', {}),
    execution: v.optional(execution, {}),
    limits: v.optional(limits, {}),
    approvals: v.optional(approvals, {}),
    search: v.optional(search, {}),
    secrets: v.optional(secrets),
    server: v.optional(server, {}),
    telemetry: v.optional(telemetry, {}),
    store: v.optional(store, {}),
    nats: v.optional(nats),
    mcp: v.optional(mcp, {}),
  }),
  v.title('nexus.yaml'),
  about('Settings of Nexus.'),
)

/** A configuration file after checking; also the form of `overrides`. */
export type ConfigDocument = v.InferInput<typeof CONFIG_SCHEMA>

/** All settings with their defaults. */
export type Settings = DeepReadonly<v.InferOutput<typeof CONFIG_SCHEMA>>

type DeepReadonly<T> = T extends object ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> } : T
