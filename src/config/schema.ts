import * as v from 'valibot'

/** The model providers that `model:` may name. */
export const MODEL_PROVIDERS = ['openai', 'anthropic', 'openai-compatible'] as const
/** The loaders that `skills.surface` may show to a model. */
export const LOADERS = ['load_skill', 'read_skill_file', 'Skill'] as const

/** Descriptions become the descriptions of the published JSON Schema. */
const about = v.description
const text = v.pipe(v.string(), v.minLength(1))
const texts = v.array(text)
const count = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000_000))
const countOrNone = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000_000_000_000))
const url = v.pipe(v.string(), v.regex(/^(https?:\/\/|\$\{)/))
const environmentName = v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/))

const secret = v.union([
  v.string(),
  v.strictObject({
    env: v.optional(v.pipe(environmentName, about('Name of an environment variable.'))),
    file: v.optional(v.pipe(text, about('A file that holds the secret; the last line break is not part of it.'))),
    command: v.optional(v.pipe(texts, about('A program and its arguments whose output is the secret.'))),
  }),
])

const modelMap = v.strictObject({
  provider: v.picklist(MODEL_PROVIDERS),
  name: v.pipe(text, about('The model as its provider calls it.')),
  baseUrl: v.optional(
    v.pipe(url, about('Address of the API; required for openai-compatible unless OPENAI_BASE_URL is set.')),
  ),
  apiKey: v.optional(v.pipe(secret, about('Default: the provider’s usual key variable.'))),
  api: v.optional(v.pipe(v.picklist(['chat', 'responses']), about('Which interface of OpenAI is spoken.'))),
})

const modelText = v.pipe(v.string(), v.regex(/^(openai|anthropic|openai-compatible)\/.+$/))

const source = v.variant('type', [
  v.strictObject({
    type: v.literal('local'),
    path: text,
    nested: v.optional(v.pipe(v.boolean(), about('Go on looking below a directory that is a skill.'))),
  }),
  v.strictObject({
    type: v.literal('git'),
    url: text,
    branch: v.optional(text),
    path: v.optional(text),
    refresh: v.optional(v.pipe(v.string(), v.regex(/^\d+(ms|s|m|h|d)$/))),
  }),
  v.strictObject({ type: v.literal('registry'), url, auth: v.optional(secret) }),
])

const skillEntry = v.strictObject({
  enabled: v.optional(v.pipe(v.boolean(), about('false holds the skill.'))),
  apiKey: v.optional(v.pipe(secret, about('The value of the skill’s primaryEnv.'))),
  env: v.optional(v.record(environmentName, v.union([v.string(), v.number(), v.boolean()]))),
  config: v.optional(v.record(v.string(), v.unknown())),
})

const skills = v.strictObject({
  load: v.optional(
    v.strictObject({
      extraDirs: v.optional(v.pipe(texts, about('More directories with skills, in the lowest tier.'))),
      watch: v.optional(v.pipe(v.boolean(), about('Watch the directories for changes.'))),
      watchDebounceMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(60_000))),
    }),
  ),
  skill_dirs: v.optional(v.pipe(texts, about('The same as load.extraDirs.'))),
  disabled_skills: v.optional(v.pipe(texts, about('Names of skills that are held.'))),
  builtin: v.optional(v.pipe(texts, about('Groups of built-in tools.'))),
  custom: v.optional(v.pipe(texts, about('Modules with tools of your own.'))),
  sources: v.optional(v.pipe(v.array(source), about('Further places skills come from, in order.'))),
  entries: v.optional(v.pipe(v.record(text, skillEntry), about('Settings per skill, under its key.'))),
  surface: v.optional(v.pipe(v.array(v.picklist(LOADERS)), about('Which loaders the model sees.'))),
  prompt: v.optional(
    v.strictObject({
      budgetChars: v.optional(v.pipe(countOrNone, about('Most characters of the index in the prompt.'))),
      style: v.optional(v.picklist(['markdown', 'xml', 'list', 'names'])),
    }),
  ),
  refreshOnCall: v.optional(v.pipe(v.boolean(), about('Look for changed files at every call of a loader.'))),
})

const agent = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)),
  skills: v.optional(v.pipe(texts, about('Absent: all. A list: only these. []: none.'))),
  instructions: v.optional(v.pipe(v.string(), about('Text for the agent’s system prompt.'))),
  tools: v.optional(
    v.strictObject({
      profile: v.optional(v.picklist(['minimal', 'coding', 'messaging', 'full'])),
      allow: v.optional(texts),
      ask: v.optional(texts),
      deny: v.optional(texts),
    }),
  ),
})

const execution = v.strictObject({
  sandbox: v.optional(v.pipe(v.picklist(['local', 'none']), about('Where commands run; none confines nothing.'))),
  timeoutMs: v.optional(v.pipe(count, about('Time limit of one command.'))),
  maxOutputBytes: v.optional(v.pipe(count, about('Most bytes kept of stdout and of stderr, each.'))),
  uidBase: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1_000), v.maxValue(4_000_000_000))),
  limits: v.optional(
    v.strictObject({
      processes: v.optional(count),
      openFiles: v.optional(count),
      fileSizeBytes: v.optional(count),
      dataBytes: v.optional(count),
      sharedMemoryBytes: v.optional(count),
    }),
  ),
})

const limits = v.strictObject({
  maxIterations: v.optional(v.pipe(count, about('Most rounds of model and tools in one turn.'))),
  toolTimeoutMs: v.optional(v.pipe(countOrNone, about('Time limit of one tool call; 0 means none.'))),
  maxConcurrentTools: v.optional(v.pipe(count, about('Most tool calls that run at the same time.'))),
})

const groupName = v.pipe(v.string(), v.regex(/^group:\S+$/))

/** The whole of nexus.yaml: the one source of checks, types and the published JSON Schema. Nothing in it transforms. */
export const CONFIG_SCHEMA = v.pipe(
  v.strictObject({
    model: v.optional(v.pipe(v.union([modelText, modelMap]), about('"provider/name", or a map.'))),
    skills: v.optional(skills),
    agents: v.optional(v.array(agent)),
    tools: v.optional(
      v.pipe(
        v.objectWithRest({ groups: v.optional(v.record(groupName, texts)) }, v.unknown()),
        about('Groups of tools, and free settings per tool that skills may ask for.'),
      ),
    ),
    execution: v.optional(execution),
    limits: v.optional(limits),
  }),
  v.title('nexus.yaml'),
)

/** A configuration file after checking; also the form of `overrides`. */
export type ConfigDocument = v.InferOutput<typeof CONFIG_SCHEMA>
/** A secret as written: its text, or where it is. */
export type SecretInput = v.InferOutput<typeof secret>
