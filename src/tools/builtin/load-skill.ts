import {
  type JsonObject,
  type Outcome,
  type Services,
  succeeded,
  type Tool,
  toSafeJson,
  toSafeLine,
  type ToolContext,
} from '../../kernel/index.ts'
import type { LoadedFile, LoadedSkill, LoadOptions } from '../../skills/load/index.ts'
import { headOf, type OutcomeLimits, shorten, toTruncation } from '../bound.ts'
import { defineTool } from '../define.ts'
import { LOADER } from '../services.ts'
import { hiddenNote } from '../messages.ts'
import { commandsHint } from './skill-commands.ts'

/** `load_skill{skill_name*, called_by?}`: the instructions of a skill and the list of its files. Source: seed 002; contracts §3.2. */
export function createLoadSkillTool(services: Services): Tool {
  return defineTool({
    name: 'load_skill',
    description:
      'Load the full instructions of a skill by its name, with the list of its files. Do this before you work on a task that matches the description of a skill.',
    parameters: {
      type: 'object',
      properties: { skill_name: { type: 'string', description: 'Name of the skill, as listed' }, called_by: CALLED_BY },
      required: ['skill_name'],
    },
    options: { skillArgument: 'skill_name' },
    execute: async (args, context) => {
      const loader = services.require(LOADER)
      const loaded = await loader.load(String(args.skill_name).trim(), callingOptions(args, context))
      return toLoaded(loaded, commandsHint(services, loaded))
    },
  })
}

/** Leaves room for the lists of files within the limits of an outcome. */
const BODY_LIMITS: OutcomeLimits = { maxLines: 1700, maxBytes: 40_000 }
const MAX_FILES = 100

function toLoaded(loaded: LoadedSkill, hint: string): Outcome {
  const { skill, callName, baseDir, content, treeDigest, files, leftOut, stack } = loaded
  const name = toSafeLine(skill.name)
  const head = headOf(content.trim(), BODY_LIMITS)
  const shown = files.slice(0, MAX_FILES)
  const sections = SECTIONS.map(([title, folder]) => section(title, filesIn(shown, folder)))
  const text = [
    `# Skill: ${name}`,
    `Base directory for this skill: ${baseDir}`,
    '',
    head.text,
    ...(head.isCut
      ? [
          `\n[The instructions are cut after line ${head.lines} of ${head.originalLines}. Read on with read_skill_file: skill_name "${callName}", file_path "SKILL.md", offset ${head.lines + 1}.]`,
        ]
      : []),
    ...sections.filter((lines) => lines !== ''),
    ...(files.length > MAX_FILES ? [`\n… and ${files.length - MAX_FILES} more files.`] : []),
    ...(leftOut.length > 0 ? [`\nNot available, as they are no regular files: ${leftOutList(leftOut)}.`] : []),
    ...(files.length > 0
      ? [`\nUse read_skill_file with skill_name "${callName}" and one of these paths as file_path to read a file.`]
      : []),
    ...hiddenNote(content),
    ...(hint === '' ? [] : [hint]),
  ].join('\n')
  const data: JsonObject = {
    name: skill.name,
    base_dir: baseDir,
    files: shown.map(({ path }) => path),
    ...stackData(stack),
  }
  const more = { path: skill.file, stats: { files: files.length, tree_digest: treeDigest } }
  if (!head.isCut) return succeeded(text, data, more)
  return {
    type: 'partial',
    text,
    data: { ...data, truncated: true, truncation: toTruncation(head, BODY_LIMITS) },
    ...more,
  }
}

const MAX_LEFT_OUT = 10

function leftOutList(leftOut: LoadedSkill['leftOut']): string {
  const shown = leftOut.slice(0, MAX_LEFT_OUT).map(({ path, kind }) => `${shownPath(path)} (${kind})`)
  return `${shown.join(', ')}${leftOut.length > shown.length ? ` and ${leftOut.length - shown.length} more` : ''}`
}

const SECTIONS = [
  ['Available References', 'references'],
  ['Available Scripts', 'scripts'],
  ['Available Assets', 'assets'],
  ['Other Files', undefined],
] as const

function filesIn(files: readonly LoadedFile[], folder: string | undefined): readonly LoadedFile[] {
  if (folder !== undefined) return files.filter(({ path }) => path.startsWith(`${folder}/`))
  return files.filter(({ path }) => !SECTIONS.some(([, known]) => known !== undefined && path.startsWith(`${known}/`)))
}

/** Plain when it cannot be misread, else JSON: the name of a file must not read as a part of the list. */
function shownPath(path: string): string {
  const shown = shorten(path, MAX_PATH_CHARS)
  return /^[\p{L}\p{M}\p{N}._+@/-]+(?: [\p{L}\p{M}\p{N}._+@/-]+)*$/u.test(shown) ? shown : toSafeJson(shown)
}

const MAX_PATH_CHARS = 300

function section(title: string, files: readonly LoadedFile[]): string {
  return files.length > 0
    ? `\n## ${title}\n${files.map(({ path, size }) => `- ${shownPath(path)} (${size} bytes)`).join('\n')}`
    : ''
}

/** The argument with which a model says that a skill it works with asks for another one. */
export const CALLED_BY = {
  type: 'string',
  description: 'Only when the instructions of a loaded skill ask for this one: the name of that skill',
} as const

/** Options that say to a loader who asks, and in which turn. */
export function callingOptions(args: JsonObject, context: ToolContext): LoadOptions {
  const { agentId, sessionId, turnId, signal, agreedRevision } = context
  const calledBy = typeof args.called_by === 'string' ? args.called_by : ''
  return {
    signal,
    turn: { agentId, sessionId, turnId },
    calledBy: calledBy.trim() === '' ? undefined : calledBy,
    revision: agreedRevision,
  }
}

/** For the outcome, and so for the ledger: the names from the first skill to this one, when one asked for it. */
export function stackData(stack: readonly string[]): JsonObject {
  return stack.length > 1 ? { stack: [...stack] } : {}
}
