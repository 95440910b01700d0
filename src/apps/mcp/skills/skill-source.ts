/** The skills of the agent for the skills extension (SEP-2640): lists, entries, files and directories. */
import { ProtocolError, ProtocolErrorCode, type Resource, type ServerContext } from '@modelcontextprotocol/server'
import { DIRECTORY_MIME_TYPE, type Skill as Entry, type SkillSource } from '@modelcontextprotocol/server/ext/skills'
import { shownText } from '../../../skills/catalog/index.ts'
import { compareUtf8, type ManifestEntry, type Skill, SKILL_FILE, toSafeLine } from '../../../kernel/index.ts'
import { listFiles } from '../../../machine/skill-files/index.ts'
import { textType } from '../../../skills/load/index.ts'
import type { CallRequest } from '../../../runtime/index.ts'
import type { Opened } from '../calls.ts'
import { LOG, toText } from '../messages.ts'
import { entryOf, fileUri, isShown, problemsOf, readServed, rootUri, type ServedFile } from './served.ts'

const PAGE_SIZE = 100

export function createSkillSource(opened: () => Promise<Opened>, log: (line: string) => void): SkillSource {
  const reported = new Set<string>()

  /** A skill that the extension does not allow is reported once, and stays in `load_skill`. */
  function report(uri: string, problems: readonly string[]): void {
    const line = LOG.notServed(uri, problems)
    if (!reported.has(line)) log(line)
    reported.add(line)
  }

  async function served(skill: Skill, root: string, { mcpReq }: ServerContext): Promise<Entry | undefined> {
    try {
      return await entryOf(skill, root, mcpReq.signal)
    } catch (error) {
      report(`${root}/${SKILL_FILE}`, problemsOf(error))
      return undefined
    }
  }

  return {
    async list({ cursor }, context) {
      const skills = offered(await opened())
      const after = cursor === undefined ? undefined : fromCursor(cursor)
      const rest = after === undefined ? skills : skills.filter(({ root }) => compareUtf8(root, after) > 0)
      const page = rest.slice(0, PAGE_SIZE)
      const entries: Entry[] = []
      for (const { skill, root } of page) {
        const entry = await served(skill, root, context)
        if (entry) entries.push(entry)
      }
      const last = rest.length > PAGE_SIZE ? page.at(-1) : undefined
      return { skills: entries, nextCursor: last && toCursor(last.root) }
    },
    async get(uri, context) {
      const found = offered(await opened()).find(({ root }) => uri === `${root}/${SKILL_FILE}`)
      return found && served(found.skill, found.root, context)
    },
    async read(uri, context) {
      const ready = await opened()
      const found = fileAt(ready, uri)
      return found && readAllowed(ready, found, context)
    },
    async readDirectory(uri, _page, { mcpReq }) {
      const found = fileAt(await opened(), uri)
      if (!found) return undefined
      const { files } = await listFiles(found.skill, { signal: mcpReq.signal })
      const shown = files.filter(({ path }) => isShown(path))
      const resources = childrenOf(found, shown)
      return resources.length > 0 ? { resources } : undefined
    },
    listResources: async () =>
      offered(await opened()).map(({ skill, root }) => ({
        uri: `${root}/${SKILL_FILE}`,
        name: toSafeLine(skill.name),
        description: shownText(skill.description),
        mimeType: 'text/markdown',
      })),
  }
}

interface OfferedSkill {
  readonly skill: Skill
  readonly root: string
}

/** The skills that the agent may load, in the order of their URIs. */
export function offered({ agent }: Pick<Opened, 'agent'>): readonly OfferedSkill[] {
  if (!agent.definitions().some(({ name }) => name === 'load_skill' || name === 'Skill')) return []
  const catalog = agent.catalog()
  return catalog.skills
    .map((skill) => ({ skill, root: rootUri(catalog, skill) }))
    .sort((a, b) => compareUtf8(a.root, b.root))
}

interface FoundFile extends OfferedSkill {
  readonly path: string
}

/** Which file of which skill a URI means; the path is empty for the directory of the skill. */
function fileAt(ready: Opened, uri: string): FoundFile | undefined {
  const found = offered(ready).find(({ root }) => uri === root || uri.startsWith(`${root}/`))
  if (!found) return undefined
  try {
    const parts = uri
      .slice(found.root.length + 1)
      .split('/')
      .map(decodeURIComponent)
    const path = parts.join('/')
    // A slash that was encoded would be another file, and each file has one URI.
    return (path === '' || fileUri(found.root, path) === uri) && isShown(path) ? { ...found, path } : undefined
  } catch {
    return undefined
  }
}

/** Reading is a call of the agent like loading: decided, recorded, and refused in words. The bytes are those of the entry, unexpanded. */
async function readAllowed(
  { agent }: Opened,
  { skill, path }: FoundFile,
  { mcpReq: { signal } }: ServerContext,
): Promise<ServedFile | undefined> {
  const name = agent.catalog().callName(skill)
  const request: CallRequest =
    path === SKILL_FILE
      ? { tool: 'load_skill', arguments: { skill_name: name } }
      : { tool: 'read_skill_file', arguments: { skill_name: name, file_path: path } }
  const { decision } = await agent.call({ ...request, origin: 'mcp' }, { signal })
  if (decision.type !== 'allow')
    throw invalid(`The skill was not read: ${decision.type === 'deny' ? decision.reason : ''}`)
  try {
    return await readServed(skill, path, signal)
  } catch (error) {
    signal.throwIfAborted()
    throw invalid(toText(error))
  }
}

/** The files and directories directly below a directory, in the order of their URIs. */
function childrenOf(
  { root, path: directory }: FoundFile,
  files: readonly Pick<ManifestEntry, 'path' | 'size'>[],
): Resource[] {
  const prefix = directory === '' ? '' : `${directory}/`
  const children = new Map<string, Resource>()
  for (const { path, size } of files.filter((file) => file.path.startsWith(prefix))) {
    const [name = '', ...below] = path.slice(prefix.length).split('/')
    const uri = fileUri(root, `${prefix}${name}`)
    const isFile = below.length === 0
    children.set(
      uri,
      isFile ? { uri, name, mimeType: textType(path), size } : { uri, name, mimeType: DIRECTORY_MIME_TYPE },
    )
  }
  return [...children.values()].sort((a, b) => compareUtf8(a.uri, b.uri))
}

function toCursor(root: string): string {
  return Buffer.from(root).toString('base64url')
}

function fromCursor(cursor: string): string {
  const root = Buffer.from(cursor, 'base64url').toString()
  if (toCursor(root) === cursor && root.startsWith('skill://')) return root
  throw invalid('The cursor is not one that this server gave.')
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}
