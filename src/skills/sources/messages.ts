import { basename, dirname } from 'node:path'
import {
  aboutArchive,
  aboutSingleFile,
  ARCHIVE,
  shellFix,
  shellWord,
  SKILL_FILE,
  toSafeLine,
  words,
} from '../../kernel/index.ts'

/** The words of every finding about a source or a SKILL.md, by its code; paths come from outside and are quoted. */
export const MESSAGES = {
  'root-missing': () => ({ message: 'The directory does not exist, so no skills are loaded from it.' }),
  'root-required': (near: string | undefined) =>
    words(
      'The directory does not exist.',
      `Create it, or correct the path in the configuration.${near === undefined ? '' : ` Did you mean ${shellWord(near)}?`}`,
    ),
  'root-not-directory': (path: string) =>
    words(
      'The path is a file, not a directory of skills.',
      basename(path) === SKILL_FILE
        ? `Name its directory instead: ${shellWord(dirname(path))}`
        : `A skill is a directory with a ${SKILL_FILE}. Move the file away, make a directory of that name, and put the skill at ${path}/my-skill/${SKILL_FILE}`,
    ),
  'root-unreadable': (reason: string, path: string, isLoop: boolean) =>
    words(
      `Nexus cannot read the directory: ${reason}.`,
      isLoop ? 'Remove the link.' : shellFix('Make it readable, for example:', 'chmod', 'a+rx', path),
    ),
  'root-outside': (within: string, real: string) =>
    words(
      `The directory is a link that leaves ${JSON.stringify(within)}, to ${JSON.stringify(real)}. Nexus does not search it.`,
      `Have the real directory searched: --skills-dir ${shellWord(real)}, or skills.load.extraDirs in your own nexus.yaml`,
    ),
  'root-vanished': () => words('The directory disappeared during the search.', 'List again when it is back.'),
  'root-is-skill': (root: string, hidden: string) =>
    words(
      `The directory has a ${SKILL_FILE} of its own, so Nexus does not search ${JSON.stringify(hidden)} and other skills below it.`,
      shellFix(
        'Give that file a directory of its own: make the directory my-skill beside it, then type:',
        ...(['mv', `${root}/${SKILL_FILE}`, `${root}/my-skill/`] as const),
      ),
    ),
  'directory-unreadable': (reason: string, path: string) =>
    words(
      `Nexus cannot read the directory: ${reason}.`,
      shellFix('Make it readable for the user that runs Nexus, for example:', 'chmod', 'a+rx', path),
    ),
  'directory-vanished': () => ({ message: 'The directory disappeared during the search.' }),
  'name-encoding': () => words('The name of the directory is not UTF-8, so Nexus does not search it.', 'Rename it.'),
  'link-outside': {
    directory: (real: string, hasSkill: boolean) => {
      const search = `--skills-dir ${shellWord(dirname(real))}, or skills.load.extraDirs in your own nexus.yaml`
      return words(
        `The link leads out of the directory of its source, to ${JSON.stringify(real)}. Nexus does not follow it.`,
        `Put the directory itself in its place, or ${hasSkill ? `have its own directory searched: ${search}` : 'remove the link.'}`,
      )
    },
    // The author of the link chose its target, so no command copies that.
    file: (path: string, target: string) =>
      words(
        `${SKILL_FILE} is a link that leaves the directory of its source${target}. Nexus does not read it.`,
        removeLink(path),
      ),
  },
  'link-not-markdown': (path: string, target: string) =>
    words(
      `${SKILL_FILE} is a link${target}. That is not a file with the ending .md in its source, so Nexus does not read it.`,
      removeLink(path),
    ),
  'link-broken': {
    directory: (target: string, reason: string) =>
      words(
        `Nexus cannot follow the link${target}: ${reason}.`,
        'Put the directory itself in its place, or remove the link.',
      ),
    file: (path: string, target: string, reason: string) =>
      words(
        `${SKILL_FILE} is a link that Nexus cannot follow${target}: ${reason}.`,
        shellFix(`Remove the link, then write ${SKILL_FILE} in its place:`, 'rm', path),
      ),
  },
  'link-followed': (path: string, real: string) =>
    words(
      `${SKILL_FILE} is a link to ${JSON.stringify(real)}: Nexus reads that file, and a change of it changes this skill.`,
      shellFix('Replace the link with the file itself:', 'cp', '--remove-destination', real, path),
    ),
  'depth-limit': (maxDepth: number, directory: string) =>
    words(
      `Nexus does not search directories more than ${maxDepth} levels below the root.`,
      `Move the skills up, or name ${shellWord(directory)} in skills.load.extraDirs.`,
    ),
  'directory-limit': (most: number) =>
    words(`Nexus did not search the rest: there are more than ${most} directories.`, NAME_DIRECTORIES),
  'skill-limit': (most: number) =>
    words(
      `Nexus did not search the rest: there are more than ${most} skills.`,
      'Split the directory into several sources.',
    ),
  'skill-file-name': (directory: string, name: string) =>
    words(
      `The file is named ${name}. Nexus reads only ${SKILL_FILE}.`,
      shellFix(`Rename it to ${SKILL_FILE}:`, 'mv', `${directory}/${name}`, `${directory}/${SKILL_FILE}`),
    ),
  'skill-single-file': (file: string) => aboutSingleFile(file, file.replace(/\.\w+$/, '')),
  'skill-archive': (file: string) => aboutArchive(file, file.replace(ARCHIVE, '')),
  'skill-file-kind': (kind: string) =>
    words(`${SKILL_FILE} is ${kind}, not a regular file.`, 'Replace it with a text file.'),
  'skill-file-unreadable': {
    closed: (path: string, reason: string) =>
      words(
        `Nexus cannot open ${SKILL_FILE}: ${reason}.`,
        shellFix('Make the file readable for the user that runs Nexus, for example:', 'chmod', 'a+r', path),
      ),
    failed: (reason: string) => ({ message: `Nexus cannot read ${SKILL_FILE}: ${reason}.` }),
  },
  'file-too-large': (size: number, most: number) =>
    words(`${SKILL_FILE} has ${size} bytes, the limit is ${most}.`, 'Move long material into files under references/.'),
  /** `used` is given from the directory of the other copy. */
  'duplicate-name': (facts: { source: string; name: string; used: string }) =>
    words(
      `Source '${facts.source}' has '${toSafeLine(facts.name)}' twice: Nexus uses ${toSafeLine(facts.used)}, not this copy.`,
      `Give one of the two another name: in its ${SKILL_FILE}, or remove one.`,
    ),
  'name-differs': {
    root: () => 'Nothing to fix: the directory is one that Nexus searches, and the name is used.',
    linked: (label: string) =>
      `Nothing to fix: the name is used. For another name put a file with name: ${label} in place of the link.`,
  },
  'watch-polling': (reason: string, fix: string) =>
    words(`The system gives no events for this directory, so Nexus polls it: ${reason}.`, fix),
  'watch-limit': (most: number) =>
    words(`Nexus does not notice changes in the rest: there are more than ${most} directories.`, NAME_DIRECTORIES),
  'source-failed': (id: string, reason: string) =>
    words(`The source ${JSON.stringify(id)} failed: ${reason}`, 'Fix the cause. The other sources are loaded.'),
  notListed: (count: number) => ({ message: `${count} more findings of this kind are not listed.` }),
} as const

function removeLink(path: string): ReturnType<typeof shellFix> {
  return shellFix(
    'Inspect the file that it refers to. To use it, first copy it beside the link. Then remove the link, and rename the copy to the name of the link:',
    'rm',
    path,
  )
}

const NAME_DIRECTORIES = 'Name the directories that contain skills in skills.load.extraDirs.'

/** Why there are no events, and what gives some, by the error of the system. */
export const OUT_OF_WATCHES: Readonly<Record<string, readonly [reason: string, fix: string]>> = {
  ENOSPC: [
    'the system has no more watches for this user (ENOSPC)',
    'Raise fs.inotify.max_user_watches, or close programs that watch many directories.',
  ],
  EMFILE: [
    'too many open files or watchers (EMFILE)',
    'Raise fs.inotify.max_user_instances or the limit of open files (ulimit -n).',
  ],
  ENFILE: ['too many open files on this system (ENFILE)', 'Close programs that open many files.'],
}

export const REMOTE_FILES = [
  'it is on a file system that others can change without an event',
  'Nothing to fix. Nexus notices changes in a local directory sooner.',
] as const
