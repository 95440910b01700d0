/** messages: how a command ended, one row a code of `CommandFinding`: what happened, why, and one next step. */
import { shellWord, toSafeLine } from '../../kernel/index.ts'
import type { CommandFinding, ScriptFile, SkillPath, VariableReason } from './finding.ts'

type Of<Code extends CommandFinding['code']> = Extract<CommandFinding, { code: Code }>
/** What happened and why, then one next step. */
export interface Note {
  readonly message: string
  readonly fix: string
}

/** The note for a finding, in one line. */
export function noteOf(finding: CommandFinding): string {
  const { message, fix } = explained(finding)
  return toSafeLine(`${message} ${fix}`)
}

/** The next step of a finding, in one line. */
export function fixOf(finding: CommandFinding): string {
  return toSafeLine(explained(finding).fix)
}

function explained(finding: CommandFinding): Note {
  const row = NOTES[finding.code] as (of: CommandFinding) => Note
  return row(finding)
}

const note = (message: string, fix: string): Note => ({ message, fix })

/** How a command ended: one row a code of `CommandFinding`. */
const NOTES: { readonly [Code in CommandFinding['code']]: (of: Of<Code>) => Note } = {
  'no-network': noNetwork,
  'outside-workspace': ({ subject, workspace, why }) => {
    const happened = {
      refused: `The sandbox refused access to ${subject}, which is outside the workspace.`,
      hidden: `The sandbox does not show ${subject} to commands: it is outside the workspace.`,
      home: `Commands do not see your home directory: ${subject} is in one of their own, which is empty.`,
      skill: `The sandbox refused to change ${subject}: the directory of a skill is read-only.`,
    }[why]
    return note(`${happened} Commands keep files only in the workspace.`, `Use a path in ${workspace}.`)
  },
  'home-discarded': ({ subject, others, workspace }) =>
    note(
      `${subject}${others > 0 ? ` and ${others} more ${others === 1 ? 'file' : 'files'} were` : ' was'} not kept. Nexus removes the home directory of a command when it ends.`,
      `Write to a path in ${workspace} instead.`,
    ),
  'install-refused': ({ subject, packages, typed, lackedBy }) => {
    if (lackedBy !== undefined) return noModule(subject, lackedBy)
    return note(
      `${subject} installed nothing: commands cannot change the programs of this machine, and the sandbox has no network.`,
      packages === undefined
        ? `Install it outside the sandbox: ${typed ?? subject}`
        : `${pipInstall(packages)} and the command that needs it.`,
    )
  },
  'resource-limit': ({ subject, setting }) =>
    note(
      `The command reached its limit on ${subject}.`,
      `Use less, or raise execution.limits.${setting} in ~/.nexus/nexus.yaml.`,
    ),
  'program-missing': ({ subject, onHost }) =>
    onHost === undefined
      ? note(
          `The command did not find the program '${subject}': it is not installed here.`,
          'Install it for all users of this machine (in /usr/local/bin), or use another program.',
        )
      : note(
          `The command did not find the program '${subject}': commands do not see ${onHost}.`,
          'Install it for all users of this machine (in /usr/local/bin), or use another program.',
        ),
  'file-missing': fileMissing,
  'file-in-skill': ({ subject, path, isTyped }) =>
    note(
      `The command did not find ${subject} in the workspace: it is a file of a skill.`,
      `Use its full path: ${filesOf([path], isTyped)}`,
    ),
  'not-executable': (of) =>
    of.isBinary
      ? note(
          `The system cannot run ${scriptName(of)}: it is not a program for this system.`,
          'Use a script, or a program built for Linux on this processor.',
        )
      : note(
          `The system did not run ${scriptName(of)}: the file is not executable.`,
          `Run it through its interpreter: ${of.interpreter ?? 'bash'} ${of.subject}. ${change('Or make it executable', 'chmod +x', of)}`,
        ),
  'interpreter-missing': (of) =>
    note(
      `The system did not run ${scriptName(of)}: the sandbox has no ${of.interpreter ?? 'program of the name in its first line'}.`,
      `Change the first line of ${of.inSkill?.original ?? 'the file'}, or name an interpreter in the command.`,
    ),
  'interpreter-cr': (of) =>
    note(
      `The system did not run ${scriptName(of)}: its lines end with a carriage return (Windows line ends).`,
      change('Convert it', String.raw`sed -i 's/\r$//'`, of),
    ),
  'variable-not-given': ({ subject, why, skill, setting, givenTo = [] }) => {
    const { message, fix } = REASONS[why]({ skill, setting, name: subject, givenTo })
    return note(`The command did not get the variable ${subject}: ${message}`, fix)
  },
  'time-limit': ({ subject, maxSeconds, file, isTyped }) => {
    const setting = `execution.timeoutMs${file === undefined ? '' : ` in ${file}`}`
    return note(
      `The time limit of this command was ${subject}.`,
      isTyped
        ? `Give it more time: --timeout SECONDS (at most ${maxSeconds}). For all commands, set ${setting}.`
        : `Give it more time: a larger timeout_sec (at most ${maxSeconds}). For all commands, the user can set ${setting}.`,
    )
  },
  'old-revision': ({ subject }) =>
    note(
      `The command used old files of the skill '${subject}': the skill changed after you loaded it.`,
      `Load '${subject}' again and use its new directory.`,
    ),
}

