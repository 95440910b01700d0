import { errorOf } from '../../failure.ts'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { loadConfig } from '../../../../config/index.ts'
import {
  isNexusError,
  makeDirectory,
  type NexusError,
  SKILL_FILE,
  toSafeLine,
  commandFix,
  shellWord,
} from '../../../../kernel/index.ts'
import { packageRoot } from '../../../../local/index.ts'
import { type Answer, argument, type Invocation, stringFlag } from '../../command.ts'

/** ASCII, so that the name works in every client, URL and file system. Source: decisions, "names". */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const MAX_NAME_CHARS = 64
/** Names that Windows keeps for devices. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/

/** `nexus skills init <name> [--path ./skills]`: a new skill from our template; never touches what is there. */
export async function initSkill(invocation: Invocation): Promise<Answer> {
  const { terminal, cwd } = invocation
  const name = checkName(argument(invocation, 'a name', ['my-skill']))
  const path = stringFlag(invocation, 'path')
  // Where `nexus skills list` finds it, also from a directory below the workspace.
  const parent = path === undefined ? join((await loadConfig(invocation)).workspace.directory, 'skills') : path
  const directory = resolve(cwd, parent, name)
  const file = join(directory, SKILL_FILE)
  const described = stringFlag(invocation, 'description')
  create(directory, file, fill(name, described))
  const inside = relative(cwd, directory)
  const typed = inside.startsWith('..') ? directory : inside
  return {
    data: { name, directory, file },
    show: () => {
      terminal.line(`Made ${terminal.shortPath(file)}`)
      terminal.note(
        `Next: write ${described !== undefined ? '' : 'its description and '}its instructions, then check it: ${terminal.commandLine(['skills', 'validate', typed || '.'])}`,
      )
    },
  }
}

function checkName(name: string): string {
  if (NAME.test(name) && name.length <= MAX_NAME_CHARS && !RESERVED.test(name)) return name
  const why = RESERVED.test(name)
    ? `Windows reserves the name '${toSafeLine(name)}' for a device.`
    : `'${toSafeLine(name).slice(0, 100)}' is not a valid name. Use lower-case letters, digits and single hyphens, at most ${MAX_NAME_CHARS} characters.`
  throw errorOf(
    'INVALID_ARGUMENT',
    `No skill was made: ${why}`,
    commandFix('For example:', 'skills', 'init', suggest(name)),
  )
}

function suggest(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_NAME_CHARS)
    .replace(/-+$/, '')
  return plain === '' || RESERVED.test(plain) ? 'my-skill' : plain
}

/** A comment of YAML: `validate`, `check` and `why` report the missing description until it is replaced. */
const PLACEHOLDER = '# What it does in one sentence. Use when the user asks for this or that.'

/** The template that ships with the skill `skill-author`, with the name and the description filled in. */
function fill(name: string, description: string | undefined): string {
  const template = readFileSync(join(packageRoot(), 'skills', 'skill-author', 'assets', 'template.md'), 'utf8')
  const title = `${name[0]?.toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`
  const named = template.replace('name: my-skill', () => `name: ${name}`).replace('# My skill', () => `# ${title}`)
  // Without a description the skill is held, so that it is not forgotten.
  const line = description === undefined ? PLACEHOLDER : JSON.stringify(toSafeLine(description))
  return named.replace(/^description: .*$/m, () => `description: ${line}`)
}

function create(directory: string, file: string, text: string): void {
  try {
    if (lstatSync(directory, { throwIfNoEntry: false })) throw existsAlready(directory, file)
    makeDirectory(dirname(directory), { mkdirSync, statSync })
    mkdirSync(directory)
    writeFileSync(file, text, { flag: 'wx' })
  } catch (cause) {
    if (isNexusError(cause)) throw cause
    throw errorOf(
      'INVALID_ARGUMENT',
      `${toSafeLine(directory)} was not made: ${toSafeLine((cause as Error).message)}.`,
      'Name a directory that you may write to with --path.',
      cause,
    )
  }
}

/** Source: reference/security, case 175. A directory that exists is never written to, even an empty one. */
function existsAlready(directory: string, file: string): NexusError {
  const exists = (what: string, fix: string): NexusError =>
    errorOf('CONFLICT', `No skill was made: ${what} exists already.`, fix)
  if (existsSync(file)) return exists(toSafeLine(file), 'Choose another name, or edit that file.')
  const isEmpty = lstatSync(directory).isDirectory() && readdirSync(directory).length === 0
  const remove = isEmpty ? `, or remove the empty directory: rmdir ${shellWord(directory)}` : '.'
  return exists(`the directory ${toSafeLine(directory)}`, `Choose another name${remove}`)
}
