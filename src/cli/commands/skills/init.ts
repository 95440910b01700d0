import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { makeDirectory, NexusError, shellWord, toSafeLine } from '../../../kernel/index.ts'
import { packageRoot } from '../../../local/index.ts'
import { type Invocation, stringFlag } from '../../command.ts'
import { envelope } from '../../envelope.ts'

/** What our own tools accept: ASCII, so that the name works in every client, URL and file system. Source: decisions, "names". */
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const MAX_NAME_CHARS = 64
/** Names that Windows keeps for devices. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/

/** `nexus skills init <name> [--path ./skills]`: a new skill from our template; never touches what is there. */
export async function initSkill(invocation: Invocation): Promise<number> {
  const { terminal, cwd } = invocation
  const name = checkName(invocation.positionals[0])
  const directory = resolve(cwd, stringFlag(invocation, 'path') ?? 'skills', name)
  const file = join(directory, 'SKILL.md')
  create(directory, file, fill(name, stringFlag(invocation, 'description')))
  if (invocation.flags['json'] === true) {
    terminal.json(envelope('skills init', { name, directory, file }))
    return 0
  }
  const shown = relative(cwd, file)
  terminal.line(`Made ${shown.startsWith('..') ? file : shown}`)
  terminal.note(
    `Next: fill it in, then  nexus skills validate ${relative(cwd, directory) || '.'}  and  nexus skills check ${name}`,
  )
  return 0
}

function checkName(name: string | undefined): string {
  if (name === undefined) {
    throw new NexusError('INVALID_ARGUMENT', 'nexus skills init: the name is missing.', {
      fix: 'nexus skills init my-skill',
    })
  }
  if (NAME.test(name) && name.length <= MAX_NAME_CHARS && !RESERVED.test(name)) return name
  const problem = RESERVED.test(name)
    ? 'is a device name on Windows'
    : `is no skill name: lower-case letters, digits and single hyphens, at most ${MAX_NAME_CHARS}`
  throw new NexusError('INVALID_ARGUMENT', `'${toSafeLine(name).slice(0, 100)}' ${problem}.`, {
    fix: `nexus skills init ${suggest(name)}`,
  })
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

/** The template that ships with the skill `skill-author`, with the name and the description filled in. */
function fill(name: string, description: string | undefined): string {
  const template = readFileSync(join(packageRoot(), 'skills', 'skill-author', 'assets', 'template.md'), 'utf8')
  const title = `${name[0]?.toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`
  const named = template.replace('name: my-skill', () => `name: ${name}`).replace('# My skill', () => `# ${title}`)
  return description === undefined
    ? named
    : named.replace(/^description: .*$/m, () => `description: ${JSON.stringify(toSafeLine(description))}`)
}

function create(directory: string, file: string, text: string): void {
  try {
    makeDirectory(dirname(directory), { mkdirSync, statSync })
    mkdirSync(directory)
    writeFileSync(file, text, { flag: 'wx' })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST' && isThere(directory))
      throw existsAlready(directory, file, cause)
    throw new NexusError('INVALID_ARGUMENT', `${directory} cannot be made: ${(cause as Error).message}`, {
      fix: 'Name a directory you may write to with --path.',
      cause,
    })
  }
}

/** Source: reference/security, case 175. A directory that is there belongs to somebody, even an empty one. */
function existsAlready(directory: string, file: string, cause: unknown): NexusError {
  const another = 'Choose another name'
  if (existsSync(file))
    return new NexusError('CONFLICT', `${file} exists already.`, { fix: `${another}, or edit that file.`, cause })
  const fix = isEmpty(directory)
    ? `${another}, or remove the empty directory: rmdir ${shellWord(directory)}`
    : `${another}.`
  return new NexusError('CONFLICT', `${directory} exists already.`, { fix, cause })
}

/** False when the place that is taken is one further up. */
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
