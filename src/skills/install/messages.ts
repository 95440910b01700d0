/** messages: every sentence about getting skills, as a message and its fix. */
import { commandFix, type ErrorCode, NexusError, type ProposedCommand, toSafeLine } from '../../kernel/index.ts'

interface Message {
  readonly message: string
  readonly fix?: string
  readonly proposal?: ProposedCommand
  readonly path?: string
}

/** An error in the words of this module. */
export function installError(code: ErrorCode, { message, ...rest }: Message, cause?: unknown): NexusError {
  return new NexusError(code, message, { ...rest, cause })
}

const EXAMPLE =
  'Write, for example: owner/repo, owner/repo@skill, https://host/team/skills#v1.2, ./folder or ./skills.zip'
const safe = (text: unknown): string => toSafeLine(String(text)).slice(0, 300)
const mib = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MiB`

export const MESSAGES = {
  // The source as typed
  notALocator: (what: string) => ({
    message: `Nothing was fetched: '${safe(what)}' names no source of skills.`,
    fix: EXAMPLE,
  }),
  schemeRefused: (url: string) => ({
    message: `Nothing was fetched: git may use https and ssh only, and the address is '${safe(url)}'.`,
    fix: 'Use the https:// or ssh:// address of the repository.',
  }),
  plainHttp: (url: string) => ({
    message: `Nothing was fetched: '${safe(url)}' is not encrypted, and anyone on the way could change the skill.`,
    fix: 'Use its https:// address.',
  }),
  passwordInUrl: (url: string) => ({
    message: `Nothing was fetched: the address of ${safe(url)} contains a user name or a password.`,
    fix: 'Remove it, and keep the password in a credential helper of git (git config --global credential.helper).',
  }),
  refRefused: (ref: string) => ({
    message: `Nothing was fetched: '${safe(ref)}' is not the name of a branch, tag or commit.`,
    fix: 'Write the name as the git host shows it, such as #main or #v1.2.',
  }),
  pathRefused: (path: string) => ({
    message: `Nothing was fetched: '${safe(path)}' is not a directory inside a repository.`,
    fix: 'Write the path from the root of the repository, such as skills/pdf.',
  }),
  noFolder: (path: string) => ({
    message: `Nothing was installed: ${safe(path)} is no folder.`,
    fix: EXAMPLE,
    path,
  }),
  noArchive: (path: string) => ({
    message: `Nothing was installed: ${safe(path)} is no file.`,
    fix: EXAMPLE,
    path,
  }),
  archiveRefused: (path: string, why: string) => ({
    message: `Nothing was installed: the archive ${safe(path)} ${safe(why)}.`,
    fix: 'Ask its author for an archive made with: zip -r skill.zip <folder>',
    path,
  }),
  downloadFailed: (url: string, status: number) => ({
    message: `Nothing was installed: ${safe(url)} answers with status ${status}.`,
    fix: 'Check the address in a browser.',
  }),
  // Programs that skills need
  otherDownload: (url: string, expected: string, got: string) => ({
    message: `Nothing was installed: ${safe(url)} has the sha256 ${got}, and the skill says ${expected}.`,
    fix: 'Do not use the file. Report it to the author of the skill.',
  }),
  noInstaller: (name: string) => ({
    message: `Nothing was installed: '${safe(name)}' is not on your PATH outside of the workspace.`,
    fix: `Install ${safe(name)} first, or take another way that this lists: nexus skills deps <name>`,
  }),
  installerFailed: (command: readonly string[], why: string, said: readonly string[]) => ({
    message: `The command ${safe(command.join(' '))} ${safe(why)}.${said.join('') === '' ? '' : ` It says: ${safe(said.join(' · '))}`}`,
    fix: 'Run it in a terminal to see all that it says.',
  }),
  // The server
  noGit: (why: string) => ({
    message: `Skills of git repositories need git, which ${safe(why)}.`,
    fix: 'Install git, for example: apt install git',
  }),
  gitSlow: (url: string, why: string) => ({
    message: `Nothing was changed: fetching ${safe(url)} ${safe(why)}.`,
    fix: 'Try again when the server is faster.',
  }),
  gitFailed: (url: string, said: string) => ({
    message: `Nothing was changed: ${safe(url)} could not be fetched. Git says: ${safe(said)}`,
    fix: 'Check the address, your rights and the network with: git ls-remote <address>',
  }),
  objectMissing: (url: string) => ({
    message: `Nothing was changed: ${safe(url)} did not send all files of the commit.`,
    fix: 'Try again. If it fails again, the repository is damaged: report it to its owner.',
  }),
  repositoryTooLarge: (url: string, most: number) => ({
    message: `Nothing was changed: ${safe(url)} sends more than ${mib(most)}.`,
    fix: 'Ask its owner to keep skills in a repository of their own.',
  }),
  emptyRepository: (url: string) => ({
    message: `Nothing was changed: ${safe(url)} has no default branch with a commit.`,
    fix: 'Name a branch after the address, such as #main.',
  }),
  refMissing: (url: string, ref: string) => ({
    message: `Nothing was changed: ${safe(url)} has no branch or tag '${safe(ref)}'.`,
    fix: 'List what it has with: git ls-remote <address>',
  }),
  branchGone: (url: string, ref: string) => ({
    message: `The branch '${safe(ref)}' of ${safe(url)} is gone. The installed copy stays.`,
    fix: 'Install the skill again from a branch that is there.',
  }),
  // Skills
  noSkills: (source: string) => ({
    message: `Nothing was installed: ${safe(source)} has no SKILL.md.`,
    fix: 'Name the repository or folder that contains one.',
  }),
  skillNotThere: (name: string, source: string, names: readonly string[]) => ({
    message: `Nothing was installed: ${safe(source)} has no skill '${safe(name)}'.`,
    fix: `It has: ${names.slice(0, 40).map(safe).join(', ') || 'none that can be read'}.`,
  }),
  twoOfOneName: (name: string, paths: readonly string[]) => ({
    message: `Nothing was installed: ${paths.length} skills would be placed as '${safe(name)}': ${paths.map(safe).join(', ')}.`,
    fix: `Name the directory of the one that you want, such as owner/repo/${safe(paths[0])}.`,
  }),
  noSkillFile: (name: string) => ({
    message: `The skill '${safe(name)}' cannot be installed: its SKILL.md cannot be read.`,
    fix: 'Report it to its author, with the output of: nexus skills validate <path>',
  }),
  badFileName: (name: string, path: string) => ({
    message: `The skill '${safe(name)}' cannot be installed: '${safe(path)}' is no name that every system can use.`,
    fix: 'Ask its author to rename the file.',
  }),
  embeddedRepository: (name: string, path: string) => ({
    message: `The skill '${safe(name)}' cannot be installed: '${safe(path) || '.'}' is a repository of git, whose configuration could start programs.`,
    fix: 'Ask its author to remove it, or to keep it as an archive.',
  }),
  namesCollide: (name: string, a: string, b: string) => ({
    message: `The skill '${safe(name)}' cannot be installed: '${safe(a)}' and '${safe(b)}' are one file on some systems.`,
    fix: 'Ask its author to rename one of them.',
  }),
  tooManyFiles: (name: string, count: number) => ({
    message: `The skill '${safe(name)}' cannot be installed: it has ${count} files, and 2000 are allowed.`,
    fix: 'Ask its author to pack what belongs together.',
  }),
  fileTooLarge: (path: string, size: number) => ({
    message: `Nothing was installed: '${safe(path)}' has ${mib(size)}, and 10 MiB are allowed.`,
    fix: 'Ask its author to let the skill download it when it is needed.',
  }),
  tooMuch: (bytes: number) => ({
    message: `Nothing was installed: the skill has ${mib(bytes)}, and 50 MiB are allowed.`,
    fix: 'Ask its author to make it smaller.',
  }),
  notInLock: (name: string, names: readonly string[]) => ({
    message: `Nothing was changed: no skill '${safe(name)}' is in the lock.`,
    fix:
      names.length === 0
        ? 'Install one with: nexus skills install owner/repo'
        : `In the lock: ${names.map(safe).join(', ')}.`,
  }),
  notOurs: (place: string) => ({
    message: `Nothing was changed: ${safe(place)} is there already, and the lock does not have it.`,
    fix: 'Move it away, or replace it and keep a copy with --overwrite and its name.',
  }),
  linkTaken: (path: string) => ({
    message: `Nothing was changed: ${safe(path)} is there already, and is not a link to the installed copy.`,
    fix: 'Move it away, or install without --client.',
  }),
  seatOutside: (path: string) => ({
    message: `Nothing was changed: ${safe(path)} is a link, and Nexus places nothing through links.`,
    fix: 'Replace the link by a directory, or install without --client.',
    path,
  }),
  notOfSkill: (place: string, names: readonly string[]) => ({
    message: `Nothing was changed: ${safe(place)} contains what no skill contains: ${names.slice(0, 20).map(safe).join(', ')}.`,
    fix: 'Move it out of this directory. Then try again.',
  }),
  edited: (name: string, files: readonly string[], command: readonly string[]) => ({
    message: `Nothing was changed: the copy of '${safe(name)}' has local edits: ${files.slice(0, 20).map(safe).join(', ')}.`,
    ...commandFix('To replace them, and keep a copy of these files:', ...command, '--overwrite', name),
  }),
  pinned: (name: string) => ({
    message: `'${safe(name)}' stays as it is: it is pinned.`,
    ...commandFix('To let it be updated:', 'skills', 'unpin', name),
  }),
  nothingBefore: (name: string) => ({
    message: `Nothing was changed: no earlier revision of '${safe(name)}' is kept on this machine.`,
    fix: 'Install the revision that you want by its tag or commit, such as owner/repo#v1.1.',
  }),
  notTheSame: (name: string, expected: string, got: string) => ({
    message: `Nothing was changed: '${safe(name)}' is not what the lock says: its source gives ${got.slice(0, 19)}…, the lock has ${expected.slice(0, 19)}….`,
    fix: 'Its source was changed after it was locked. Compare both before you trust either.',
  }),
  skillGone: (name: string, url: string) => ({
    message: `The newest commit of ${safe(url)} has no skill at the path of '${safe(name)}'. The installed copy stays.`,
    fix: 'Its author moved or removed it. Install it again from its new path, or remove it.',
  }),
  lockChanged: (name: string) => ({
    message: `Nothing was changed: the lock has another revision of '${safe(name)}' than before the files were fetched.`,
    fix: 'Another program changed the lock meanwhile. Try again.',
  }),
  revisionDamaged: (name: string) => ({
    message: `Nothing was changed: the revision of '${safe(name)}' that this machine kept is damaged. It is removed now.`,
    fix: 'Try again: the files are fetched from the source.',
  }),
  npmSource: (name: string, type: string) => ({
    message: `Nothing was changed: skills-lock.json says that '${safe(name)}' comes from '${safe(type)}', which Nexus does not read.`,
    fix: 'Install it from a git address or an archive, and remove its entry.',
  }),
  cannotRestore: (name: string) => ({
    message: `Nothing was changed: '${safe(name)}' came from a folder or file of another machine, and this one has no copy.`,
    fix: 'Install it again from its folder or file, then commit the lock.',
  }),
  policyBlocked: (name: string, why: string) => ({
    message: `Nothing was changed: your install policy blocks '${safe(name)}'${why === '' ? '' : `: ${safe(why)}`}.`,
    fix: 'The program is skills.install.policy of your nexus.yaml. Ask who keeps it.',
  }),
  policyWarned: (names: readonly string[], why: string, command: readonly string[]) => ({
    message: `Nothing was changed: your install policy warns of ${names.map(safe).join(', ')}${why === '' ? '' : `: ${safe(why)}`}.`,
    ...commandFix('If you take it all the same:', ...command, '--accept', names.join(',')),
  }),
  // The lock and the place
  lockMissing: (path: string) => ({
    message: `There is no lock: ${safe(path)}.`,
    fix: 'Install a skill first with: nexus skills install owner/repo',
    path,
  }),
  cannotLock: (name: string) => ({
    message: `Nothing was changed: the lock cannot hold '${safe(name)}', for the name of its branch, directory or a file.`,
    fix: 'Ask its author to use plain names, or install it by a tag or commit, such as owner/repo#v1.1.',
  }),
  lockConflict: (path: string) => ({
    message: `${safe(path)} has conflict markers of git.`,
    fix: 'Keep one side for each skill, remove the markers, then run: nexus skills ci',
    path,
  }),
  lockSyntax: (path: string, why: string) => ({
    message: `${safe(path)} cannot be read: ${safe(why)}.`,
    fix: `Restore it from git, for example: git checkout -- ${safe(path)}`,
    path,
  }),
  lockVersion: (path: string, version: unknown) => ({
    message: `${safe(path)} has the format ${safe(JSON.stringify(version))}, and this Nexus reads format 1.`,
    fix: 'Update Nexus: npm install -g nexus-skills@latest',
    path,
  }),
  lockEntry: (path: string, place: string, what: string) => ({
    message: `${safe(path)}: the entry '${safe(place)}' cannot be used: ${what} is wrong.`,
    fix: `Restore it from git, for example: git checkout -- ${safe(path)}`,
    path,
  }),
  rootOutside: (path: string) => ({
    message: `Nothing was changed: ${safe(path)} leads out of the workspace, or is no directory.`,
    fix: 'Replace the link by a directory.',
    path,
  }),
  unsafeHome: (why: string) => ({
    message: `Nothing was changed: fetched skills cannot be kept: ${safe(why)}.`,
    fix: 'Take the right to write there from other users: chmod go-w <directory>',
  }),
} as const satisfies Readonly<Record<string, (...facts: never[]) => Message>>
