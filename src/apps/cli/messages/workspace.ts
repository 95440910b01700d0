import { dirname } from 'node:path'
import { commandFix, shellWord, toSafeLine } from '../../../kernel/index.ts'
import type { Messages } from './message.ts'

/** Errors of workspaces, trust, configuration and sessions. */
export const WORKSPACE_MESSAGES = {
  skillsDirMissing: (given: string, path: string) => ({
    message: `--skills-dir ${toSafeLine(given)}: the directory ${toSafeLine(path)} does not exist.`,
    ...commandFix(
      'Name a directory that exists, or make it with a first skill:',
      'skills',
      'init',
      'my-skill',
      '--path',
      given,
    ),
  }),
  notADirectory: (given: string) => ({
    message: `${toSafeLine(given)} is a file, not a directory.`,
    fix: `Give its directory: ${shellWord(dirname(given))}`,
  }),
  unknownClient: (given: string, { near, known }: { near: string | undefined; known: readonly string[] }) => ({
    message: `Nexus does not know the client ${toSafeLine(given)}.`,
    fix: near === undefined ? `Name one of: ${known.join(', ')}.` : `Did you mean ${near}?`,
  }),
  notInstalled: (client: { readonly id: string; readonly title: string } | undefined) => ({
    message:
      client === undefined
        ? 'No client has an entry that starts Nexus.'
        : `${client.title} has no entry that starts Nexus.`,
    ...commandFix('Add one:', 'mcp', 'install', client?.id ?? 'claude-code'),
  }),
  clientNeedsWorkspace: (title: string, directory: string) => ({
    message: `${title} starts servers in no project, and ${directory} is not one.`,
    fix: 'Name the project: --workspace DIR',
  }),
  untrusted: (why: string, where: { directory: string; configFile?: string | undefined }) => ({
    message: why,
    ...commandFix(
      'For this run only, add --trust. To trust it from now on, read it and then run:',
      'trust',
      where.directory,
      ...(where.configFile === undefined ? [] : ['--config', where.configFile]),
    ),
  }),
  untrustedHome: (why: string) => ({
    message: why,
    fix: 'For this run only, add --trust. To trust it from now on, set NEXUS_HOME to a directory outside the workspace first.',
  }),
  trustNeedsAnswer: (directory: string, items: string) => ({
    message: `${toSafeLine(directory)} is still untrusted. These settings need your consent, and there is no terminal to ask you.\n${items}`,
    ...commandFix('Read the list, then run:', 'trust', directory, '--yes'),
  }),
  trustCannotRemember: (directory: string, nexusHome: string) => ({
    message: `The workspace ${toSafeLine(directory)} contains your list of trusted workspaces (${toSafeLine(nexusHome)}, because of HOME). It could trust itself.`,
    fix: 'Set HOME or NEXUS_HOME to a directory of yours outside the workspace. --trust trusts for one run.',
  }),
  trustUnreadable: (path: string) => ({
    message: `The workspace is still untrusted: Nexus cannot read ${toSafeLine(path)}, so it cannot show what you would trust.`,
    ...commandFix('Correct the file. To check it:', 'config', 'check'),
  }),
  trustNoDirectory: (directory: string) => ({
    message: `The directory ${toSafeLine(directory)} does not exist.`,
    ...commandFix('Name the directory of a workspace. To see those that are trusted:', 'trust', '--list'),
  }),
  trustPartOfWorkspace: (given: string, directory: string) => ({
    message: `${toSafeLine(given)} is not a workspace. It is part of the workspace ${toSafeLine(directory)}.`,
    ...commandFix('To trust the whole workspace:', 'trust', directory),
  }),
  trustListTakesNo: (other: string) => ({
    message: `nexus trust --list shows all workspaces and takes no ${other}.`,
    ...commandFix('Type:', 'trust', '--list'),
  }),
  noCommandsHere: (why: string) => ({
    message: why,
    fix: 'Work in the directory of one project, for example: mkdir -p ~/my-project && cd ~/my-project',
  }),
  directoryNotMade: (directory: string, why: string) => ({
    message: `${toSafeLine(directory)} was not made: ${toSafeLine(why)}.`,
    fix: 'Name a directory that you may write to with --path.',
  }),
  demoNotEmpty: (directory: string) => ({
    message: `The demo did not start: ${toSafeLine(directory)} is not empty.`,
    fix: 'Name an empty or a new directory with --keep.',
  }),
  demoNotMade: (why: string) => ({
    message: `The demo did not start: its workspace could not be made (${toSafeLine(why)}).`,
    fix: 'Name an empty or a new directory with --keep.',
  }),
  skillExists: (file: string) => ({
    message: `No skill was made: ${toSafeLine(file)} exists already.`,
    fix: 'Choose another name, or edit that file.',
  }),
  directoryExists: (directory: string, isEmpty: boolean) => ({
    message: `No skill was made: the directory ${toSafeLine(directory)} exists already.`,
    fix: isEmpty
      ? `Choose another name, or remove the empty directory: rmdir ${shellWord(directory)}`
      : 'Choose another name.',
  }),
} satisfies Messages
