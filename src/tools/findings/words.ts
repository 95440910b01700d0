/** Every sentence about how a command ended: one row a code. What happened, why, and one next step. */
import { toSafeLine } from '../../kernel/index.ts'
import type { CommandFinding, VariableReason } from './finding.ts'

type Of<Code extends CommandFinding['code']> = Extract<CommandFinding, { code: Code }>

/** The note for a finding, in one line. */
export function wordsOf(finding: CommandFinding): string {
  const row = WORDS[finding.code] as (of: CommandFinding) => string
  return toSafeLine(row(finding))
}

const WORDS: { readonly [Code in CommandFinding['code']]: (of: Of<Code>) => string } = {
  'no-network': noNetwork,
  'outside-workspace': ({ subject, workspace, why }) => {
    const happened = {
      refused: `The sandbox refused access to ${subject}, which is outside the workspace.`,
      hidden: `The sandbox does not show ${subject} to commands: it is outside the workspace.`,
      skill: `The sandbox refused to change ${subject}: the directory of a skill is read-only.`,
    }[why]
    return `${happened} Commands keep files only in the workspace. Use a path in ${workspace}.`
  },
  'home-discarded': ({ subject, others }) =>
    `${subject}${others > 0 ? ` and ${others} more` : ''} did not last: the home directory of a command is removed when it ends. Write to the workspace instead.`,
  'program-missing': ({ subject, onHost }) =>
    onHost === undefined
      ? `The command did not find the program '${subject}': it is not installed here. Install it for all users of this machine, or use another program.`
      : `The command did not find the program '${subject}': commands do not see ${onHost}. Install it for all users of this machine (in /usr/local/bin), or use another program.`,
  'file-missing': ({ subject, directory }) =>
    `The command did not find the file '${subject}'. It started in ${directory}. Give the file's full path, or set cwd.`,
  'file-in-skill': ({ subject, path }) =>
    `The command did not find ${subject} in the workspace: it is a file of a skill. Use its full path: ${path}`,
  'not-executable': ({ subject, isBinary }) =>
    isBinary
      ? `The system cannot run '${subject}': it is not a program for this system. Use a script, or a program built for Linux on this processor.`
      : `The system did not run '${subject}': the file is not executable. Run it through its interpreter (bash ${subject}), or run chmod +x first.`,
  'interpreter-missing': ({ subject, interpreter }) =>
    `The system did not run '${subject}': the sandbox has no ${interpreter ?? 'program of the name in its first line'}. Change the first line of the file, or name an interpreter in the command.`,
  'interpreter-cr': ({ subject, isInSkill }) =>
    `The system did not run '${subject}': its lines end with a carriage return (Windows line ends). ${
      isInSkill ? 'Ask the user to convert the file in the skill itself.' : `Convert it: sed -i 's/\\r$//' ${subject}`
    }`,
  'variable-not-given': ({ subject, why, skill, setting }) =>
    `The command did not get the variable ${subject}: ${REASONS[why]({ skill, setting, name: subject })}`,
  'time-limit': ({ subject, maxSeconds, file }) =>
    `The time limit of this command was ${subject}. Call again with a larger timeout_sec (at most ${maxSeconds}). The setting for all commands is execution.timeoutMs${file === undefined ? '' : ` in ${file}`}.`,
  'old-revision': ({ subject }) =>
    `The command used old files of the skill '${subject}': the skill changed after you loaded it. Load '${subject}' again and use its new directory.`,
}

function noNetwork({ subject, line, isLocal = false }: Of<'no-network'>): string {
  const quoted = line === undefined ? '' : ` It wrote: "${line}".`
  if (isLocal)
    return `Nothing answered at ${subject}.${quoted} Commands reach only servers that they start themselves. Start the server in the same command.`
  return `The command could not reach ${subject}: the sandbox has no network.${quoted} Commands can use files in the workspace, and servers that they start themselves. Put what the command needs into the workspace, then run it again.`
}

interface Variable {
  readonly name: string
  readonly skill: string
  readonly setting: string
}

const REASONS: { readonly [Why in VariableReason]: (of: Variable) => string } = {
  refused: ({ setting }) =>
    `Nexus gives no command a variable that controls other programs. Remove it from ${setting}, or use another name.`,
  undeclared: ({ name, skill, setting }) =>
    `${setting} sets it, but the skill '${skill}' does not declare it. Add ${name} to requires.env in its SKILL.md.`,
  'not-configured': ({ setting }) => `no configuration sets it. Set ${setting} in nexus.yaml.`,
  denied: () => 'the policy of this agent denies run_command.secrets. Ask the user to change it.',
  shadowed: ({ skill }) =>
    `'${skill}' is not the active copy of its skill, and only that one gets variables of skills.entries. Use the active copy.`,
  'no-skill-named': ({ skill }) => `the call names no skill. Call again with skill_name "${skill}".`,
}
