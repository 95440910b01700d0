/** messages: every sentence about the configuration, one row a finding, from facts: what happened, why, and one next step. */

import { commandFix, type ProposedCommand } from '../kernel/index.ts'

/** One finding in words. */
export interface Message {
  readonly code: string
  readonly message: string
  readonly fix: string
  readonly proposal?: ProposedCommand
}

/** Facts by name: settings dotted as in the file, paths as the user may type them, values as they may be shown. */
type Facts<Names extends string> = Readonly<Record<Names, string>>

const row = (code: string, message: string, fix: string | ReturnType<typeof commandFix>): Message => ({
  code,
  message,
  ...(typeof fix === 'string' ? { fix } : fix),
})
const notApplied = (code: string, { setting, why, fix }: Facts<'setting' | 'why' | 'fix'>): Message =>
  row(code, `${setting} is not applied. ${why}`, fix)
/** Names that there are, and the one that may be meant. */
interface Names {
  readonly near: string | undefined
  readonly known: readonly string[]
}

function oneOf({ near, known }: Names): string {
  if (near !== undefined) return `Did you mean "${near}"?`
  return known.length === 0 ? 'Define another one, or remove this line.' : `Use one of: ${known.join(', ')}.`
}

const OWN_FILE = 'Write it into ~/.nexus/nexus.yaml, or name a file outside the workspace with --config.'
const OWN_HOME = 'Set HOME or NEXUS_HOME to a directory of yours outside the workspace.'
const STRICTER = 'Nexus applies only the stricter settings of this file.'

export const FILES = {
  unreadable: ({ why }: Facts<'why'>) =>
    row('config-unreadable', `Nexus cannot read this file: ${why}.`, 'Make it a regular file that you may read.'),
  more: (count?: number) =>
    row(
      'config-more',
      count === undefined ? 'This file has more errors.' : `This file has ${count} more findings, which are not shown.`,
      commandFix('Fix the ones above first. Then run:', 'config', 'check'),
    ),
} as const

type InvalidValue = Facts<'setting' | 'wanted' | 'found' | 'fix'>

export const SETTINGS = {
  wrongType: ({ wanted, found, ...facts }: InvalidValue) =>
    notApplied('config-wrong-type', { ...facts, why: `It must be ${wanted}; it is ${found}.` }),
  wrongValue: ({ wanted, found, ...facts }: InvalidValue) =>
    notApplied('config-wrong-value', { ...facts, why: `It must be ${wanted}; it is ${found}.` }),
  sandboxTwice: ({ setting }: Facts<'setting'>) => {
    const why = 'It is another name of execution.sandbox, and the two have different values.'
    return notApplied('config-wrong-value', { setting, why, fix: 'Keep one of the two.' })
  },
  badKey: ({ key, map, wanted }: Facts<'key' | 'map' | 'wanted'>) =>
    row('config-bad-key', `"${key}" is not applied. It is not a valid name in ${map}.`, `Write ${wanted}.`),
  reservedKey: ({ setting }: Facts<'setting'>) =>
    notApplied('config-bad-key', { setting, why: 'JavaScript reserves its name.', fix: 'Write another name.' }),
  builtInPreset: ({ setting, name }: Facts<'setting' | 'name'>) => {
    const why = `The preset "${name}" is built in and cannot be redefined.`
    return notApplied('config-bad-key', { setting, why, fix: `Write another name, and in it extends: ${name}` })
  },
  unknownKey: (at: {
    readonly key: string
    /** Absent at the top level. */
    readonly map: string | undefined
    readonly near: string | undefined
    readonly elsewhere: string | undefined
    readonly known: readonly string[]
  }) =>
    row(
      'config-unknown-key',
      `"${at.key}" is not applied. ${at.map ?? 'nexus.yaml'} has no setting of this name.`,
      at.near === undefined
        ? `${at.elsewhere === undefined ? '' : `Did you mean ${at.elsewhere}? `}Use one of: ${at.known.join(', ')}.`
        : `Did you mean "${at.near}"?`,
    ),
  missingKey: ({ setting, example }: Facts<'setting' | 'example'>) =>
    row('config-missing-key', `${setting} is missing. What needs it is not applied.`, `Add it, such as: ${example}`),
  misplacedPolicy: ({ setting, word }: Facts<'setting' | 'word'>) =>
    row(
      'config-misplaced-policy',
      `${setting} has no effect here. Every agent has its own policy.`,
      `Move it to agents[].tools.${word}, such as: agents: [{ id: main, tools: { ${word}: [run_command] } }]`,
    ),
  unknownName: (at: Facts<'setting' | 'kind' | 'name'> & Names) => {
    const why = `The configuration defines no ${at.kind} "${at.name}".`
    return notApplied('config-unknown-name', { setting: at.setting, why, fix: oneOf(at) })
  },
  ownShadow: ({ setting, ...names }: Facts<'setting'> & Names) => {
    const why = 'It is the agent itself, so there is nothing to compare.'
    return notApplied('config-cycle', { setting, why, fix: oneOf(names) })
  },
  circle: ({ setting, most }: Facts<'setting'> & { readonly most: number }) => {
    const why = `It leads back to itself, or over more than ${most} steps.`
    return notApplied('config-cycle', { setting, why, fix: 'Remove one extends of this chain.' })
  },
  incompleteSearch: ({ lacks }: Facts<'lacks'>) =>
    row(
      'config-search-incomplete',
      `Agents cannot search the web: search.${lacks} is not set.`,
      'Write search: { provider: brave, apiKey: "${BRAVE_API_KEY}" }, or search: { provider: searxng, url: ADDRESS }.',
    ),
} as const

