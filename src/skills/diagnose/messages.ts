import { type OverBudget, MAX_NAME_POINTS } from '../catalog/index.ts'
import { SKILL_FILE, shellWord, words } from '../../kernel/index.ts'
import type { SetupFile } from './facts.ts'
import { setupYaml } from './setup-lines.ts'

/** A skill in a place that is not searched, and where it would be found. */
export interface Misplaced {
  readonly file: string
  /** The directory of the file. */
  readonly directory: string
  /** The directory of the skill around it. */
  readonly inside?: string | undefined
  /** A directory that is searched, and the directory in it where the skill would be found. */
  readonly root: string
  readonly target: string
  /** The directory that has the skills directory around it. */
  readonly above: string
  /** The searched directory is below that of the file. */
  readonly isAboveRoot: boolean
  readonly name: string
}

/** A program that the user's PATH finds, and commands do not. */
interface ProgramPlace {
  readonly name: string
  readonly path: string
  /** The same with links followed. */
  readonly real: string
  readonly target: string
  readonly isRoot: boolean
  /** Completes "Nexus does not mount it, because …". */
  readonly why?: string
}

/** The words of every finding, by its code; where a command follows, the fix ends with a colon. `finding` makes them safe to print. */
export const MESSAGES = {
  invalid: () => words('Nexus cannot read it as a skill.', 'Run:'),
  'cannot-load': (message: string) => ({ message: `Nexus cannot load it: ${message}.` }),
  'left-out': (names: string) =>
    words(`These files are not part of the skill, so neither the model nor commands get them: ${names}.`, LEFT_OUT_FIX),
  'no-loader': (agent: string) =>
    words(
      `${agent} has no tool that loads skills, so it cannot use it.`,
      `Allow group:skills under tools: of ${agent} in nexus.yaml. To see the line that denies it:`,
    ),
  'workspace-untrusted': () =>
    words('No command runs in this workspace until you trust it.', 'Inspect its skills and its nexus.yaml, then run:'),
  duplicate: (source: string, used: string) =>
    words(
      `The copy of source '${source}' is a duplicate: all its files equal those of ${used}, which is used.`,
      'Nothing to fix. You can remove one of the two.',
    ),
  shadowed: {
    sameSource: ({ used, address }: { used: string; address: string }) =>
      words(
        `This copy is shadowed by ${used}. One source has the name twice, and Nexus uses the last one in the order of paths.`,
        `Give one of the two another name: in its SKILL.md, or call this copy by its address ${address}.`,
      ),
    otherSource: (facts: { source: string; used: string; address: string; tiers?: readonly [string, string] }) => {
      const { source, used, address, tiers } = facts
      const why = tiers ? `${tiers[0]} ranks above ${tiers[1]}` : 'its source ranks higher'
      return words(
        `The copy of source '${source}' is shadowed by ${used} (${why}).`,
        `Give one of the two another name: in its SKILL.md, remove one of them, or call this copy by its address ${address}.`,
      )
    },
    heldToo: (reason: string) => `That copy would be held too: ${reason}.`,
  },
  'name-like-address': (address: string) =>
    words(
      'Another skill has this name, but it is also the address of the skill above, and an address comes first.',
      `Call the other skill by its address ${address}, or rename it.`,
    ),
  'other-name': ({ asked, name, isLink }: { asked: string; name: string; isLink: boolean }) =>
    words(
      `The directory is named ${asked}, but the frontmatter names the skill ${name}.`,
      `Call it ${name}, or ${isLink ? `put a file with name: ${asked} in place of the link` : `set name: ${asked} in its frontmatter`}.`,
    ),
  held: (reason: string) => `Held: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}`,
  settingMissing: (path: string) => `Held: a required setting is missing or false: ${path}.`,
  notAllowed: (agentId: string) => `Held: it is not allowed for agent '${agentId}'.`,
  'stale-session': {
    held: () =>
      words('The session still lists it, from when it was ready.', 'The next turn leaves it out until it is ready.'),
    gone: (directory: string) =>
      words(
        `The session still lists it, but it is gone from ${directory}.`,
        'Put it back, or continue without it: the next turn leaves it out.',
      ),
    added: () => words('The session does not have it yet: it was added after the last turn began.', NEXT_TURN),
    changed: () => words('The session still has an older text of it.', NEXT_TURN),
    loaded: () =>
      words(
        'Its files changed after the session loaded it.',
        'Send the next message: the model is then asked to load it again.',
      ),
    otherCopy: (address: string) => words(`The session still has another copy of it, ${address}.`, NEXT_TURN),
  },
  'setup-missing': ({ file, key, settings }: { file: SetupFile; key: string; settings: string }) =>
    words(
      `It lists packages in ${file}, and nothing installs them for its commands.`,
      `If its commands need them, set in ${settings}: ${setupYaml(file, key)}`,
    ),
  'person-only': (mention: string) =>
    words(
      'It is ready. Only a person can start it (disable-model-invocation), so it is not in the prompt.',
      `${mention === '' ? 'Remove' : `Write $${mention} in a message, or remove`} disable-model-invocation from its frontmatter.`,
    ),
  'not-invocable': () =>
    words(
      'It is ready, but nothing can start it: disable-model-invocation blocks the model, user-invocable: false blocks people.',
      'Remove one of the two from its frontmatter.',
    ),
  modelOnly: (message: string) => `${message} Only the model can start it (user-invocable: false).`,
  ready: () => words('It is ready.', READ),
  'hosts-proposed': (hosts: string, line: string) =>
    words(
      `Its commands may need hosts that no setting allows: ${hosts}.`,
      `For those that you trust, write in nexus.yaml: ${line}`,
    ),
  'in-prompt': {
    whole: (tokens: number) => words(`It is in the prompt with its whole description (about ${tokens} tokens).`, READ),
    byName: () => words('It is in the prompt by its name only, because skills.prompt.style is names.', READ),
  },
  'over-budget': {
    shortened: (tokens: number, budget?: number, needed?: OverBudget) =>
      words(
        `It is in the prompt with a shortened description (about ${tokens} tokens): ${over(budget)}.`,
        raise(needed),
      ),
    name: (budget?: number, needed?: OverBudget) =>
      words(`It is in the prompt by its name only: ${over(budget)}.`, raise(needed)),
    omitted: (budget?: number, needed?: OverBudget) =>
      words(
        `It is ready, but left out of the prompt: ${over(budget)}. The model can find it with find_skills.`,
        raise(needed),
      ),
    longName: () =>
      words(
        `It is ready, but left out of the prompt: its name is longer than ${MAX_NAME_POINTS} characters.`,
        'Give it a shorter name.',
      ),
  },
  'not-found': {
    inSource: (facts: { source: string; name: string; path: string; addresses: readonly string[] }) =>
      words(`Source '${facts.source}' has no skill named '${facts.name}' (${facts.path}).`, existing(facts.addresses)),
    source: (facts: { source: string; sources: readonly string[]; addresses: readonly string[] }) =>
      words(`There is no source '${facts.source}'. Sources: ${facts.sources.join(', ')}.`, existing(facts.addresses)),
    isRoot: (name: string, path: string) =>
      words(`'${name}' is a directory that Nexus searches for skills, not a skill: ${path}.`, 'List its skills:'),
    name: (name: string) => `No skill is named '${name}'.`,
    near: (name: string) => `Did you mean '${name}'? Run:`,
    blocked: () => 'Some directories could not be searched. Fix the problem below first.',
    list: () => 'List all skills:',
    create: (path?: string) => (path === undefined ? 'Create it:' : `Put it at ${path}, or create it:`),
  },
  'no-skill-file': ({ file, name }: Pick<Misplaced, 'file' | 'name'>) =>
    words(
      `The directory ${lastPart(file)} has no ${SKILL_FILE}.`,
      `Write ${file}/${SKILL_FILE}, starting with the lines: ---, name: ${name}, description: "What it does. Use when …", ---`,
    ),
  'wrong-place': {
    'below-skill': (at: Misplaced) =>
      words(
        `Wrong place: it is inside the skill ${at.inside ?? at.directory}. Nexus does not search inside skills.`,
        move(at),
      ),
    'below-root-skill': ({ root }: Pick<Misplaced, 'root'>) =>
      words(
        `Wrong place: ${root} has a ${SKILL_FILE} of its own. Nexus does not search inside skills.`,
        `Give that file a directory of its own: mkdir ${shellWord(`${root}/my-skill`)} && mv ${shellWord(`${root}/${SKILL_FILE}`)} ${shellWord(`${root}/my-skill/`)}`,
      ),
    'too-deep': (at: Misplaced) => words('Wrong place: it is deeper than the levels that Nexus searches.', move(at)),
    hidden: (at: Misplaced) =>
      lastPart(at.directory).startsWith('.')
        ? words('Wrong place: its directory is hidden. Nexus does not search hidden directories.', move(at))
        : words(
            'Wrong place: it is in a hidden directory or in node_modules. Nexus does not search these.',
            `${search(at)}; or copy it: ${copy(at)}`,
          ),
    elsewhere: (at: Misplaced) =>
      words(
        'Wrong place: another program keeps its skills there. Nexus does not search it by itself.',
        `${search(at)}; or copy it: ${copy(at)}`,
      ),
    above: ({ above }: Misplaced) =>
      words(
        'Wrong place: it is above your workspace, so Nexus does not search it from here.',
        `Work there: cd ${shellWord(above)}`,
      ),
    'beside-root': (at: Misplaced) =>
      words(
        'Wrong place: it is not in a directory that Nexus searches.',
        at.isAboveRoot ? `Move it: ${moveFile(at)}` : `${search(at)}; or move it: ${moveLine(at)}`,
      ),
  },
} as const