function fileMissing({ subject, directory, skill, near, isTyped, isTilde = false }: Of<'file-missing'>): Note {
  if (skill !== undefined)
    return note(
      `The skill '${skill}' has no file ${subject}.`,
      near.length === 0 ? 'It has no file but SKILL.md.' : `Use one that it has: ${filesOf(near, isTyped)}`,
    )
  if (isTilde)
    return note(
      `The command did not find '${subject}': the shell does not replace ~ in quotes. Without quotes, ~ is an empty directory of the command's own.`,
      `Use a path in ${directory}.`,
    )
  const place = isTyped
    ? 'Give a path relative to that directory, or a full path.'
    : "Give the file's full path, or set cwd."
  return note(
    `The command did not find the file '${subject}'. It started in ${directory}.`,
    near.length > 0 ? `If you mean a file of the skill, use: ${filesOf(near, isTyped)}` : place,
  )
}

function pipInstall(packages: readonly string[]): string {
  return `Install it into the workspace, outside the sandbox: pip install --target vendor ${packages.join(' ')}. Then run: env PYTHONPATH=vendor`
}

function noModule(name: string, program: 'Python' | 'Node'): Note {
  return note(
    `${program} has no module ${name} where commands run, and the sandbox has no network to install it.`,
    program === 'Python'
      ? `${pipInstall([name])} and the same command.`
      : `Install it outside the sandbox, in the directory of the script or above it: npm install ${name}. Then run the same command again.`,
  )
}

function noNetwork({ subject, line, isLocal = false }: Of<'no-network'>): Note {
  const wrote = line === undefined ? '' : ` It wrote: "${line}".`
  if (isLocal)
    return note(
      `Nothing answered at ${subject}.${wrote} Commands reach only servers that they start themselves.`,
      'Start the server in the same command.',
    )
  return note(
    `The command could not reach ${subject}: the sandbox has no network.${wrote} Commands can use files in the workspace, and servers that they start themselves.`,
    'Put what the command needs into the workspace, then run it again.',
  )
}

/** As they are used in a command. The path of a placed copy changes with the skill, so a person types `{baseDir}`. */
function filesOf(files: readonly SkillPath[], isTyped: boolean): string {
  return files.map(({ path, typed }) => (isTyped ? typed : path)).join(', ')
}

/** The path of a placed copy is long, and the user does not know it. */
function scriptName({ subject, inSkill }: ScriptFile): string {
  return inSkill?.original === undefined ? `'${subject}'` : toSafeLine(inSkill.original)
}

/** What to type to change the file. The copy of a skill is read-only, so it is the user's own file. */
function change(what: string, program: string, { subject, inSkill }: ScriptFile): string {
  if (!inSkill) return `${what}: ${program} ${subject}`
  const { original } = inSkill
  return original === undefined
    ? `${what} in the skill itself, outside the sandbox.`
    : `${what} outside the sandbox: ${program} ${shellWord(original)}`
}

interface Variable {
  readonly name: string
  readonly skill: string
  readonly setting: string
  readonly givenTo: readonly string[]
}

const REASONS: { readonly [Why in VariableReason]: (of: Variable) => Note } = {
  refused: ({ setting }) =>
    note(
      'Nexus gives no command a variable that controls other programs.',
      `Remove it from ${setting}, or use another name.`,
    ),
  undeclared: ({ name, skill, setting }) =>
    note(
      `${setting} sets it, but the skill '${skill}' does not declare it.`,
      `Add ${name} to requires.env in its SKILL.md.`,
    ),
  'not-configured': ({ setting }) => note('no configuration sets it.', `Set ${setting} in nexus.yaml.`),
  denied: () => note('the policy of this agent denies run_command.secrets.', 'Ask the user to change it.'),
  shadowed: ({ skill }) =>
    note(
      `'${skill}' is not the active copy of its skill, and only that one gets variables of skills.entries.`,
      'Use the active copy.',
    ),
  'no-skill-named': ({ skill }) => note('the call names no skill.', `Call again with skill_name "${skill}".`),
  'not-declared': ({ name, skill, setting, givenTo }) =>
    note(
      `the skill '${skill}' does not declare it.${onlyFor(givenTo)}`,
      `Add ${name} to requires.env in the SKILL.md of '${skill}', and set ${setting} in nexus.yaml.`,
    ),
  'no-skill': ({ givenTo }) =>
    note(
      `commands get only what nexus.yaml sets for their skill.${onlyFor(givenTo)}`,
      givenTo.length > 0
        ? `Load '${givenTo[0]}', then call again with skill_name "${givenTo[0]}".`
        : 'Write the value into the command if it is not a secret. Else the user adds it to a skill.',
    ),
}

function onlyFor(skills: readonly string[]): string {
  return skills.length === 0 ? '' : ` Only ${skills.map((name) => `'${name}'`).join(', ')} gets it.`
}