export const REFERENCES = {
  notHere: ({ setting }: Facts<'setting'>) => {
    const why = 'Nexus replaces no variables in this setting.'
    return notApplied('config-env-not-here', {
      setting,
      why,
      fix: 'Write the value itself.',
    })
  },
  syntax: ({ setting }: Facts<'setting'>) => {
    const why = 'It contains ${ without a variable name and }.'
    return notApplied('config-env-syntax', { setting, why, fix: 'Write ${NAME}. For a literal ${ write $${.' })
  },
  /** `unit`: the largest part that is left out with it. */
  unset: ({ setting, variable, unit }: Facts<'setting' | 'variable' | 'unit'>, isEmpty: boolean) =>
    notApplied('config-env-unset', {
      setting: unit,
      why: `${setting === unit ? 'It' : setting} refers to ${variable}, which is ${isEmpty ? 'empty' : 'not set'}.`,
      fix: isEmpty ? `Give ${variable} a value, or remove the line.` : `Set ${variable}, or remove the line.`,
    }),
  secretFile: ({ setting, path, why, unit }: Facts<'setting' | 'path' | 'why' | 'unit'>) =>
    notApplied('config-secret-unreadable', {
      setting: unit,
      why: `${setting === unit ? 'It' : setting} refers to the file ${path}, which ${why}.`,
      fix: `Write the secret into ${path}, and make it readable by you.`,
    }),
  secretOpen: ({ path }: Facts<'path'>) =>
    row('config-secret-open', `Other users of this machine can read the secret in ${path}.`, `Type: chmod 600 ${path}`),
  /** `why` completes "It …". */
  wrongSecret: ({ setting, why, fix }: Facts<'setting' | 'why' | 'fix'>) =>
    notApplied('config-wrong-value', { setting, why: `It ${why}.`, fix }),
  environment: ({ name, why, fix }: Facts<'name' | 'why' | 'fix'>) =>
    row('environment-wrong-value', `Nexus ignores the variable ${name}. ${why}`, fix),
} as const

const CHANGES = {
  unrecorded: 'is not applied. An older version of Nexus did not record what you trusted.',
  added: 'is not applied. It was added after you trusted this workspace.',
  changed: 'is not applied. It changed after you trusted this workspace.',
  removed: 'was removed after you trusted this workspace.',
} as const

export const TRUST = {
  untrusted: ({ setting }: Facts<'setting'>, isUserOnly: boolean) =>
    row(
      'config-untrusted',
      `${setting} is not applied. Until you trust this workspace, ${STRICTER}`,
      isUserOnly ? OWN_FILE : commandFix('Read the file. Then run:', 'trust'),
    ),
  userOnly: ({ setting }: Facts<'setting'>) => {
    const why = 'A file of the workspace never loosens the sandbox, trusted or not.'
    return notApplied('config-user-only', { setting, why, fix: OWN_FILE })
  },
  changed: ({ setting }: Facts<'setting'>, how: keyof typeof CHANGES, argument?: readonly string[]) =>
    row(
      'config-changed-since-trust',
      `${setting} ${CHANGES[how]} Until you trust it again, ${STRICTER}`,
      commandFix('Run:', 'trust', ...(argument === undefined ? [] : argument)),
    ),
  gone: () =>
    row(
      'config-changed-since-trust',
      'The nexus.yaml of this workspace is gone since you trusted it. None of its settings applies any more.',
      commandFix('Restore the file, or run:', 'trust'),
    ),
  homeInWorkspace: ({ workspace, variable }: Facts<'workspace' | 'variable'>) =>
    row(
      'environment-home-in-workspace',
      `Nexus treats your Nexus directory as a part of the workspace ${workspace}: ${variable} leads into it.`,
      OWN_HOME,
    ),
  /** Trust helps only after there is a home of the user's own. */
  afterOwnHome: (fix: string | undefined) => (fix === undefined ? OWN_HOME : `${OWN_HOME} Then: ${fix}`),
  insecure: ({ path }: Facts<'path'>) =>
    row(
      'trust-insecure',
      'Nexus trusts no workspace. Other users can change the list of trusted ones.',
      `Inspect the file. Then type: chmod 600 ${path}`,
    ),
  damaged: () =>
    row(
      'trust-damaged',
      'Nexus trusts no workspace. The list of trusted ones is damaged.',
      commandFix('Nexus keeps the damaged file beside the new one. In each workspace, run:', 'trust'),
    ),
  unreadable: ({ path, code }: Facts<'path' | 'code'>) =>
    row(
      'trust-unreadable',
      `Nexus trusts no workspace. It cannot read the list of trusted ones (${code}).`,
      `Make ${path} readable for you.`,
    ),
} as const
