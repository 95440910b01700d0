/** notes: what is printed besides errors: verdicts, questions, hints and summaries. `line` is always a whole command. */
import { toSafeLine } from '../../../kernel/index.ts'

/** A number with its noun. */
export function many(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

export const NOTES = {
  cancelling: (seconds: number) => `\nCancelling … Press Ctrl-C again to stop after ${seconds} s at most.`,
  outputFailed: (why: string) => `error: the output could not be written: ${why}`,
  explain: (line: string) => `What a code means, with an example: ${line}`,
  askAgain: (line: string) => `When that is done, ask again: ${line}`,
  compiled: (place: string | undefined, why: string | undefined) =>
    place === undefined ? `commands start more slowly: ${why}` : `compiled code is kept in ${place}`,
  // The store
  storeInMemory: () => 'Nothing is kept: store.type is memory.',
  stepApplied: (version: number, name: string) => `applied ${version}: ${name}`,
  migrateHint: (steps: string, line: string) =>
    `${steps} of the schema will be applied by the next command that uses the store, or now with: ${line}`,
  // Skills
  noneReady: () => 'No skill is ready.',
  peopleOnly: () => 'people only',
  notInvocable: () => 'nothing starts it',
  /** Nothing is said of skills that only people start where there are none. */
  counts: (counts: Readonly<Record<'ready' | 'notForModel' | 'held' | 'shadowed' | 'invalid', number>>) => {
    const { ready, notForModel, held, shadowed, invalid } = counts
    const others = notForModel === 0 ? '' : ` (and ${notForModel} not for the model)`
    return `${ready} ready${others}, ${held} held, ${shadowed} shadowed, ${invalid} invalid`
  },
  readyWithWarnings: (names: string, count: number, line: string) =>
    `${count} ready with warnings: ${names}. To see them: ${line}`,
  everyRule: (line: string) => `Every rule that has a part in it: ${line}`,
  ruleAt: (rule: string, place: string) => `The line ${rule} is in ${place}.`,
  silent: (end: string) =>
    `The command ended with ${end} and wrote nothing. Commands have no standard input: one that reads it gets nothing.`,
  inputNotPassed: () =>
    'The command did not get your standard input. Save it to a file of the workspace, and have the command read that file.',
  waitsForAnswer: (line: string) => `The call waits for your answer. To allow it: ${line}`,
  othersHint: (line: string) => `For the reasons: ${line}`,
  trustHint: (line: string) =>
    `No command runs in this workspace until you trust it. Inspect its skills and its nexus.yaml, then run: ${line}`,
  duplicateOf: (winner: string) => `duplicate of ${winner}`,
  shadowedBy: (winner: string, file: string) => `shadowed by ${winner} (${file})`,
  unreadFolder: (path: string, line: string) =>
    `Not searched: ${path} contains skills of another program. To include them, add it to skills.load.extraDirs in nexus.yaml, or once: ${line}`,
  skillsAbove: (folder: string, directory: string) =>
    `Not searched: ${folder} contains skills, but it is above your workspace. To use them: cd ${directory}`,
  clientUnchanged: (file: string) => `Nothing to change in ${file}.`,
  clientNotWritten: (file: string) => `Nothing was written (--dry-run): ${file}`,
  clientWritten: (file: string) => `Changed ${file}`,
  clientForeign: (file: string) => `This entry of ${file} is not one of Nexus. Change it? A copy of the file is kept.`,
  clientCopy: (file: string) => `A copy of the old file: ${file}`,
  clientNext: (title: string, line: string) => `Next: restart ${title}. To check the entry: ${line}`,
  clientStartsCache: () =>
    'The entry starts Nexus from the cache of npx, which npm may remove. Install it first: npm install -g nexus-skills',
  clientPathsOfThisMachine: () =>
    'The paths in this file are those of this machine. Others of the team run the same command.',
  clientAnswered: (answer: { readonly protocol: string; readonly tools: number; readonly ms: number }) =>
    `answered in ${answer.ms} ms: MCP ${answer.protocol}, ${many(answer.tools, 'tool')}`,
  checkedAgainst: (target: string) => `Checked against: ${target}`,
  made: (file: string) => `Made ${file}`,
  fillIn: (hasDescription: boolean, line: string) =>
    `Next: write ${hasDescription ? '' : 'its description and '}its instructions, then check it: ${line}`,
  variableGiven: (name: string) => `${name} is given to its commands`,
  variableNotGiven: (name: string, why: string) => `${name} is not given to its commands: it ${why}`,
  installUntrusted: () => 'what it proposes to install is not shown, because its source is untrusted',
  installCommandUntrusted: () => 'its source is untrusted',
  installProposed: (what: string) => `The skill proposes to install what is missing: ${what}. Nexus does not run it.`,
  fixable: () => 'Nexus can write some of the fixes: add --fix to the same command.',
  migrated: (changed: number, all: string, isWritten: boolean) =>
    `${changed} of ${all} ${isWritten ? 'changed' : 'would change'}`,
  migratesOther: (client: string, files: readonly string[]) =>
    [`These files are in a folder of ${client}, which reads them too:`, ...files].join('\n'),
  rewriteQuestion: () => 'Rewrite them for Nexus?',
  // The prompt
  // Workspaces and trust
  meaningOfTrust: (directory: string, hasSettings: boolean) =>
    `${directory} is untrusted. Its skills instruct the model and run commands in the sandbox.${hasSettings ? ' Its nexus.yaml changes settings.' : ''}`,
  lostTrust: (directory: string, settings: readonly string[]) =>
    `Some settings of ${directory} are untrusted, because they were edited after you trusted it: ${settings.map(toSafeLine).join(', ')}.`,
  changedMeanwhile: () => 'The configuration changed while the question was open.',
  trustQuestion: () => 'Trust this workspace from now on?',
  trustForOnce: (directory: string) => `--trust applies the settings of ${directory}.`,
  /** How commands run in a directory. */
  workspaceMode: {
    mirror: 'commands run in a copy of it',
    direct: 'commands run in it, without a copy',
    unconfined: 'commands run in it as you, outside the sandbox',
  },
  trustRemoved: (directory: string) => `Untrusted from now on: ${directory}`,
  trustWasNot: (directory: string) => `${directory} was not trusted.`,
  trustRefused: (directory: string) => `Still untrusted: ${directory}`,
  trusted: (now: {
    directory: string
    /** Of the files that were shown; undefined when there is none. */
    sections: readonly string[] | undefined
    isSame: boolean
    line: string
  }) =>
    [
      `Trusted: ${now.directory}`,
      '  skills    all in its folders, also those that are added or changed later',
      now.sections
        ? `  settings  ${now.sections.join(', ') || 'none'}, as they are now. If you edit them to allow more, run ${now.line} again.`
        : `  settings  none, because there is no nexus.yaml. If you add one, run ${now.line} again.`,
      ...(now.isSame ? [] : [`  The file changed while you read it. Run: ${now.line}`]),
    ].join('\n'),
  pathsAtCall: () =>
    `The tool compares its path with these limits. To see a path decided, give it: --args '{"path":"notes.txt"}'`,
  overMcp: () =>
    'Over MCP Nexus does not ask about this call: the agent has neither preset nor permissions, and the client asks its own user.',
  serverAbsent: (tool: string) =>
    `No MCP server with ${toSafeLine(tool)} is connected, so a call of it fails as an unknown tool. This is what the rules say of it.`,
  runsAsUser: () => 'These run as you, outside the sandbox, with your files and your network:',
  contacts: () => 'Nexus contacts or reads these with your rights:',
  unconfined: () =>
    'WARNING: sandbox none. Commands run as you, with your files and your network. Use it only for skills that you wrote.',
  /** `more`: arguments besides the command, as JSON. */
  mayRun: (tool: string, more: string | undefined) =>
    `The agent wants to run ${tool}${more === undefined ? '' : ` with ${more}`}, and its policy asks you first:`,
  allowQuestion: () => 'Allow it?',
  yesOrNo: () => 'Type y or n.',
  // Sessions and turns
  noShadowed: (agent: string | undefined) =>
    `No shadow would have decided a recorded call of ${agent === undefined ? 'this workspace' : toSafeLine(agent)} differently.`,
  noShadow: () => 'No agent has a shadow. Add shadow: ID to an agent in nexus.yaml, with the id of another agent.',
  noArtifact: () => 'The demo wrote no file. The ledger above shows what happened.',
  // Configuration
  noConfig: () => 'There is no nexus.yaml, so the defaults apply.',
  noModel: (line: string) => `none configured. To play a recorded one: ${line}`,
} as const

/** What became of a skill, after its name. */
export const HEADLINES = {
  verdicts: {
    ready: 'is offered to the model',
    unloadable: 'is offered to the model, but cannot be loaded',
    held: 'is held',
    shadowed: 'is shadowed by another copy',
    invalid: 'is invalid: it cannot be read as a skill',
    missing: 'was not found',
  },
  /** Of skills that are ready, and still not simply offered, by the code of the first finding. */
  ready: {
    'over-budget-omitted': 'is ready, but left out of the prompt',
    'person-only': 'is ready, for people only',
    'not-invocable': 'is ready, but neither a model nor a person may start it',
    'no-loader': 'is ready, but its agent cannot load it',
    'workspace-untrusted': 'is ready, but its commands wait until you trust the workspace',
  } as Readonly<Record<string, string>>,
} as const
