import { LEFT_OUT_FIX } from '../../../skills/diagnose/index.ts'
import { aboutSingleFile, commandFix, toSafeLine } from '../../../kernel/index.ts'
import type { Message, Messages } from './message.ts'

type Fix = Omit<Message, 'message'>

const NAME_A_SKILL = 'Name a SKILL.md, the folder of a skill, or a folder of skills.'

/** Errors of skills. Some fixes carry options of the command line, so the caller makes them. */
export const SKILL_MESSAGES = {
  skillMissing: (name: string, ready: readonly string[], fix: Fix) => ({
    message: `There is no skill '${toSafeLine(name)}'. Ready skills: ${ready.length === 0 ? 'none' : ready.join(', ')}.`,
    ...fix,
  }),
  skillElsewhere: (name: string, where: string, fix: Fix) => ({
    message: `There is no skill '${toSafeLine(name)}'. ${where}`,
    ...fix,
  }),
  skillInvalid: (name: string, why: { file: string; line?: number | undefined; message: string }, fix: Fix) => ({
    message: `The skill '${toSafeLine(name)}' is invalid (${toSafeLine(why.file)}${why.line === undefined ? '' : `:${why.line}`}): ${why.message}`,
    ...fix,
  }),
  skillHeld: (name: string, reasons: string, fix: Fix) => ({
    message: `The skill '${toSafeLine(name)}' is held: ${reasons}.`,
    ...fix,
  }),
  skillNotActive: (address: string, reasons: string, fix: Fix) => ({
    message: `'${toSafeLine(address)}' is not the active copy of its name: ${reasons}.`,
    ...fix,
  }),
  skillsInvalid: (names: readonly string[], file: string) => ({
    message:
      names.length === 1
        ? `The skill '${toSafeLine(names[0] ?? '')}' is invalid: its SKILL.md cannot be read.`
        : `${names.length} skills are invalid: their SKILL.md cannot be read.`,
    ...commandFix('See every fault with its line:', 'skills', 'validate', file),
  }),
  skillsUnloadable: (addresses: readonly string[], fix: Fix) => ({
    message:
      addresses.length === 1
        ? `The skill '${toSafeLine(addresses[0] ?? '')}' cannot be loaded.`
        : `${addresses.length} skills cannot be loaded.`,
    ...fix,
  }),
  sourcesUnsearched: () => ({
    message: 'Some folders could not be searched for skills.',
    fix: 'Fix the first problem of the diagnostics.',
  }),
  skillNameInvalid: (
    name: string,
    { max, isDevice, suggested }: { max: number; isDevice: boolean; suggested: string },
  ) => ({
    message: isDevice
      ? `No skill was made: Windows reserves the name '${toSafeLine(name)}' for a device.`
      : `No skill was made: '${toSafeLine(name).slice(0, 100)}' is not a valid name. Use lower-case letters, digits and single hyphens, at most ${max} characters.`,
    ...commandFix('For example:', 'skills', 'init', suggested),
  }),
  runNeedsCommand: () => ({
    message: 'Nothing was run: nexus skills run needs the name of a skill and, after --, a command.',
    ...commandFix(
      'For example:',
      'skills',
      'run',
      'csv-report',
      '--',
      'node',
      '{baseDir}/scripts/report.mjs',
      'data.csv',
    ),
  }),
  timeoutInvalid: (given: string, max: number) => ({
    message: `--timeout ${toSafeLine(given)} is not a number of seconds from 1 to ${max}.`,
    fix: `Write, for example, --timeout ${Math.min(60, max)}. To allow more, set execution.timeoutMs in nexus.yaml.`,
  }),
  notUtf8: () => ({
    message: 'the file was not changed: it is a link, or its text is not UTF-8',
    fix: 'Save it as a file in UTF-8.',
  }),
  notWritten: (why: string) => ({
    message: `the file was not written: ${why}`,
    fix: 'Check the rights of its directory, then run the command again.',
  }),
  linkNotWritten: (target: string) => ({
    message: 'the file was not written, because it is a link',
    fix: `Name the file that it refers to: ${target}`,
  }),
  pathMissing: (path: string, near: string | undefined) => ({
    message: `${path} does not exist`,
    ...(near === undefined ? { fix: NAME_A_SKILL } : commandFix('Did you mean:', 'skills', 'validate', near)),
  }),
  pathNotAFile: (path: string) => ({
    message: `${path} is neither a directory nor a regular file`,
    fix: NAME_A_SKILL,
  }),
  /** `path` may be typed in the working directory. */
  fileMisnamed: (file: string, path: string) =>
    /^skills?[.-]/i.test(file)
      ? { message: `The file is named ${file}. Nexus reads only SKILL.md.`, fix: 'Rename it to SKILL.md.' }
      : aboutSingleFile(path, path.replace(/\.\w+$/, '')),
  leftOut: (path: string, kind: string) => ({
    message: `${JSON.stringify(path)} is ${kind}, not part of the skill: neither the model nor commands get it.`,
    fix: LEFT_OUT_FIX,
  }),
  fileHidden: (path: string, characters: string) => ({
    message: `${JSON.stringify(path)} contains characters that a person does not see: ${characters}. A model that reads the file gets them.`,
    fix: 'Remove the characters, or write their text.',
  }),
  cannotLoad: (message: string, directory: string) => ({ message, ...commandFix('Run:', 'skills', 'why', directory) }),
  noSkillBelow: (path: string) => ({
    message: `${path} contains no SKILL.md, nor does any folder below it`,
    ...commandFix('Name a folder with a SKILL.md in it, or make one:', 'skills', 'init', 'my-skill'),
  }),
  migrateOther: (client: string, directory: string, paths: readonly string[]) => ({
    message: `Nothing was changed: ${toSafeLine(directory)} is a folder of ${client}. ${client} reads these files too, and may not understand what Nexus writes.`,
    ...commandFix(
      'See what would change with --dry-run, then rewrite them with --yes:',
      'skills',
      'migrate',
      ...paths,
      '--dry-run',
    ),
  }),
} satisfies Messages