/** Fixes for a held skill that only this machine can give; they replace those of the gate. */
export const ADVICE = {
  untrusted: (workspace: string, homeIsWorkspace: boolean) => ({
    fix: `Inspect the skill, ${homeIsWorkspace ? `set ${OWN_HOME}, ` : ''}then run:`,
    command: ['trust', workspace],
  }),
  mountable: (facts: { name: string; path: string; kind: string; mounted: readonly string[]; file: string }) =>
    `You have ${facts.path} (${facts.kind}), but commands of skills do not see your home. Add it to ${facts.file}: execution: { programs: [${[...facts.mounted, facts.name].join(', ')}] }`,
  program: ({ name, path, real, target, isRoot, why }: ProgramPlace) => {
    const leads = real === path ? '' : ` (a link to ${real})`
    const sudo = isRoot ? '' : 'sudo '
    const how = /^\/(?:usr|bin|sbin)\//.test(real)
      ? `Let every user run it, for example: ${sudo}chmod a+rx ${shellWord(real)}`
      : `Install it for all users, for example: ${sudo}install -m 755 ${shellWord(real)} /usr/local/bin/${name}`
    const cannot = why === undefined ? '' : ` It cannot be mounted for them, because ${why}.`
    return `You have ${path}${leads}, but commands of skills (${target}) cannot run it.${cannot} They can run programs below /usr, /bin and /sbin that every user may run. ${how}`
  },
  variable: (facts: { name: string; key: string; setting: string; isKey: boolean; isSet: boolean; file: string }) => {
    const { name, key, setting, isKey, isSet, file } = facts
    const value = isSet ? `"\${${name}}"` : '"…"'
    const entry = isKey ? `apiKey: ${value}` : `env: { ${name}: ${value} }`
    const why = isSet ? `${name} is set in your environment, but skills get only what nexus.yaml gives them. ` : ''
    const yaml = `skills: { entries: { ${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)}: { ${entry} } } }`
    return `${why}Set ${setting} in ${file}, for example: ${yaml}`
  },
  freeSetting: (path: string, file: string) => `Set it in ${file}, for example: ${asYaml(path)}`,
  setting: (path: string, file: string) => ({ fix: `Set ${path} in ${file}, then run:`, command: ['config', 'check'] }),
  noSetting: (path: string, file: string) =>
    `nexus.yaml has no setting ${path}, so the skill stays held. Require tools.${path} in the skill instead, and set it in ${file}: ${asYaml(`tools.${path}`)}`,
  settingsFile: (file: string, homeIsWorkspace: boolean) =>
    // A file in the workspace would be refused.
    homeIsWorkspace ? `the nexus.yaml of your own Nexus directory (set ${OWN_HOME})` : file,
} as const

