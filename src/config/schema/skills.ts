import * as v from 'valibot'
import { DEFAULTS } from '../../kernel/index.ts'
import { CONFIG_DEFAULTS } from '../config.ts'
import {
  about,
  address,
  countOrNone,
  duration,
  environmentValues,
  name,
  names,
  path,
  paths,
  secret,
  text,
  url,
} from './parts.ts'

/** The loaders that `skills.surface` may show to a model. */
export const LOADERS = ['load_skill', 'read_skill_file', 'Skill'] as const

const source = v.variant('type', [
  v.strictObject({
    type: v.literal('local'),
    path: v.pipe(path, about('A directory with skills; relative to this file.')),
    nested: v.optional(v.pipe(v.boolean(), about('Go on looking below a directory that is a skill.'))),
  }),
  v.strictObject({
    type: v.literal('git'),
    url: v.pipe(address, about('Address of the repository.')),
    branch: v.optional(v.pipe(name, about('Branch; default that of the repository.'))),
    path: v.optional(v.pipe(path, about('Directory of the skills inside the repository.'))),
    refresh: v.optional(v.pipe(duration, about('How old a copy may become, such as 24h or 1h30m.'))),
  }),
  v.strictObject({
    type: v.literal('registry'),
    url: v.pipe(url, about('Address of the registry’s API.')),
    auth: v.optional(v.pipe(secret, about('Sent as bearer token.'))),
  }),
])

const entry = v.pipe(
  v.strictObject({
    enabled: v.optional(v.pipe(v.boolean(), about('false holds the skill.'))),
    apiKey: v.optional(v.pipe(secret, about('The value of the skill’s primaryEnv.'))),
    env: v.optional(v.pipe(environmentValues, about('Variables for commands of this skill.'))),
    config: v.optional(v.pipe(v.record(v.string(), v.unknown()), about('Free settings, for requires.config.'))),
  }),
  about('Settings of one skill. They reach copies from trusted sources only.'),
)

const load = v.strictObject({
  extraDirs: v.optional(v.pipe(paths, about('More directories with skills, in the lowest tier.'))),
  watch: v.optional(v.pipe(v.boolean(), about('Watch the directories for changes.')), false),
  watchDebounceMs: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(60_000), about('How long changes are collected.')),
    DEFAULTS.watchDebounceMs,
  ),
})

const prompt = v.strictObject({
  budgetChars: v.optional(
    v.pipe(countOrNone, about('Most characters of the index in the prompt.')),
    DEFAULTS.promptBudgetChars,
  ),
  style: v.optional(
    v.pipe(v.picklist(['markdown', 'xml', 'list', 'names']), about('How the index is written.')),
    'markdown',
  ),
})

export const skills = v.pipe(
  v.strictObject({
    mode: v.optional(
      v.pipe(
        v.picklist(['local', 'remote']),
        about('Where commands of skills run; another name of execution.sandbox.'),
      ),
    ),
    load: v.optional(v.pipe(load, about('Where skills are looked for, and when.'))),
    skill_dirs: v.optional(v.pipe(paths, about('The same as load.extraDirs.'))),
    disabled_skills: v.optional(v.pipe(names, about('Names of skills that are held.'))),
    builtin: v.optional(v.pipe(names, about('Groups of built-in tools: web_search, file_ops, shell.'))),
    custom: v.optional(v.pipe(paths, about('Modules with tools of your own. They run in our process, unconfined.'))),
    sources: v.optional(v.pipe(v.array(source), about('Further places skills come from, in order.'))),
    entries: v.optional(v.pipe(v.record(text, entry), about('Settings per skill, under its key.'))),
    surface: v.optional(v.pipe(v.array(v.picklist(LOADERS)), about('Which loaders the model sees.')), [
      ...CONFIG_DEFAULTS.surface,
    ]),
    prompt: v.optional(v.pipe(prompt, about('The index of skills in the prompt.'))),
    refreshOnCall: v.optional(
      v.pipe(v.boolean(), about('Look for changed files at every call of a loader.')),
      CONFIG_DEFAULTS.refreshOnCall,
    ),
  }),
  about('Where skills come from, what each needs, and how the model is told.'),
)
