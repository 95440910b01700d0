import * as v from 'valibot'
import { DEFAULTS } from '../../kernel/index.ts'
import { CONFIG_DEFAULTS } from './defaults.ts'
import {
  about,
  address,
  countOrNone,
  duration,
  elsewhere,
  is,
  environmentValues,
  hosts,
  name,
  names,
  path,
  paths,
  secret,
  text,
  url,
  setting,
} from './parts.ts'

/** The loaders that `skills.surface` may show to a model. */
export const LOADERS = ['load_skill', 'read_skill_file', 'Skill'] as const

const source = v.variant('type', [
  v.strictObject({
    type: v.literal('local'),
    path: v.pipe(path, about('A directory with skills; relative to this file.')),
    nested: setting(v.boolean(), 'Search below a directory that is a skill, too.'),
  }),
  v.strictObject({
    type: v.literal('git'),
    url: v.pipe(address, about('Address of the repository.')),
    branch: setting(name, 'Branch; default that of the repository.'),
    tag: setting(name, 'Tag instead of a branch.'),
    commit: setting(name, 'Commit instead of a branch; it is fetched once.'),
    path: setting(name, 'Directory of the skills inside the repository.'),
    refresh: setting(duration, 'How old a copy may become, such as 24h or 1h30m; default 24h.'),
    follow: setting(
      is(v.boolean(), { usersOnly: true }),
      'Take new revisions that ask for more, too. Default: they wait for nexus skills update.',
    ),
  }),
  v.strictObject({
    type: is(v.literal('registry'), { unused: { what: 'fetch skills from a registry', severity: 'warning' } }),
    url: v.pipe(url, about('Address of the registry’s API.')),
    auth: setting(secret, 'Sent as bearer token.'),
  }),
])

const entry = v.pipe(
  v.strictObject({
    enabled: setting(is(v.boolean(), { untrusted: 'disable' }), 'false holds the skill.'),
    apiKey: setting(is(secret, { merge: 'whole' }), 'The value of the skill’s primaryEnv.'),
    env: setting(environmentValues, 'Variables for commands of this skill.'),
    network: setting(
      is(hosts, { merge: 'add' }),
      'Hosts that commands of this skill may reach, as in execution.network.allowedDomains.',
    ),
    setup: setting(
      is(text, { texts: 'literal' }),
      'A command that installs what the skill needs, run once per revision in the sandbox; {baseDir} is the skill.',
    ),
    credentials: setting(
      is(v.picklist(['pass', 'mask']), { usersOnly: true }),
      'mask: commands get placeholders for apiKey and env; the proxy puts the values in, for hosts of this entry only.',
    ),
    config: setting(v.record(v.string(), v.unknown()), 'Free settings, for requires.config.'),
  }),
  about('Settings of one skill. They reach copies from trusted sources only.'),
)

const load = v.strictObject({
  extraDirs: setting(is(paths, { merge: 'add-before' }), 'More directories with skills, in the lowest tier.', []),
  watch: setting(v.boolean(), 'Watch the directories for changes.', false),
  watchDebounceMs: setting(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(60_000)),
    'How long changes are collected.',
    DEFAULTS.watchDebounceMs,
  ),
})

const prompt = v.strictObject({
  budgetChars: setting(countOrNone, 'Most characters of the index in the prompt.', DEFAULTS.promptBudgetChars),
  style: setting(v.picklist(['markdown', 'xml', 'list', 'names']), 'How the index is written.', 'markdown'),
})

const install = v.strictObject({
  policy: setting(is(path, { usersOnly: true }), 'A program that judges each skill before it is placed.'),
  httpHosts: setting(is(names, { usersOnly: true }), 'Hosts from which skills may come without encryption.', []),
})

export const skills = v.pipe(
  v.strictObject({
    mode: setting(
      is(v.picklist(['local', 'remote']), { unused: elsewhere('remote') }),
      'Where commands of skills run: execution.sandbox decides.',
    ),
    load: setting(load, 'Where Nexus searches for skills, and when.', {}),
    skill_dirs: setting(is(paths, { merge: 'add-before' }), 'The same as load.extraDirs.', []),
    disabled_skills: setting(is(names, { merge: 'add', untrusted: 'add' }), 'Names of skills that are held.', []),
    builtin: setting(
      is(names, { merge: 'add' }),
      'Groups of built-in tools that agents have: web_search, file_ops, shell. Absent: all; []: none.',
    ),
    custom: setting(
      is(paths, { merge: 'add', texts: 'module' }),
      'Modules with tools of your own. They run in our process, unconfined.',
      [],
    ),
    sources: setting(
      is(v.array(is(source, { isUnit: true })), { merge: 'add-before', texts: 'value' }),
      'Further places skills come from, in order.',
      [],
    ),
    install: setting(install, 'How nexus skills install gets skills.', {}),
    entries: setting(is(v.record(name, entry), { texts: 'secret' }), 'Settings per skill, under its key.', {}),
    surface: setting(v.array(v.picklist(LOADERS)), 'Which loaders the model sees.', [...CONFIG_DEFAULTS.surface]),
    prompt: setting(prompt, 'The index of skills in the prompt.', {}),
    refreshOnCall: setting(
      v.boolean(),
      'Look for changed files at every call of a loader.',
      CONFIG_DEFAULTS.refreshOnCall,
    ),
  }),
  about('Where skills come from, what each needs, and how the model gets them.'),
)