const OWN_HOME = 'HOME, or NEXUS_HOME, to a directory of yours outside of the workspace'

function asYaml(path: string): string {
  const [last = '', ...outer] = path.split('.').toReversed()
  return outer.reduce((inner, key) => `${key}: { ${inner} }`, `${last}: true`)
}

/** No command: what a stranger's link leads to should not be copied unseen. */
export const LEFT_OUT_FIX =
  'Nothing to fix if the skill does not need them. Otherwise put them in its directory as regular files.'

const NEXT_TURN = 'Send the next message: each turn starts with the current skills.'
const READ = 'Read it with:'

function over(budget: number | undefined): string {
  return `the list of skills is over its budget${budget === undefined ? '' : ` of ${budget} characters`}`
}

function raise(needed: OverBudget | undefined): string {
  const value = needed ? ` to ${needed.neededChars}` : ' to a larger number'
  return `Set skills.prompt.budgetChars in nexus.yaml (or SKILLS_PROMPT_CHAR_BUDGET)${value}, or disable skills that you do not need.`
}

function existing(addresses: readonly string[]): string {
  return addresses.length === 0 ? 'Run:' : `Existing addresses: ${addresses.join(', ')}. Run:`
}

function move(at: Misplaced): string {
  return `Move it: ${moveLine(at)}`
}

function moveLine({ root, directory, target }: Misplaced): string {
  return `mkdir -p ${shellWord(root)} && mv ${shellWord(directory)} ${shellWord(target)}`
}

function moveFile({ file, target }: Misplaced): string {
  return `mkdir -p ${shellWord(target)} && mv ${shellWord(file)} ${shellWord(`${target}/${SKILL_FILE}`)}`
}

function copy({ root, directory, target }: Misplaced): string {
  return `mkdir -p ${shellWord(root)} && cp -R ${shellWord(directory)} ${shellWord(target)}`
}

function search({ directory }: Misplaced): string {
  const above = directory.slice(0, directory.lastIndexOf('/')) || '/'
  return `Have it searched: --skills-dir ${shellWord(above)}, or skills.load.extraDirs in nexus.yaml`
}

/** Unlike `basename` it leaves a path that ends in a slash empty. */
export function lastPart(path: string): string {
  return path.replace(/^.*[/\\]/, '')
}
