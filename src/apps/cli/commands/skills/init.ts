import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { loadConfig } from '../../../../config/index.ts'
import { makeDirectory, type NexusError, SKILL_FILE, toSafeLine } from '../../../../kernel/index.ts'
import { packageRoot } from '../../../../local/index.ts'
import { type Answer, argument, type Invocation, stringFlag } from '../../command.ts'
import { errorOf, MESSAGES, NOTES } from '../../messages/index.ts'

/** What our own tools accept: ASCII, so that the name works in every client, URL and file system. Source: decisions, "names". */
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
      terminal.line(NOTES.made(terminal.shortPath(file)))
      terminal.note(NOTES.fillIn(described !== undefined, terminal.commandLine(['skills', 'validate', typed || '.'])))
    },
  }
}

function checkName(name: string): string {
  if (NAME.test(name) && name.length <= MAX_NAME_CHARS && !RESERVED.test(name)) return name
  const about = { max: MAX_NAME_CHARS, isDevice: RESERVED.test(name), suggested: suggest(name) }
  throw errorOf('INVALID_ARGUMENT', MESSAGES.skillNameInvalid(name, about))
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
    makeDirectory(dirname(directory), { mkdirSync, statSync })
    mkdirSync(directory)
    writeFileSync(file, text, { flag: 'wx' })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST' && isThere(directory))
      throw existsAlready(directory, file, cause)
    throw errorOf('INVALID_ARGUMENT', MESSAGES.directoryNotMade(directory, (cause as Error).message), cause)
  }
}

/** Source: reference/security, case 175. A directory that exists is never written to, even an empty one. */
function existsAlready(directory: string, file: string, cause: unknown): NexusError {
  const message = existsSync(file)
    ? MESSAGES.skillExists(file)
    : MESSAGES.directoryExists(directory, isEmpty(directory))
  return errorOf('CONFLICT', message, cause)
}

/** False when the path that exists is one further up. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    // Below a file.
    return false
  }
}

function isEmpty(directory: string): boolean {
  try {
    return lstatSync(directory).isDirectory() && readdirSync(directory).length === 0
  } catch {
    // Closed to us, or gone again: nothing is proposed for it.
    return false
  }
}
